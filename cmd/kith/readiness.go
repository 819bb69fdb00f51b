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

// readiness knows which parts are not ready, for /readyz. The cache is not among them:
// everything works without it.
type readiness struct {
	check    func(context.Context) error // of the database
	now      func() time.Time
	log      *slog.Logger
	draining atomic.Bool // /readyz says that the server takes no more requests

	mu      sync.Mutex
	checked time.Time
	found   error
}

const (
	// checkTimeout bounds a check of the database.
	checkTimeout = 2 * time.Second
	// checkEvery is how long the result of a check is used, for all requests.
	checkEvery = time.Second
)

// readiness makes the readiness of the stack.
func (s *stack) readiness(log *slog.Logger) *readiness {
	return &readiness{now: time.Now, log: log, check: func(ctx context.Context) error { return db.Writable(ctx, s.pool) }}
}

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

// database checks the database, once a second for all requests.
func (r *readiness) database(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now().Sub(r.checked) < checkEvery {
		return r.found
	}
	// Others wait for the same result: it is found even if this client leaves.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	if r.found = r.check(ctx); r.found != nil {
		r.log.Warn("not ready", "err", r.found)
	}
	r.checked = r.now()
	return r.found
}

// parting closes each connection of a server that drains after its next answer, so that
// clients open new ones, which a balancer leads elsewhere. No connection is closed while a
// request is on its way.
func (r *readiness) parting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, req)
	})
}
