package suggest

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func newStore(t *testing.T) *Store {
	return New(dbtest.DB(t), cachetest.Local(t), time.Now, slog.New(slog.DiscardHandler))
}

func TestStore_Edit(t *testing.T) {
	s, ctx := newStore(t), t.Context()
	me := dbtest.IDs(t, 1)[0]
	if r, err := s.Row(ctx, me); err != nil || r.Ver != 0 {
		t.Fatalf("got %+v, %v", r, err)
	}
	if err := s.Edit(ctx, me, func(r *Row) bool { return r.Dismiss(7) }); err != nil {
		t.Fatal(err)
	}
	if err := s.Edit(ctx, me, func(r *Row) bool { r.Suggest([]uint64{5, 7, 1 << 40}, 99); return true }); err != nil {
		t.Fatal(err)
	}
	if err := s.Edit(ctx, me, func(r *Row) bool { return r.Dismiss(7) }); err != nil { // again: nothing to do
		t.Fatal(err)
	}
	for _, fresh := range []bool{true, false} {
		r, err := s.Row(ctx, me)
		if fresh {
			var rows map[uint64]Row
			rows, err = s.rows.Fresh(ctx, []uint64{me})
			r = rows[me]
		}
		if err != nil || r.Ver == 0 || r.MadeAt != 99 || !slices.Equal(r.Suggested, []uint64{5, 1 << 40}) || !slices.Equal(r.Dismissed, []uint64{7}) {
			t.Errorf("got %+v, %v", r, err)
		}
	}
	if made, err := s.MadeAt(ctx, []uint64{me, me + 1}); err != nil || len(made) != 1 || made[me] != 99 {
		t.Errorf("got %v, %v", made, err)
	}
}

// After an unknown outcome of a swap the row is not in the cache.
func TestStore_Edit_UnknownOutcome(t *testing.T) {
	s, ctx := newStore(t), t.Context()
	me := dbtest.IDs(t, 1)[0]
	dismiss := func(ctx context.Context, id uint64) error {
		return s.Edit(ctx, me, func(r *Row) bool { return r.Dismiss(id) })
	}
	if err := dismiss(ctx, 7); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(ctx)
	err := s.Edit(over, me, func(r *Row) bool { // the caller goes while the swap is under way
		dbtest.DB(t).MustExec(`UPDATE suggest SET made_at = 5, ver = ver + 2 WHERE bucket = ? AND account_id = ?`, repo.Bucket(me), me)
		cancel()
		return r.Dismiss(8)
	})
	if !errors.Is(err, repo.ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
	if r, err := s.Row(ctx, me); err != nil || r.MadeAt != 5 {
		t.Errorf("got %+v, %v, want what the database holds", r, err)
	}
	if err := dismiss(ctx, 8); err != nil { // once more
		t.Fatal(err)
	}
	if r, err := s.Row(ctx, me); err != nil || !slices.Equal(r.Dismissed, []uint64{8, 7}) {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A row whose bytes are bad counts as empty, and the next edit mends it.
func TestStore_BadBytes(t *testing.T) {
	pool := dbtest.DB(t)
	var log strings.Builder
	s := New(pool, cache.NewNone(), time.Now, slog.New(slog.NewTextHandler(&log, nil)))
	me := dbtest.IDs(t, 1)[0]
	pool.MustExec(`INSERT INTO suggest (bucket, account_id, ver, list, made_at, updated_at) VALUES (?, ?, 7, 'junk', 99, 1)`, repo.Bucket(me), me)
	r, err := s.Row(t.Context(), me)
	if err != nil || r.Ver != 7 || r.MadeAt != 0 || len(r.Suggested) != 0 || !strings.Contains(log.String(), "begin anew") {
		t.Fatalf("got %+v, %v, log %s", r, err, log.String())
	}
	if err := s.Edit(t.Context(), me, func(r *Row) bool { r.Suggest([]uint64{5}, 100); return true }); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Row(t.Context(), me); err != nil || r.Ver <= 7 || !slices.Equal(r.Suggested, []uint64{5}) {
		t.Errorf("got %+v, %v", r, err)
	}
}

// Dismissals that come at once are all kept.
func TestStore_Edit_Race(t *testing.T) {
	s, ctx := newStore(t), t.Context()
	me := dbtest.IDs(t, 1)[0]
	var wg sync.WaitGroup
	for i := range uint64(8) {
		wg.Go(func() {
			if err := s.Edit(ctx, me, func(r *Row) bool { return r.Dismiss(i + 1) }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if rows, err := s.rows.Fresh(ctx, []uint64{me}); err != nil || len(rows[me].Dismissed) != 8 {
		t.Errorf("got %+v, %v", rows[me], err)
	}
}

func TestRow_Bounds(t *testing.T) {
	var r Row
	for i := range uint64(MaxDismissed + 10) {
		r.Dismiss(i + 1)
	}
	if len(r.Dismissed) != MaxDismissed || r.Dismissed[0] != MaxDismissed+10 {
		t.Errorf("got %d dismissed, newest %d", len(r.Dismissed), r.Dismissed[0])
	}
	many := make([]uint64, 200)
	for i := range many {
		many[i] = uint64(5000 + i)
	}
	if r.Suggest(many, 1); len(r.Suggested) != MaxSuggested {
		t.Errorf("got %d suggested", len(r.Suggested))
	}
}

func TestRow_Golden(t *testing.T) {
	for text, want := range map[string]Row{
		"010400020001" + "00000007" + "00000002" + "00000009": {Suggested: []uint64{7, 2}, Dismissed: []uint64{9}},
		"010800010000" + "0000000100000000":                   {Suggested: []uint64{1 << 32}},
		"010400000000":                                        {},
	} {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		var r Row
		if err := r.decode(raw); err != nil || !slices.Equal(r.Suggested, want.Suggested) || !slices.Equal(r.Dismissed, want.Dismissed) {
			t.Errorf("got %+v, %v, want %+v", r, err, want)
		}
		if got := hex.EncodeToString(want.encode()); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
}

func TestRow_Bad(t *testing.T) {
	for _, text := range []string{"", "020400000000", "010500000000", "01040001000000", "0104000100000000000000", "0108000100008000000000000000", "0104ffff0000"} {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := new(Row).decode(raw); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func FuzzRow(f *testing.F) {
	f.Add(Row{Suggested: []uint64{7, 2}, Dismissed: []uint64{1 << 40}}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, again Row
		if r.decode(b) != nil {
			return
		}
		if err := again.decode(r.encode()); err != nil || !slices.Equal(r.Suggested, again.Suggested) || !slices.Equal(r.Dismissed, again.Dismissed) {
			t.Fatalf("got %+v, %v, want %+v", again, err, r)
		}
	})
}

func TestStore_Indexes(t *testing.T) {
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id, ver, updated_at, list, made_at FROM suggest WHERE (bucket, account_id) IN ((?,?),(?,?)) ORDER BY bucket, account_id`, 1, 1, 2, 2)
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id, made_at FROM suggest WHERE (bucket, account_id) IN ((?,?),(?,?))`, 1, 1, 2, 2)
}
