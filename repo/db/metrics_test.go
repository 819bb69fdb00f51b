package db_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"

	"kith/repo"
	"kith/repo/db"
)

// Each call is counted once, by its kind, whatever way it takes to the server.
func TestMetrics(t *testing.T) {
	for name, long := range map[string]bool{"text": false, "prepared": true} {
		t.Run(name, func(t *testing.T) {
			reg := prometheus.NewRegistry()
			pool, id := open(t, db.Config{Metrics: db.NewMetrics(reg), MaxOpen: 1}), rowsOf(t, 1)[0]
			not := ""
			if long {
				not = lengthy
			}
			before := calls(t, reg)
			var ver uint64
			if err := pool.Get(&ver, `SELECT ver FROM relation WHERE bucket = ? AND account_id = ? AND list <> ?`, repo.Bucket(id), id, not); err != nil || ver != 1 {
				t.Fatalf("got %d, %v", ver, err)
			}
			err := db.WithTx(t.Context(), pool, func(tx *sqlx.Tx) error {
				if err := tx.Get(&ver, `SELECT ver FROM relation WHERE bucket = ? AND account_id = ? AND list <> ? FOR UPDATE`, repo.Bucket(id), id, not); err != nil {
					return err
				}
				return touch(t.Context(), tx, id)
			})
			if err != nil || verOf(t, id) != 2 {
				t.Fatalf("ver is %d, %v", verOf(t, id), err)
			}
			refusal := errors.New("no")
			if err := db.WithTx(t.Context(), pool, func(*sqlx.Tx) error { return refusal }); !errors.Is(err, refusal) {
				t.Fatal(err)
			}
			got := calls(t, reg)
			for kind := range got {
				got[kind] -= before[kind]
			}
			want := map[string]uint64{"read": 1, "lock": 1, "write": 1, "prepare": 0, "begin": 2, "commit": 1, "rollback": 1}
			if long {
				want["prepare"] = 2
			}
			if !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// A call that fails is counted, and its error is the server's.
func TestMetrics_Failure(t *testing.T) {
	reg := prometheus.NewRegistry()
	pool := open(t, db.Config{Metrics: db.NewMetrics(reg)})
	before := calls(t, reg)
	if _, err := pool.ExecContext(context.Background(), `UPDATE no_such_table SET a = 1`); db.Classify(err) != db.Missing {
		t.Errorf("got %v, want a missing table", err)
	}
	if got := calls(t, reg)["write"] - before["write"]; got != 1 {
		t.Errorf("%d calls counted, want 1", got)
	}
}

// calls returns how many there were of each kind.
func calls(t *testing.T, reg *prometheus.Registry) map[string]uint64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]uint64{}
	for _, m := range families[0].GetMetric() {
		out[m.GetLabel()[0].GetValue()] = m.GetHistogram().GetSampleCount()
	}
	return out
}
