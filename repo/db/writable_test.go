package db_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/mysqld"
)

// A server that was made to follow another takes no writes, whoever asks.
func TestWritable(t *testing.T) {
	server, err := mysqld.Start(within(t, time.Minute), mysqld.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(within(t, time.Minute)); err != nil {
			t.Error(err)
		}
	})
	if err := server.CreateDatabase(t.Context(), "kith"); err != nil {
		t.Fatal(err)
	}
	pool := open(t, db.Config{DSN: server.DSN("kith"), MaxOpen: 1})
	check := func(forbidden string) {
		t.Helper()
		err := db.Writable(within(t, 10*time.Second), pool)
		switch {
		case forbidden == "" && err != nil:
			t.Errorf("got %v, want it to take writes", err)
		case forbidden != "" && (!errors.Is(err, db.ErrReadOnly) || !errors.Is(err, repo.ErrUnavailable) || !strings.Contains(err.Error(), forbidden+"=ON")):
			t.Errorf("got %v, want %s named", err, forbidden)
		}
	}
	check("")
	transaction := "tx_read_only"
	if _, err := pool.Exec("SET GLOBAL tx_read_only = 0"); err != nil {
		transaction = "transaction_read_only" // MySQL 8
	}
	for _, rule := range []string{"read_only", transaction} {
		for _, c := range []struct{ value, forbidden string }{{"1", rule}, {"0", ""}} {
			if _, err := pool.Exec("SET GLOBAL " + rule + " = " + c.value); err != nil {
				t.Fatal(err)
			}
			check(c.forbidden)
		}
	}
	pool.Close()
	if err := db.Writable(t.Context(), pool); err == nil || errors.Is(err, db.ErrReadOnly) {
		t.Errorf("without a connection: got %v, want another error", err)
	}
}
