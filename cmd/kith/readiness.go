package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"kith/repo/db"
)

// readiness is what /readyz shows: which parts are not ready. A cache that is
// away is not among them, since everything works without it.
type readiness struct{ draining atomic.Bool }

var errDraining = errors.New("the server is stopping")

// pingTimeout bounds the look at the database.
const pingTimeout = 2 * time.Second

// drain says from now on that no more requests are wanted.
func (r *readiness) drain() { r.draining.Store(true) }

// of returns what names the parts of s that are not ready.
func (r *readiness) of(s *stack) func(context.Context) map[string]error {
	return func(ctx context.Context) map[string]error {
		missing := map[string]error{}
		if r.draining.Load() {
			missing["shutdown"] = errDraining
		}
		ctx, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()
		if err := s.pools.small.PingContext(ctx); err != nil {
			missing["mysql"] = db.Wrap(err)
		}
		return missing
	}
}
