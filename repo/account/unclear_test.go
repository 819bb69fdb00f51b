package account_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/dbtest"
)

// A commit whose answer is lost is no reason to say that the name is taken.
func TestStore_Create_UnknownOutcome(t *testing.T) {
	pool := dbtest.Fresh(t)
	dbtest.Migrate(t, pool)
	lossy := dbtest.NewLossy(t, dsnOf(t, pool))
	s := account.New(dbtest.Open(t, db.Config{DSN: lossy.DSN}), cache.NewNone())
	direct := account.New(pool, cache.NewNone())
	for name, tt := range map[string]struct {
		give account.Account
		lose string
	}{
		"Commit": {account.Account{ID: 500, Username: "Bob", Locked: true}, "\x03COMMIT"},
		"Name":   {account.Account{Username: "Cleo"}, "INSERT INTO username"},
		"Row":    {account.Account{Username: "Dan"}, "INSERT INTO account"},
		"Alive":  {account.Account{Username: "Eve"}, "FROM account_erased"},
	} {
		t.Run(name, func(t *testing.T) {
			lossy.Lose(tt.lose)
			made, err := s.Create(t.Context(), tt.give)
			if err != nil || !lossy.Lost() {
				t.Fatalf("got %v, answer lost: %v", err, lossy.Lost())
			}
			got, err := direct.ByName(t.Context(), tt.give.Username)
			if err != nil || got != made {
				t.Errorf("got %+v, %v, want %+v", got, err, made)
			}
		})
	}
}

// An id that was made for it is as good as a given one: the second commit is that of
// the account.
func TestStore_Create_UnknownOutcome_MadeID(t *testing.T) {
	pool := dbtest.Fresh(t)
	dbtest.Migrate(t, pool)
	lossy := dbtest.NewLossy(t, dsnOf(t, pool))
	lossy.Skip = 1
	lossy.Lose("\x03COMMIT")
	s := account.New(dbtest.Open(t, db.Config{DSN: lossy.DSN}), cache.NewNone())
	made, err := s.Create(t.Context(), account.Account{Username: "Ann", DisplayName: "Ann"})
	if err != nil || !lossy.Lost() {
		t.Fatalf("got %v, answer lost: %v", err, lossy.Lost())
	}
	if got, err := account.New(pool, cache.NewNone()).ByName(t.Context(), "ann"); err != nil || got != made {
		t.Errorf("got %+v, %v, want %+v", got, err, made)
	}
}

// dsnOf leads to the database of a pool of dbtest.
func dsnOf(t *testing.T, pool *sqlx.DB) string {
	t.Helper()
	var database string
	if err := pool.Get(&database, `SELECT DATABASE()`); err != nil {
		t.Fatal(err)
	}
	dsn, err := db.WithDatabase(dbtest.DSN(t), database)
	if err != nil {
		t.Fatal(err)
	}
	return dsn
}

// The product that does not know whether its call went through makes it again.
func TestStore_Create_Again(t *testing.T) {
	s := alone(t)
	give := account.Account{ID: 7, Username: "Ann", DisplayName: "Ann", CreatedAt: 5}
	first, err := s.Create(t.Context(), give)
	if err != nil {
		t.Fatal(err)
	}
	give.CreatedAt = 9 // a second later
	if again, err := s.Create(t.Context(), give); err != nil || again != first {
		t.Errorf("again: got %+v, %v, want %+v", again, err, first)
	}
	for name, other := range map[string]account.Account{
		"OtherName":    {ID: 7, Username: "Anna", DisplayName: "Ann"},
		"OtherCase":    {ID: 7, Username: "ANN", DisplayName: "Ann"},
		"OtherDisplay": {ID: 7, Username: "Ann", DisplayName: "A."},
		"Locked":       {ID: 7, Username: "Ann", DisplayName: "Ann", Locked: true},
		"OtherID":      {ID: 8, Username: "Ann", DisplayName: "Ann"},
		"MadeID":       {Username: "Ann", DisplayName: "Ann"},
	} {
		if _, err := s.Create(t.Context(), other); !errors.Is(err, account.ErrTaken) {
			t.Errorf("%s: got %v, want taken", name, err)
		}
	}
	if _, err := s.ByName(t.Context(), "Anna"); !errors.Is(err, repo.ErrNotFound) {
		t.Errorf("a refused name: got %v, want that it is free", err)
	}
}

// Where name and row lie on two servers a crash may leave one of them.
func TestStore_Create_Half(t *testing.T) {
	pool := dbtest.Fresh(t)
	dbtest.Migrate(t, pool)
	s := account.New(pool, cache.NewNone())
	for i, half := range []string{`DELETE FROM account WHERE account_id = ?`, `DELETE FROM username WHERE account_id = ?`} {
		give := account.Account{ID: uint64(7 + i), Username: strings.Repeat("a", i+1)}
		if _, err := s.Create(context.Background(), give); err != nil {
			t.Fatal(err)
		}
		pool.MustExec(half, give.ID)
		if _, err := s.Create(t.Context(), give); err != nil {
			t.Errorf("after %s: %v", half, err)
		}
		if a, err := s.ByName(t.Context(), give.Username); err != nil || a.ID != give.ID {
			t.Errorf("after %s: got %+v, %v", half, a, err)
		}
	}
}
