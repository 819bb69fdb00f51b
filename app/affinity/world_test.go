package affinity

import (
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"

	"kith/app/relation/relationtest"
	"kith/repo/affinity"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/interaction"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// world is everything that affinity touches, on a database of its own.
type world struct {
	*Service
	t         *testing.T
	pool      *sqlx.DB
	relations *relationtest.World
	log       *interaction.Store
	store     *affinity.Store
	folder    *Folder
	batch     atomic.Uint64
}

const start = relationtest.Start

func newWorld(t *testing.T, c cache.Cache) *world {
	t.Helper()
	return newWorldOn(t, dbtest.FreshDSN(t), c)
}

func newWorldOn(t *testing.T, dsn string, c cache.Cache) *world {
	t.Helper()
	pool := dbtest.Open(t, db.Config{DSN: dsn})
	dbtest.Migrate(t, pool)
	quiet := slog.New(slog.DiscardHandler)
	w := &world{t: t, pool: pool, relations: relationtest.New(t, relationtest.Config{DB: pool, Cache: c}),
		log: interaction.New(pool), store: affinity.New(pool, c, quiet)}
	w.folder = NewFolder(worth, w.log, w.store, w.relations.Now, quiet)
	w.Service = NewService(w.store, w.relations.Rows)
	return w
}

// record appends events to the log.
func (w *world) record(events ...interaction.Event) {
	w.t.Helper()
	all := interaction.Batches(events, func() uint64 { return interaction.NewID(w.relations.Now().UnixMilli(), w.batch.Add(1)) })
	for len(all) > 0 {
		n := min(len(all), interaction.MaxRows)
		if err := w.log.Append(w.t.Context(), all[:n]); err != nil {
			w.t.Fatal(err)
		}
		all = all[n:]
	}
}

// fold folds all there is and returns how many events that were.
func (w *world) fold() (events int) {
	w.t.Helper()
	ctx, below := w.t.Context(), w.folder.Before()
	for bucket := uint16(0); ; bucket++ {
		next, found, err := w.folder.Next(ctx, bucket)
		if err != nil {
			w.t.Fatal(err)
		}
		if !found {
			return events
		}
		bucket = next
		for more := true; more; {
			done, err := w.folder.Step(ctx, bucket, below)
			if err != nil {
				w.t.Fatal(err)
			}
			more = done.More
			events += done.Events
		}
	}
}

// group puts the events of each actor together.
func group(events []interaction.Event) map[uint64][]interaction.Event {
	out := map[uint64][]interaction.Event{}
	for _, e := range events {
		out[e.Actor] = append(out[e.Actor], e)
	}
	return out
}
