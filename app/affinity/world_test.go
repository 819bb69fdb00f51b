package affinity

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/app/relation"
	"kith/repo/account"
	"kith/repo/affinity"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/interaction"
	rows "kith/repo/relation"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// world is everything that affinity touches, on a database of its own.
type world struct {
	t         *testing.T
	pool      *sqlx.DB
	clock     atomic.Int64
	log       *interaction.Store
	store     *affinity.Store
	rows      *rows.Store
	accounts  *account.Store
	relations *relation.Service
	folder    *Folder
	*Service
	batch atomic.Uint64
}

const start = 1_700_000_000

func newWorld(t *testing.T, c cache.Cache) *world {
	t.Helper()
	return newWorldOn(t, dbtest.FreshDSN(t), c)
}

func newWorldOn(t *testing.T, dsn string, c cache.Cache) *world {
	t.Helper()
	w := &world{t: t, pool: poolOn(t, dsn, true)}
	large := poolOn(t, dsn, false)
	dbtest.Migrate(t, w.pool)
	w.clock.Store(start)
	quiet := slog.New(slog.DiscardHandler)
	w.log = interaction.New(w.pool)
	w.store = affinity.New(w.pool, large, c, quiet)
	w.rows = rows.New(w.pool, large, c, 0)
	w.accounts = account.New(w.pool, c)
	edits := committer.New(rows.NewEdits(w.rows, w.now), committer.Config{})
	t.Cleanup(func() { edits.Close(context.Background()) })
	w.relations = relation.New(relation.Config{Rows: w.rows, Committer: edits, Accounts: w.accounts, Now: w.now})
	w.folder = NewFolder(worth, w.log, w.store, w.now, quiet)
	w.Service = NewService(w.store, w.rows)
	return w
}

func poolOn(t testing.TB, dsn string, interpolate bool) *sqlx.DB {
	t.Helper()
	p, err := db.Open(t.Context(), db.Config{DSN: dsn, Interpolate: interpolate})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func localCache(t testing.TB) cache.Cache {
	c, err := cache.NewLocal(cache.LocalConfig{MaxBytes: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func (w *world) now() time.Time { return time.Unix(w.clock.Load(), 0) }

// people makes n accounts.
func (w *world) people(n int) []uint64 {
	w.t.Helper()
	ids := dbtest.IDs(w.t, n)
	if _, err := w.accounts.Ensure(w.t.Context(), ids, 1); err != nil {
		w.t.Fatal(err)
	}
	return ids
}

// befriend makes two accounts friends, one second after the last.
func (w *world) befriend(a, b uint64) {
	w.t.Helper()
	w.clock.Add(1)
	for _, p := range [][2]uint64{{a, b}, {b, a}} {
		if _, err := w.relations.Follow(w.t.Context(), p[0], p[1], relation.FollowOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// record appends events to the log.
func (w *world) record(events ...interaction.Event) {
	w.t.Helper()
	all := interaction.Batches(events, func() uint64 { return interaction.NewID(w.now().UnixMilli(), w.batch.Add(1)) })
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

func (w *world) edits() *rows.Edits { return rows.NewEdits(w.rows, w.now) }
