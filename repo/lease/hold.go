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
	lost   context.Context // ends when the lease is not to be trusted any more
	giveUp context.CancelFunc
	stop   context.CancelFunc
	ended  chan struct{} // the renewing goroutine has

	mu   sync.Mutex
	ver  uint64
	sent time.Time // before the last take or renewal that went well
}

// hold begins to renew a lease that was just taken.
func (s *Store) hold(name, holder string, ver uint64, sent time.Time) *Lease {
	ctx, stop := context.WithCancel(context.Background())
	l := &Lease{store: s, name: name, holder: holder, ver: ver, sent: sent, stop: stop, ended: make(chan struct{})}
	l.lost, l.giveUp = context.WithCancel(context.Background())
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
func (l *Lease) Lost() <-chan struct{} { return l.lost.Done() }

// Check returns ErrLost when the lease is not to be trusted any more.
func (l *Lease) Check() error {
	if l.left() <= 0 {
		l.giveUp()
		return ErrLost
	}
	return nil
}

// left is for how long the lease may still be trusted, if nothing is renewed: 9/10 of a
// term after the last renewal was sent, by the clock that says more of it.
func (l *Lease) left() time.Duration {
	if l.lost.Err() != nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	term, now := l.store.cfg.Term, l.store.cfg.Now()
	passed := max(now.Sub(l.sent), now.Round(0).Sub(l.sent.Round(0)))
	return term - term/10 - passed
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
		case <-l.lost.Done():
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

// renew renews the lease once and returns when to do so again. Where that did not
// surely go well, the row is read: an earlier renewal without an answer may have raised
// ver.
func (l *Lease) renew(ctx context.Context) (time.Duration, error) {
	term := l.store.cfg.Term
	ctx, cancel := context.WithTimeout(ctx, min(l.left(), term/3))
	defer cancel()
	sent := l.store.cfg.Now()
	won, cause := l.store.put(ctx, Row{Name: l.name, Ver: l.Ver()}, l.holder)
	if cause == nil && won {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ver++
		l.sent = sent
		return term / 3, nil
	}
	row, err := l.store.read(ctx, l.name)
	if err != nil {
		if cause != nil {
			err = db.Wrap(cause)
		}
		return term / 20, fmt.Errorf("renew lease %s: %w", l.name, err)
	}
	if row.Holder != l.holder {
		l.giveUp()
		return term / 20, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ver = row.Ver
	return term / 20, nil
}

// releaseTime bounds a release whose caller is in a hurry.
const releaseTime = 5 * time.Second

// Release ends the renewing and gives the lease back, so that others need not
// wait for a term. A failure costs no more than that wait; the lease of another
// holder has another ver and stays as it is.
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
