package affinity

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/interaction"
	"kith/repo/row"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func of(id, ver uint64) row.Meta { return row.Meta{ID: id, Ver: ver} }

func newStore(t *testing.T) *Store {
	pool := dbtest.DB(t)
	return New(pool, cachetest.Local(t), slog.New(slog.DiscardHandler))
}

// logged puts one batch of one event into the log and returns it.
func logged(t *testing.T, actor uint64, id uint64) interaction.Batch {
	t.Helper()
	b := interaction.Batches([]interaction.Event{{Actor: actor, Target: actor + 1, Kind: "visit", At: 5}}, func() uint64 { return id })
	if err := interaction.New(dbtest.DB(t)).Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return b[0]
}

func TestStore_Fold(t *testing.T) {
	s, ctx := newStore(t), t.Context()
	me := dbtest.IDs(t, 1)[0]
	b := repo.Bucket(me)
	batch := logged(t, me, me)
	rows := []Row{{Meta: of(me, 0), At: 9, Entries: []Entry{{3, 2}, {4, 1}}}}
	t.Run("Absent", func(t *testing.T) {
		if r, err := s.Row(ctx, me); err != nil || r.Ver != 0 || r.ID != me {
			t.Fatalf("got %+v, %v", r, err)
		}
	})
	t.Run("Won", func(t *testing.T) {
		if won, err := s.Fold(ctx, b, rows, []interaction.Batch{batch}, 100); err != nil || !won {
			t.Fatalf("got %v, %v", won, err)
		}
		got, err := s.Fresh(ctx, []uint64{me})
		if err != nil || got[me].Ver != rows[0].Ver || rows[0].Ver == 0 || !slices.Equal(got[me].Entries, rows[0].Entries) {
			t.Fatalf("got %+v, %v", got, err)
		}
		if r, err := s.Row(ctx, me); err != nil || r.Ver != rows[0].Ver {
			t.Fatalf("got %+v, %v through the cache", r, err)
		}
	})
	t.Run("LostBatch", func(t *testing.T) { // folded by somebody else
		if won, err := s.Fold(ctx, b, slices.Clone(rows), []interaction.Batch{batch}, 100); err != nil || won {
			t.Fatalf("got %v, %v", won, err)
		}
		wantVer(t, s, me, rows[0].Ver)
	})
	t.Run("LostSwap", func(t *testing.T) { // the batch must stay
		again := logged(t, me, me+1)
		if won, err := s.Fold(ctx, b, []Row{{Meta: of(me, 0), At: 9, Entries: rows[0].Entries}}, []interaction.Batch{again}, 100); err != nil || won {
			t.Fatalf("got %v, %v", won, err)
		}
		wantVer(t, s, me, rows[0].Ver)
		if left, err := interaction.New(dbtest.DB(t)).Load(ctx, b, 0, 1<<62, 10); err != nil || len(left) != 1 {
			t.Fatalf("got %v, %v, want the batch", left, err)
		}
	})
}

// After an unknown outcome of a fold the row is not in the cache.
func TestStore_Fold_UnknownOutcome(t *testing.T) {
	s, ctx := newStore(t), t.Context()
	me := dbtest.IDs(t, 1)[0]
	rows := []Row{{Meta: of(me, 0), At: 9, Entries: []Entry{{3, 2}}}}
	if won, err := s.Fold(ctx, repo.Bucket(me), rows, nil, 100); err != nil || !won {
		t.Fatalf("got %v, %v", won, err)
	}
	dbtest.DB(t).MustExec(`UPDATE affinity SET ver = ver + 2 WHERE bucket = ? AND account_id = ?`, repo.Bucket(me), me)
	if r, err := s.Row(ctx, me); err != nil || r.Ver != rows[0].Ver {
		t.Fatalf("got %+v, %v, want what the cache holds", r, err)
	}
	stored := rows[0].Ver + 2
	over, cancel := context.WithCancel(ctx)
	cancel()
	if won, err := s.Fold(over, repo.Bucket(me), rows, nil, 100); won || !errors.Is(err, repo.ErrUnavailable) {
		t.Fatalf("got %v, %v", won, err)
	}
	if r, err := s.Row(ctx, me); err != nil || r.Ver != stored {
		t.Errorf("got %+v, %v, want what the database holds", r, err)
	}
}

// Where the server takes no more prepared statements, a fold goes another way.
func TestStore_Fold_NotPrepared(t *testing.T) {
	dsn := dbtest.DurableDSN(t)
	pool := dbtest.Open(t, db.Config{DSN: dsn})
	dbtest.Migrate(t, pool)
	s := New(pool, cachetest.Local(t), slog.New(slog.DiscardHandler))
	pool.MustExec(`SET GLOBAL max_prepared_stmt_count = 0`)
	me := dbtest.IDs(t, 1)[0]
	rows := []Row{{Meta: of(me, 0), At: 9, Entries: []Entry{{3, 2}}}}
	if won, err := s.Fold(t.Context(), repo.Bucket(me), rows, nil, 100); err != nil || !won {
		t.Fatalf("got %v, %v; want won", won, err)
	}
	wantVer(t, s, me, rows[0].Ver)
}

func wantVer(t *testing.T, s *Store, id, want uint64) {
	t.Helper()
	rows, err := s.Fresh(t.Context(), []uint64{id})
	if err != nil || rows[id].Ver != want {
		t.Fatalf("got %+v, %v, want ver %d", rows[id], err, want)
	}
}

// Of many that fold the same batch at once, one wins.
func TestStore_Fold_Race(t *testing.T) {
	s := newStore(t)
	me := dbtest.IDs(t, 1)[0]
	batch := logged(t, me, me)
	var wg sync.WaitGroup
	won := make([]bool, 8)
	for i := range won {
		wg.Go(func() {
			var err error
			won[i], err = s.Fold(context.Background(), repo.Bucket(me), []Row{{Meta: of(me, 0), At: 1, Entries: []Entry{{3, float32(i + 1)}}}}, []interaction.Batch{batch}, 1)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := 0
	for _, w := range won {
		if w {
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%d have won, want 1", n)
	}
}

func TestStore_Fold_Many(t *testing.T) {
	s, ctx := newStore(t), t.Context()
	base := dbtest.IDs(t, 1)[0]
	var rows []Row
	entries := make([]Entry, 500)
	for i := range entries {
		entries[i] = Entry{uint64(i + 1), float32(1000 - i)}
	}
	for i := range 1000 {
		rows = append(rows, Row{Meta: of(base+uint64(i+1)<<20, 0), At: 9, Entries: entries})
	}
	if won, err := s.Fold(ctx, repo.Bucket(base), rows, nil, 1); err != nil || !won {
		t.Fatalf("got %v, %v", won, err)
	}
	wantVer(t, s, base+1000<<20, rows[999].Ver)
}

func TestStore_BadBytes(t *testing.T) {
	pool := dbtest.DB(t)
	var log strings.Builder
	s := New(pool, cache.NewNone(), slog.New(slog.NewTextHandler(&log, nil)))
	me := dbtest.IDs(t, 1)[0]
	if _, err := pool.Exec(`INSERT INTO affinity (bucket, account_id, ver, list, updated_at) VALUES (?, ?, 7, 'junk', 1)`, repo.Bucket(me), me); err != nil {
		t.Fatal(err)
	}
	r, err := s.Row(t.Context(), me)
	if err != nil || r.Ver != 7 || len(r.Entries) != 0 || !strings.Contains(log.String(), "begins anew") {
		t.Fatalf("got %+v, %v, log %s", r, err, log.String())
	}
	r.Entries = []Entry{{3, 1}}
	if won, err := s.Fold(t.Context(), repo.Bucket(me), []Row{r}, nil, 1); err != nil || !won {
		t.Fatalf("got %v, %v", won, err)
	}
}

func TestStore_Kept(t *testing.T) {
	s, ctx := newStore(t), t.Context()
	r := Row{Meta: of(5, 3), At: 9, Entries: []Entry{{3, 2}}}
	s.Keep(ctx, r)
	if got, err := s.Kept(ctx, 5, 3); err != nil || !slices.Equal(got.Entries, r.Entries) || got.Ver != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := s.Kept(ctx, 5, 4); err == nil {
		t.Errorf("got %+v of a ver that was not kept", got)
	}
}

func TestStore_Indexes(t *testing.T) {
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id, ver, updated_at, list FROM affinity WHERE (bucket, account_id) IN ((?,?),(?,?)) ORDER BY bucket, account_id`, 1, 1, 2, 2)
}
