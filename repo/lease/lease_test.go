package lease_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/lease"
	"kith/repo/waittest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// clock is a process's own clock, moved by hand.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time         { return time.Unix(1_700_000_000, c.at.Load()) }
func (c *clock) pass(d time.Duration)   { c.at.Add(int64(d)) }
func name(t *testing.T) (unique string) { return fmt.Sprintf("%.20s%d", t.Name(), dbtest.IDs(t, 1)[0]) }

func pool(t *testing.T) *sqlx.DB {
	t.Helper()
	return dbtest.Open(t, db.Config{DSN: dbtest.DSN(t)})
}

// still is a store whose renewals are too far off to come: its term is long on
// the clock of the machine, and short on its own.
func still(t *testing.T, process string, c *clock) *lease.Store {
	return lease.New(lease.Config{DB: pool(t), Process: process, Term: time.Hour, Now: c.now})
}

func take(t *testing.T, s *lease.Store, name string) *lease.Lease {
	t.Helper()
	l, err := s.Take(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Release(t.Context()) })
	return l
}

func wantHeld(t *testing.T, s *lease.Store, name, who string) {
	t.Helper()
	_, err := s.Take(t.Context(), name)
	held := (*lease.HeldError)(nil)
	if !errors.As(err, &held) || lease.Who(held.Row.Holder) != who {
		t.Fatalf("got %v, want that %s holds it", err, who)
	}
}

func TestStore_Take(t *testing.T) {
	n, c := name(t), new(clock)
	a, b := still(t, "a:1", c), still(t, "b:2", c)
	first := take(t, a, n)
	wantHeld(t, b, n, "a:1")
	wantHeld(t, a, n, "a:1")
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.Check(); !errors.Is(err, lease.ErrLost) {
		t.Errorf("a released lease is trusted: %v", err)
	}
	second := take(t, b, n)
	if second.Ver() <= first.Ver() {
		t.Errorf("ver %d after %d, want a higher one for each holder", second.Ver(), first.Ver())
	}
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantHeld(t, a, n, "b:2") // a second release is not that of somebody else's lease
}

func TestStore_Take_Race(t *testing.T) {
	n, c := name(t), new(clock)
	leases := make(chan *lease.Lease, 8)
	var wg sync.WaitGroup
	for i := range 8 {
		s := still(t, fmt.Sprintf("p:%d", i), c)
		wg.Go(func() {
			l, err := s.Take(t.Context(), n)
			if held := (*lease.HeldError)(nil); err != nil && !errors.As(err, &held) {
				t.Error(err)
			}
			leases <- l
		})
	}
	wg.Wait()
	won := 0
	for range 8 {
		if l := <-leases; l != nil {
			won++
			defer l.Release(t.Context())
		}
	}
	if won != 1 {
		t.Errorf("%d of 8 got the lease, want 1", won)
	}
}

// Whoever saw ver stand still for a term takes over, and not a moment sooner.
func TestStore_Take_Abandoned(t *testing.T) {
	n, mine, theirs := name(t), new(clock), new(clock)
	a, b := still(t, "a:1", mine), still(t, "b:2", theirs)
	first := take(t, a, n)
	mine.pass(24 * time.Hour) // clocks of different processes are never compared
	wantHeld(t, b, n, "a:1")
	theirs.pass(time.Hour - time.Nanosecond)
	wantHeld(t, b, n, "a:1")
	theirs.pass(time.Nanosecond)
	second := take(t, b, n)
	if first.Check() == nil || second.Check() != nil {
		t.Errorf("trusted: the first %v, the second %v", first.Check(), second.Check())
	}
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantHeld(t, a, n, "b:2")
}

// A renewal that was seen begins the term of the watcher anew.
func TestStore_Take_Renewed(t *testing.T) {
	n, c := name(t), new(clock)
	b := still(t, "b:2", c)
	take(t, still(t, "a:1", new(clock)), n)
	for range 3 {
		wantHeld(t, b, n, "a:1")
		c.pass(59 * time.Minute)
		dbtest.DB(t).MustExec(`UPDATE lease SET ver = ver + 1 WHERE bucket = ? AND name = ?`, repo.NameBucket(n), n)
	}
}

func TestLease_Check(t *testing.T) {
	c := new(clock)
	l := take(t, still(t, "a:1", c), name(t))
	c.pass(54*time.Minute - 1)
	if err := l.Check(); err != nil {
		t.Errorf("a lease is not trusted just before 9/10 of its term: %v", err)
	}
	c.pass(1)
	if err := l.Check(); !errors.Is(err, lease.ErrLost) {
		t.Errorf("a lease is trusted at 9/10 of its term: %v", err)
	}
	select {
	case <-l.Lost():
	default:
		t.Error("Lost is not closed")
	}
	c.pass(-time.Hour)
	if l.Check() == nil {
		t.Error("a lost lease came back with the clock")
	}
}

// The renewing keeps a lease for many terms, and whoever watches never gets it.
func TestLease_Renew(t *testing.T) {
	const term = 600 * time.Millisecond
	n := name(t)
	a := lease.New(lease.Config{DB: pool(t), Process: "a:1", Term: term})
	b := lease.New(lease.Config{DB: pool(t), Process: "b:2", Term: term})
	l := take(t, a, n)
	from := l.Ver()
	for until := time.Now().Add(3 * term); time.Now().Before(until); {
		if _, err := b.Take(t.Context(), n); err == nil {
			if l.Check() == nil {
				t.Fatal("two have the lease")
			}
			t.Skip("the machine is too busy to renew in time")
		}
	}
	if l.Check() != nil || l.Ver() < from+3 {
		t.Errorf("after 3 terms: %v, ver %d after %d", l.Check(), l.Ver(), from)
	}
}

// A holder that cannot reach the database steps down before others take over.
func TestLease_DatabaseGone(t *testing.T) {
	const term = 900 * time.Millisecond
	n, gone := name(t), pool(t)
	l := take(t, lease.New(lease.Config{DB: gone, Process: "a:1", Term: term}), n)
	b := lease.New(lease.Config{DB: pool(t), Process: "b:2", Term: term})
	gone.Close()
	start := time.Now()
	for {
		second, err := b.Take(t.Context(), n)
		if err != nil {
			continue
		}
		defer second.Release(t.Context())
		break
	}
	select {
	case <-l.Lost():
	default:
		t.Error("the second has the lease and the first has not stepped down")
	}
	if took := time.Since(start); took > 3*term {
		t.Errorf("it took %v to take over, want about %v", took, term)
	}
}

// A renewal that finds somebody else's ver ends the trust at once.
func TestLease_Stolen(t *testing.T) {
	n := name(t)
	l := take(t, lease.New(lease.Config{DB: pool(t), Process: "a:1", Term: 2 * time.Second}), n)
	dbtest.DB(t).MustExec(`UPDATE lease SET ver = ver + 1, holder = 'thief:3:x' WHERE bucket = ? AND name = ?`, repo.NameBucket(n), n)
	waittest.Receive(t, 10*time.Second, "loss of the lease", l.Lost())
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, err := lease.New(lease.Config{DB: pool(t)}).Show(t.Context(), n); err != nil || lease.Who(r.Holder) != "thief:3" {
		t.Errorf("after the release: %+v, %v, want it untouched", r, err)
	}
}

// A renewal of which no answer came may have raised ver: the lease goes on.
func TestLease_UnknownOutcome(t *testing.T) {
	n := name(t)
	const term = 1500 * time.Millisecond
	l := take(t, lease.New(lease.Config{DB: pool(t), Process: "a:1", Term: term}), n)
	from := l.Ver()
	dbtest.DB(t).MustExec(`UPDATE lease SET ver = ver + 1 WHERE bucket = ? AND name = ?`, repo.NameBucket(n), n)
	select {
	case <-l.Lost():
		t.Fatal("the lease was given up")
	case <-time.After(2 * term):
	}
	if l.Ver() < from+3 {
		t.Errorf("ver %d after %d, want it renewed", l.Ver(), from)
	}
}

func TestStore_Index(t *testing.T) {
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT name, holder, ver, term_ms, until_ms FROM lease WHERE bucket = ? AND name = ?`, 1, "x")
}
