package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"kith/repo/db"
)

// readiness is what /readyz shows: which parts are not ready. A cache that is
// away is not among them, since everything works without it.
type readiness struct {
	look     func(context.Context) error // at the database
	now      func() time.Time
	log      *slog.Logger
	draining atomic.Bool

	mu     sync.Mutex
	looked time.Time
	found  error
}

const (
	// lookTimeout bounds a look at the database.
	lookTimeout = 2 * time.Second
	// lookEvery is how long what was seen is good for, whoever asks.
	lookEvery = time.Second
)

// readiness makes what tells of the stack's.
func (s *stack) readiness(log *slog.Logger) *readiness {
	return &readiness{now: time.Now, log: log, look: func(ctx context.Context) error { return db.Writable(ctx, s.pool) }}
}

// drain says from now on that no more requests are wanted.
func (r *readiness) drain() { r.draining.Store(true) }

// missing names what is not ready.
func (r *readiness) missing(ctx context.Context) (names []string) {
	if r.draining.Load() {
		names = append(names, "draining")
	}
	switch err := r.database(ctx); {
	case errors.Is(err, db.ErrReadOnly):
		names = append(names, "mysql_read_only")
	case err != nil:
		names = append(names, "mysql")
	}
	return names
}

// database looks at the database, once a second for all who ask.
func (r *readiness) database(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now().Sub(r.looked) < lookEvery {
		return r.found
	}
	// Whoever asked may leave: the others want the answer.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	if r.found = r.look(ctx); r.found != nil {
		r.log.Warn("not ready", "err", r.found)
	}
	r.looked = r.now()
	return r.found
}

// parting has clients of a server that drains come again on a new connection, which
// a balancer opens elsewhere. So no connection is closed under a request that is on
// its way.
func (r *readiness) parting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, req)
	})
}
