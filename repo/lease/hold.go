package lease

import (
	"context"
	"fmt"
	"sync"
	"time"

	"kith/repo/db"
)

// Lease is a lease that this process holds, and renews until Release.
type Lease struct {
	store  *Store
	name   string
	holder string
	lost   chan struct{}
	stop   context.CancelFunc
	ended  chan struct{} // the renewing goroutine has

	mu    sync.Mutex
	ver   uint64
	sent  time.Time // before the last take or renewal that went well
	given bool      // up: lost is closed
}

// hold begins to renew a lease that was just taken.
func (s *Store) hold(name, holder string, ver uint64, sent time.Time) *Lease {
	ctx, stop := context.WithCancel(context.Background())
	l := &Lease{store: s, name: name, holder: holder, ver: ver, sent: sent,
		lost: make(chan struct{}), stop: stop, ended: make(chan struct{})}
	go l.keep(ctx)
	return l
}

// Holder is what stands in the row while the lease is held.
func (l *Lease) Holder() string { return l.holder }

// Ver is the ver of the lease: higher than that of every earlier holder, and
// no higher than the first of the next.
func (l *Lease) Ver() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ver
}

// Lost is closed when the lease is not to be trusted any more.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Check returns ErrLost when the lease is not to be trusted any more.
func (l *Lease) Check() error {
	if l.left() <= 0 {
		l.giveUp()
		return ErrLost
	}
	return nil
}

// left is for how long the lease may still be trusted, if nothing is renewed.
func (l *Lease) left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.given {
		return 0
	}
	return l.store.trusted() - passed(l.sent, l.store.cfg.Now())
}

// trusted is for how long after it was sent a renewal is believed in.
func (s *Store) trusted() time.Duration { return s.cfg.Term - s.cfg.Term/10 }

// passed is the time between two moments by the clock that says more of it.
func passed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}

func (l *Lease) giveUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.given {
		l.given = true
		close(l.lost)
	}
}

// keep renews the lease until it is stopped or lost.
func (l *Lease) keep(ctx context.Context) {
	defer close(l.ended)
	pause := time.NewTimer(l.store.cfg.Term / 3)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.lost:
			return
		case <-pause.C:
		}
		next, err := l.renew(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			l.store.cfg.Log.Warn("renew a lease", "lease", l.name, "error", err)
		}
		if l.Check() != nil {
			l.store.cfg.Log.Warn("a lease was lost", "lease", l.name)
			return
		}
		pause.Reset(min(next, l.left()))
	}
}

// renew renews the lease once and returns when to do so again. Where the
// answer is not "yes" the row is read before the next try.
func (l *Lease) renew(ctx context.Context) (time.Duration, error) {
	term := l.store.cfg.Term
	ctx, cancel := context.WithTimeout(ctx, min(l.left(), term/3))
	defer cancel()
	sent := l.store.cfg.Now()
	won, err := l.store.put(ctx, Row{Name: l.name, Ver: l.Ver()}, l.holder)
	if err == nil && won {
		l.renewed(sent)
		return term / 3, nil
	}
	return term / 20, l.look(ctx, err)
}

func (l *Lease) renewed(sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ver++
	l.sent = sent
}

// look finds out after a renewal without a yes whether the lease is still
// ours. An earlier renewal of which no answer came may have raised ver.
func (l *Lease) look(ctx context.Context, cause error) error {
	row, err := l.store.read(ctx, l.name)
	switch {
	case err != nil:
		if cause != nil {
			err = db.Wrap(cause)
		}
		return fmt.Errorf("renew lease %s: %w", l.name, err)
	case row.Holder != l.holder:
		l.giveUp()
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ver = row.Ver
	return nil
}

// releaseTime bounds a release whose caller is in a hurry.
const releaseTime = 5 * time.Second

// Release ends the renewing and gives the lease back, so that others need not
// wait for a term. What fails is no harm but that wait; the lease of somebody
// else has another ver and stays as it is.
func (l *Lease) Release(ctx context.Context) error {
	l.stop()
	<-l.ended
	l.giveUp()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	if _, err := l.store.put(ctx, Row{Name: l.name, Ver: l.Ver()}, ""); err != nil {
		return fmt.Errorf("release lease %s: %w", l.name, db.Wrap(err))
	}
	return nil
}
