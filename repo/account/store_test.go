package account_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kith/repo"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func open(t *testing.T) *account.Store {
	t.Helper()
	return account.New(dbtest.DB(t), cachetest.Local(t))
}

// uncached sees what the database holds.
func uncached(t *testing.T) *account.Store { return account.New(dbtest.DB(t), cache.NewNone()) }

// alone is a store on a database of its own: ids it makes would meet those of
// other tests.
func alone(t *testing.T) *account.Store {
	t.Helper()
	pool := dbtest.Fresh(t)
	dbtest.Migrate(t, pool)
	return account.New(pool, cache.NewNone())
}

func name(id uint64) string { return fmt.Sprintf("Name_%d", id) }

func TestStore_Create(t *testing.T) {
	s := open(t)
	ids := dbtest.IDs(t, 4)
	t.Run("given id", func(t *testing.T) {
		want := account.Account{ID: ids[0], Username: name(ids[0]), DisplayName: "梅", Locked: true, CreatedAt: 1700000000123}
		if _, err := s.Get(t.Context(), ids[0]); !errors.Is(err, repo.ErrNotFound) {
			t.Errorf("before: %v, want not found", err)
		}
		made, err := s.Create(t.Context(), want)
		if err != nil || made.Ver == 0 {
			t.Fatal(made, err)
		}
		want.Ver = made.Ver
		for who, s := range map[string]*account.Store{"cached": s, "stored": uncached(t)} {
			got, err := s.Get(t.Context(), ids[0])
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s (-want +got):\n%s%v", who, diff, err)
			}
		}
	})
	t.Run("taken", func(t *testing.T) {
		_, err := s.Create(t.Context(), account.Account{ID: ids[1], Username: "NAME_" + fmt.Sprint(ids[0])})
		if !errors.Is(err, account.ErrTaken) {
			t.Errorf("name in other case: %v, want taken", err)
		}
		_, err = s.Create(t.Context(), account.Account{ID: ids[0], Username: "another"})
		if !errors.Is(err, account.ErrTaken) {
			t.Errorf("id: %v, want taken", err)
		}
		if _, err := s.ByName(t.Context(), "another"); !errors.Is(err, repo.ErrNotFound) {
			t.Errorf("a refused account kept its name: %v", err)
		}
	})
	s = alone(t)
	t.Run("made ids pass given ones", func(t *testing.T) {
		if _, err := s.Create(t.Context(), account.Account{ID: ids[0], Username: name(ids[0])}); err != nil {
			t.Fatal(err)
		}
		a, err := s.Create(t.Context(), account.Account{Username: name(ids[2])})
		if err != nil || a.ID <= ids[0] {
			t.Errorf("made id %d, %v; want one past %d", a.ID, err, ids[0])
		}
		if _, err := s.Create(t.Context(), account.Account{ID: a.ID + 1, Username: name(ids[3])}); err != nil {
			t.Fatal(err)
		}
		b, err := s.Create(t.Context(), account.Account{Username: "after_" + name(ids[3])})
		if err != nil || b.ID != a.ID+2 {
			t.Errorf("made id %d, %v; want %d, past the one given", b.ID, err, a.ID+2)
		}
	})
	t.Run("wide ids do not widen made ones", func(t *testing.T) {
		if _, err := s.Create(t.Context(), account.Account{ID: 1 << 40, Username: "wide"}); err != nil {
			t.Fatal(err)
		}
		a, err := s.Create(t.Context(), account.Account{Username: "narrow"})
		if err != nil || a.ID >= 1<<32 {
			t.Errorf("made id %d, %v; want one of 32 bits", a.ID, err)
		}
	})
}

func TestStore_Create_Race(t *testing.T) {
	s := alone(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen, won := map[uint64]bool{}, 0
	for i := range 20 {
		wg.Go(func() {
			a, err := s.Create(context.Background(), account.Account{Username: fmt.Sprintf("racer%d", i%10)})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && !seen[a.ID]:
				seen[a.ID] = true
				won++
			case err == nil:
				t.Errorf("id %d was made twice", a.ID)
			case !errors.Is(err, account.ErrTaken):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won != 10 {
		t.Errorf("%d accounts for 10 names", won)
	}
}

func TestStore_ByName(t *testing.T) {
	s := open(t)
	id := dbtest.IDs(t, 1)[0]
	if _, err := s.Create(t.Context(), account.Account{ID: id, Username: "MeiMei"}); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"MeiMei", "meimei", "MEIMEI"} {
		if a, err := s.ByName(t.Context(), n); err != nil || a.ID != id {
			t.Errorf("%s: %d, %v; want %d", n, a.ID, err, id)
		}
	}
	if _, err := s.ByName(t.Context(), "mei"); !errors.Is(err, repo.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
}

func TestStore_SetLocked(t *testing.T) {
	s := open(t)
	id := dbtest.IDs(t, 1)[0]
	if _, err := s.Create(t.Context(), account.Account{ID: id, Username: name(id)}); err != nil {
		t.Fatal(err)
	}
	for _, locked := range []bool{true, true, false} {
		a, err := s.SetLocked(t.Context(), id, locked)
		if err != nil || a.Locked != locked {
			t.Fatalf("got %+v, %v", a, err)
		}
		if a, err = s.Get(t.Context(), id); err != nil || a.Locked != locked {
			t.Errorf("read after: %+v, %v; want locked %v", a, err, locked)
		}
	}
	if _, err := s.SetLocked(t.Context(), 1<<50, true); !errors.Is(err, repo.ErrNotFound) {
		t.Errorf("nobody: %v, want not found", err)
	}
}

// What an account chose is kept, also in the cache, and one choice does not touch another.
func TestStore_SetNoPromotions(t *testing.T) {
	for name, c := range map[string]cache.Cache{"none": cache.NewNone(), "local": cachetest.Local(t)} {
		t.Run(name, func(t *testing.T) {
			s := account.New(dbtest.DB(t), c)
			id := dbtest.IDs(t, 1)[0]
			if _, err := s.Create(t.Context(), account.Account{ID: id, Username: fmt.Sprintf("p%d", id)}); err != nil {
				t.Fatal(err)
			}
			for _, want := range [][2]bool{{false, true}, {true, true}, {true, false}, {false, false}, {true, true}} {
				if _, err := s.SetLocked(t.Context(), id, want[0]); err != nil {
					t.Fatal(err)
				}
				a, err := s.SetNoPromotions(t.Context(), id, want[1])
				if err != nil || [2]bool{a.Locked, a.NoPromotions} != want {
					t.Fatalf("got %+v, %v, want %v", a, err, want)
				}
				if a, err = s.Get(t.Context(), id); err != nil || [2]bool{a.Locked, a.NoPromotions} != want {
					t.Errorf("read after: %+v, %v, want %v", a, err, want)
				}
			}
		})
	}
}

func TestStore_Ensure(t *testing.T) {
	s := open(t)
	ids := dbtest.IDs(t, 6)
	_, err := s.Create(t.Context(), account.Account{ID: ids[0], Username: name(ids[0])})
	if err != nil {
		t.Fatal(err)
	}
	squatter := account.Account{ID: ids[1], Username: fmt.Sprintf("u%d", ids[2])}
	if _, err := s.Create(t.Context(), squatter); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), ids[3]); !errors.Is(err, repo.ErrNotFound) {
		t.Fatal(err) // and marks it absent in the cache
	}
	for _, want := range []int{4, 0} {
		if made, err := s.Ensure(t.Context(), ids, 5); err != nil || made != want {
			t.Errorf("made %d, %v; want %d", made, err, want)
		}
	}
	have, err := s.Load(t.Context(), ids)
	if err != nil || len(have) != 6 {
		t.Fatalf("%d accounts, %v; want 6", len(have), err)
	}
	if have[ids[0]].Username != name(ids[0]) || have[ids[1]].Username != squatter.Username {
		t.Error("an account that was there was changed")
	}
	if got, want := have[ids[2]].Username, fmt.Sprintf("u%d_2", ids[2]); got != want {
		t.Errorf("name beside a squatter: %q, want %q", got, want)
	}
	if a, err := s.ByName(t.Context(), fmt.Sprintf("u%d", ids[3])); err != nil || a.ID != ids[3] {
		t.Errorf("by made name: %+v, %v", a, err)
	}
}

func TestStore_Walk(t *testing.T) {
	s := uncached(t)
	ids := dbtest.IDs(t, 30)
	if _, err := s.Ensure(t.Context(), ids, 5); err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]int{}
	for after := uint64(0); ; {
		page, err := s.Walk(t.Context(), after, 7)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, a := range page {
			seen[a.ID]++
		}
		after = page[len(page)-1].ID
	}
	for _, id := range ids {
		if seen[id] != 1 {
			t.Errorf("account %d was met %d times", id, seen[id])
		}
	}
}

func TestStore_Index(t *testing.T) {
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id FROM username WHERE bucket = ? AND name = ?`, 1, "x")
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT name, account_id FROM username WHERE (bucket, name) IN ((?,?),(?,?))`, 1, "x", 2, "y")
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id, ver, username, display_name, locked, no_promotions, created_at FROM account WHERE (bucket, account_id) IN ((?,?),(?,?))`, 1, 1, 2, 2)
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT username FROM account WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?`, 1, 1, 9000, 10)
}
