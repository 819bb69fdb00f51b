// Package relationtest gives tests accounts that follow each other: the relation
// service on a real database, with a clock that only tests move.
package relationtest

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/app/relation"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/dbtest"
	rows "kith/repo/relation"
)

// Start is the unix second at which the clock of a World begins.
const Start = 1_700_000_000

// Config says what a World stands on.
type Config struct {
	// DB is a migrated database.
	DB    *sqlx.DB
	Cache cache.Cache
	// FollowingLimit is that of the service, 0 for none.
	FollowingLimit int
	// ListCap is how many entries a section of a row keeps, 0 for all.
	ListCap int
	// Listeners are those of the service.
	Listeners []func(relation.Change)
	Log       *slog.Logger
}

// World is the service and all that it stands on.
type World struct {
	*relation.Service
	Rows     *rows.Store
	Accounts *account.Store
	Clock    atomic.Int64 // unix seconds
	Millis   atomic.Int64 // past that

	tb testing.TB
}

// New makes a World, which is closed when the test ends.
func New(tb testing.TB, c Config) *World {
	tb.Helper()
	w := &World{tb: tb, Accounts: account.New(c.DB, c.Cache)}
	w.Clock.Store(Start)
	w.Rows = rows.New(c.DB, c.Cache, c.ListCap, w.Now)
	edits := committer.New(w.Rows, committer.Config{})
	tb.Cleanup(func() {
		if err := edits.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	w.Service = relation.New(relation.Config{Rows: w.Rows, Committer: edits, Accounts: w.Accounts, Now: w.Now, FollowingLimit: c.FollowingLimit, Listeners: c.Listeners, Log: c.Log})
	return w
}

// Now is what the clock says.
func (w *World) Now() time.Time {
	return time.Unix(w.Clock.Load(), 0).Add(time.Duration(w.Millis.Load()) * time.Millisecond)
}

// People makes n accounts.
func (w *World) People(n int) []uint64 {
	w.tb.Helper()
	ids := dbtest.IDs(w.tb, n)
	w.Make(ids...)
	return ids
}

// Make makes accounts of given ids, where they are not there yet.
func (w *World) Make(ids ...uint64) {
	w.tb.Helper()
	if _, err := w.Accounts.Ensure(w.tb.Context(), ids, 1); err != nil {
		w.tb.Fatal(err)
	}
}

// Follows lets an account follow others, each one second after the last.
func (w *World) Follows(a uint64, others ...uint64) {
	w.tb.Helper()
	for _, b := range others {
		w.Clock.Add(1)
		w.follow(a, b)
	}
}

// Befriend makes two accounts friends, one second after the last.
func (w *World) Befriend(a, b uint64) {
	w.tb.Helper()
	w.Clock.Add(1)
	w.follow(a, b)
	w.follow(b, a)
}

func (w *World) follow(a, b uint64) {
	w.tb.Helper()
	if _, err := w.Follow(w.tb.Context(), a, b, relation.FollowOptions{}); err != nil {
		w.tb.Fatalf("%d follows %d: %v", a, b, err)
	}
}
