package identity_test

import (
	"errors"
	"sync"
	"testing"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/identity"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// Processes that start together agree on one identity; a renewal makes another.
func TestStore(t *testing.T) {
	s := identity.New(dbtest.DB(t))
	dbtest.DB(t).MustExec(`DELETE FROM cache_identity`)
	if id, err := s.Load(t.Context()); !errors.Is(err, repo.ErrNotFound) {
		t.Fatalf("before anybody made one: got %v, %v", id.ID, err)
	}
	var wg sync.WaitGroup
	made := make([]cache.Identity, 8)
	for i := range made {
		wg.Go(func() {
			var err error
			if made[i], err = s.Open(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, id := range made {
		if id != made[0] || id.ID == 0 || id.Secret == (cache.Identity{}).Secret {
			t.Fatalf("identities %d and %d, want one that is random", id.ID, made[0].ID)
		}
	}
	if err := s.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	next, err := s.Open(t.Context())
	if err != nil || next.ID == made[0].ID || next.Secret == made[0].Secret {
		t.Fatalf("after the renewal: got %d, %v; it was %d before", next.ID, err, made[0].ID)
	}
	if again, err := s.Load(t.Context()); err != nil || again != next {
		t.Errorf("loaded again: got %d, %v; want %d", again.ID, err, next.ID)
	}
}

func TestStore_Renew_First(t *testing.T) {
	pool := dbtest.DB(t)
	pool.MustExec(`DELETE FROM cache_identity`)
	s := identity.New(pool)
	if err := s.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context()); err != nil {
		t.Error(err)
	}
}

// A secret that somebody cut is no secret.
func TestStore_Load_Short(t *testing.T) {
	pool := dbtest.DB(t)
	s := identity.New(pool)
	if err := s.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	pool.MustExec(`UPDATE cache_identity SET secret = LEFT(secret, 5)`)
	defer s.Renew(t.Context())
	if id, err := s.Load(t.Context()); err == nil {
		t.Errorf("got %d, want an error", id.ID)
	}
}

func TestStore_Index(t *testing.T) {
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT id, secret FROM cache_identity WHERE bucket = 0`)
}
