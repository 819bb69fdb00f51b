package account_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"kith/repo"
	"kith/repo/account"
	"kith/repo/dbtest"
)

func TestStore_Bury(t *testing.T) {
	s, ctx := open(t), t.Context()
	ids := dbtest.IDs(t, 4)
	gone, never := ids[0], ids[1]
	made := account.Account{ID: gone, Username: name(gone)}
	if _, err := s.Create(ctx, made); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Bury(ctx, gone, 5); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Bury(ctx, never, 5); err != nil {
		t.Fatal(err)
	}
	for who, s := range map[string]*account.Store{"cached": s, "stored": uncached(t)} {
		if _, err := s.Get(ctx, gone); !errors.Is(err, repo.ErrNotFound) {
			t.Errorf("%s: got %v, want %v", who, err, repo.ErrNotFound)
		}
	}
	for _, id := range []uint64{gone, never} {
		if _, err := s.Create(ctx, account.Account{ID: id, Username: name(id)}); !errors.Is(err, account.ErrErased) {
			t.Errorf("create %d: got %v, want %v", id, err, account.ErrErased)
		}
		n, err := s.Ensure(ctx, []uint64{ids[2], id}, 1)
		if !errors.Is(err, account.ErrErased) || n != 0 {
			t.Errorf("ensure %d: made %d, %v, want %v", id, n, err, account.ErrErased)
		}
	}
	if missing, err := s.Missing(ctx, ids); err != nil || len(missing) != 4 {
		t.Errorf("%d of %d are missing, %v", len(missing), len(ids), err)
	}
	if _, err := s.Create(ctx, account.Account{ID: ids[3], Username: name(gone)}); err != nil {
		t.Errorf("the name of the erased is not free: %v", err)
	}
	all, err := s.Erased(ctx, 1000)
	if err != nil || !slices.Contains(all, gone) || !slices.Contains(all, never) || slices.Contains(all, ids[3]) {
		t.Errorf("erased are %v, %v, want %d and %d among them", all, err, gone, never)
	}
	if some, err := s.Erased(ctx, 1); err != nil || len(some) != 1 {
		t.Errorf("got %v, %v, want one", some, err)
	}
}

// The statements that tombstones are read with use the primary key.
func TestStore_Bury_Index(t *testing.T) {
	open(t)
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id FROM account_erased WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?`, 1, 1, 9000, 10)
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id FROM account_erased WHERE (bucket, account_id) IN ((?,?),(?,?)) FOR UPDATE`, 1, 1, 2, 2)
}

// An id that kith would make next may be buried: it takes another.
func TestStore_Bury_Sequence(t *testing.T) {
	s, ctx := alone(t), t.Context()
	first, err := s.Create(ctx, account.Account{Username: "first"})
	if err != nil {
		t.Fatal(err)
	}
	for id := first.ID + 1; id < first.ID+4; id++ {
		if err := s.Bury(ctx, id, 1); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Create(ctx, account.Account{Username: "second"}); err != nil || got.ID != first.ID+4 {
		t.Errorf("got %+v, %v, want id %d", got, err, first.ID+4)
	}
}

// Whoever makes an account while it is buried comes before or after: at the end it is gone.
func TestStore_Bury_Race(t *testing.T) {
	s, ctx := uncached(t), t.Context()
	ids := dbtest.IDs(t, 60)
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() {
			if err := s.Bury(ctx, id, 1); err != nil {
				t.Errorf("bury: %v", err)
			}
		})
		all.Go(func() {
			var err error
			if i%2 == 0 {
				_, err = s.Create(ctx, account.Account{ID: id, Username: name(id)})
			} else {
				_, err = s.Ensure(ctx, []uint64{id}, 1)
			}
			if err != nil && !errors.Is(err, account.ErrErased) {
				t.Errorf("make: %v", err)
			}
		})
	}
	all.Wait()
	missing, err := s.Missing(ctx, ids)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if !missing[id] {
			t.Errorf("account %d is there though it was erased", id)
		}
	}
}
