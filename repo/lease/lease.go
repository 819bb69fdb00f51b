// Package lease lets one process at a time lead a piece of work.
//
// A lease is a row with a holder and a ver. It is taken, renewed and given back by a
// swap on ver. (GET_LOCK would need a connection of its own, and TiDB and Vitess have it
// only in part.)
//
//	take      holder = me, ver+1      where the row is free, or its ver stood still for a term
//	renew     ver+1                   every third of a term
//	release   holder = '', ver+1
//
// # Whose clock
//
// Clocks of processes and servers differ, so none are compared. Each process measures
// durations on its own monotonic clock:
//
//	holder  ──send────swap done──────────────────┤ trusts until send + 9/10 of a term
//	other             └─ sees ver ─────────────────────┤ may take: seen + a term
//
// The holder counts from before the renewal was sent, the other from after it saw the ver
// that the renewal wrote. So the holder has stepped down before the other takes over, if
// the rates of their clocks differ by less than a tenth. until_ms in the row, by the
// database's clock, is for people, and for the choice whether to wait.
//
// # On doubt step down
//
// A holder trusts its lease only while both its monotonic and its wall clock say that
// less than the trusted time has passed: the monotonic one may stand still while a
// machine sleeps. A renewal that finds another holder ends the trust at once. One with
// an unknown outcome is followed by a read, and does not count.
//
// A lease bounds waste, not harm: a process can be stopped between the last check and a
// write, and a failover may lose the last swaps. What is written under a lease must be
// guarded by itself, by the ver of its row or that of the lease, which grows with every
// holder.
package lease

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
)

// DefaultTerm is how long a lease stands without being renewed.
const DefaultTerm = 30 * time.Second

// ErrLost says that another process may hold the lease by now.
var ErrLost = errors.New("the lease was lost")

// Config is what a Store works with.
type Config struct {
	DB *sqlx.DB
	// Process names this process to people, as host:pid.
	Process string
	Term    time.Duration    // 0: DefaultTerm
	Now     func() time.Time // with a monotonic reading; nil: time.Now
	Log     *slog.Logger
}

// Store takes leases. It is safe for concurrent use.
type Store struct {
	cfg Config

	mu   sync.Mutex
	seen map[string]sighting
}

// sighting is since when a ver has been seen in a row.
type sighting struct {
	ver   uint64
	since time.Time
}

// New makes a store.
func New(cfg Config) *Store {
	cfg.Term = cmp.Or(cfg.Term, DefaultTerm)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Store{cfg: cfg, seen: map[string]sighting{}}
}

// Term is how long the leases of this store stand without being renewed.
func (s *Store) Term() time.Duration { return s.cfg.Term }

// HeldError says who holds a lease that could not be taken.
type HeldError struct {
	Row Row
}

// Error names the holder.
func (e *HeldError) Error() string {
	return fmt.Sprintf("the lease %s is held by %s", e.Row.Name, Who(e.Row.Holder))
}

// Late reports that the holder should have renewed the lease by now: it has
// probably died, and waiting for a term is worth while.
func (e *HeldError) Late() bool { return e.Row.LeftMS < 0 }

// takeTries bounds how often a take that loses its swap reads again.
const takeTries = 3

// Take takes the lease of name and renews it until Release. It is refused with
// a *HeldError where another process has it. Called again and again it takes a lease
// that was not renewed for a term since the first call that saw it so.
func (s *Store) Take(ctx context.Context, name string) (*Lease, error) {
	holder := s.cfg.Process + ":" + rand.Text()[:12]
	var row Row
	for range takeTries {
		var err error
		if row, err = s.read(ctx, name); err != nil {
			return nil, err
		}
		if !row.Free() && !s.abandoned(row) {
			return nil, &HeldError{row}
		}
		sent := s.cfg.Now()
		won, err := s.put(ctx, row, holder)
		if err != nil {
			// The outcome may be unknown. If it was done after all, the lease is not
			// renewed, and free again after a term.
			return nil, fmt.Errorf("take lease %s: %w", name, db.Wrap(err))
		}
		if won {
			if !row.Free() {
				s.cfg.Log.Warn("took over a lease that was not renewed", "lease", name, "from", Who(row.Holder))
			}
			return s.hold(name, holder, row.Ver+1, sent), nil
		}
	}
	return nil, &HeldError{row}
}

// abandoned reports that the row's ver has stood still for a whole term while
// this process looked.
func (s *Store) abandoned(r Row) bool {
	now := s.cfg.Now() // after the read: the ver was there before
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.seen[r.Name]; ok && last.ver == r.Ver {
		return now.Sub(last.since) >= r.term()
	}
	s.seen[r.Name] = sighting{ver: r.Ver, since: now}
	return false
}
