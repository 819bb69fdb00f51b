package row_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/row"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// note is the simplest kind of row: its list is text. It lives in the table affinity.
type note struct {
	row.Meta
	text string
}

// kind of notes; what is attached to a row is the text "attached".
func kind(attached *[]uint64) row.Kind[note] {
	return row.Kind[note]{
		Table:   `affinity`,
		Columns: []string{`list`},
		Meta:    func(n *note) *row.Meta { return &n.Meta },
		Empty:   func(m row.Meta) note { return note{m, "empty"} },
		Scan: func(n *note, scan func(...any) error) error {
			return scan(&n.text)
		},
		Values: func(args []any, n *note) ([]any, error) {
			if n.text == "refused" {
				return nil, repo.ErrTooLarge
			}
			return append(args, []byte(n.text)), nil
		},
		Key:  "t1:",
		Pack: func(n *note) (value, body []byte) { return []byte("head"), []byte(n.text) },
		Unpack: func(m row.Meta, value, body []byte, partial bool) (note, error) {
			if !bytes.Equal(value, []byte("head")) {
				return note{}, errors.New("bad note")
			}
			return note{m, string(body)}, nil
		},
		Attached: func(n *note) bool { return n.text == "attached" },
		Attach: func(_ context.Context, _ *sqlx.Tx, notes []*note) error {
			for _, n := range notes {
				*attached = append(*attached, n.Ver)
			}
			return nil
		},
	}
}

func newStore(t *testing.T, c cache.Cache) (s *row.Store[note], attached *[]uint64) {
	attached = new([]uint64)
	return row.New(dbtest.DB(t), c, kind(attached)), attached
}

// write returns rows as they are in the database, to be replaced by others with a text.
func write(t *testing.T, s *row.Store[note], ids []uint64, text string) []note {
	t.Helper()
	now, err := s.Fresh(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]note, len(ids))
	for i, id := range ids {
		out[i] = note{now[id].Next(100), text}
	}
	return out
}

func swapped(t *testing.T, s *row.Store[note], rows []note) []note {
	t.Helper()
	if won, err := s.Swap(t.Context(), rows); err != nil || !won {
		t.Fatalf("got %v, %v; want won", won, err)
	}
	return rows
}

// wantText checks what the database has, and what a reader of the cache is given.
func wantText(t *testing.T, s *row.Store[note], ids []uint64, want string) {
	t.Helper()
	fresh, err := s.Fresh(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	cached, err := s.Rows(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		if fresh[id].text != want || cached[i].text != want || cached[i].Ver != fresh[id].Ver {
			t.Fatalf("row %d: the database has %q, the cache %q; want %q in both", i, fresh[id].text, cached[i].text, want)
		}
	}
}

func TestStore_Swap(t *testing.T) {
	for name, n := range map[string]int{"Statement": 3, "Transaction": 150} {
		t.Run(name, func(t *testing.T) {
			s, _ := newStore(t, cachetest.Local(t))
			ids := dbtest.IDs(t, n)
			wantText(t, s, ids, "empty")
			first := swapped(t, s, write(t, s, ids, "one"))
			wantText(t, s, ids, "one")
			if slices.ContainsFunc(first, func(n note) bool { return n.Ver != first[0].Ver || n.UpdatedAt != 100 }) {
				t.Errorf("the rows of one swap have different vers or dates: %v", first)
			}
			for _, stale := range []int{0, n / 2, n - 1} {
				rows := write(t, s, ids, "two")
				rows[stale].Ver--
				if won, err := s.Swap(t.Context(), rows); err != nil || won {
					t.Fatalf("row %d is stale: got %v, %v; want lost", stale, won, err)
				}
				wantText(t, s, ids, "one")
			}
			swapped(t, s, write(t, s, ids, "two"))
			wantText(t, s, ids, "two")
		})
	}
	t.Run("None", func(t *testing.T) {
		s, _ := newStore(t, cache.NewNone())
		swapped(t, s, nil)
	})
	t.Run("Refused", func(t *testing.T) {
		s, _ := newStore(t, cache.NewNone())
		ids := dbtest.IDs(t, 2)
		rows := write(t, s, ids, "good")
		rows[1].text = "refused"
		if won, err := s.Swap(t.Context(), rows); won || !errors.Is(err, repo.ErrTooLarge) {
			t.Errorf("got %v, %v; want what Values says", won, err)
		}
		wantText(t, s, ids, "empty")
	})
}

// A row that was to be changed and is not there any more does not come back, and what is
// inserted in its place reads as empty.
func TestStore_Swap_Phantom(t *testing.T) {
	for name, n := range map[string]int{"Statement": 2, "Transaction": 60} {
		t.Run(name, func(t *testing.T) {
			c := &disowner{Cache: cachetest.Local(t)}
			s, _ := newStore(t, c)
			ids := dbtest.IDs(t, n)
			swapped(t, s, write(t, s, ids, "one"))
			rows := write(t, s, ids, "two")
			dbtest.DB(t).MustExec(`DELETE FROM affinity WHERE bucket = ? AND account_id = ?`, repo.Bucket(ids[0]), ids[0])
			if won, err := s.Swap(t.Context(), rows); err != nil || won {
				t.Fatalf("got %v, %v; want lost", won, err)
			}
			if want := "t1:" + strconv.FormatUint(ids[0], 36); !slices.Equal(c.disowned, []string{want}) {
				t.Errorf("disowned %v, want %s", c.disowned, want)
			}
			wantText(t, s, ids[:1], "empty")
			swapped(t, s, write(t, s, ids, "three"))
			wantText(t, s, ids, "three")
		})
	}
}

// disowner notes what the cache is told that the database has lost.
type disowner struct {
	cache.Cache
	disowned []string
}

func (d *disowner) Disown(ctx context.Context, keys []string) {
	d.disowned = append(d.disowned, keys...)
	d.Cache.Disown(ctx, keys)
}

// A row in a wrong bucket, which only a walk comes across, is an error that says where.
func TestStore_Walk_WrongBucket(t *testing.T) {
	s, _ := newStore(t, cachetest.Local(t))
	ids := dbtest.IDs(t, 1)
	id, wrong := ids[0], (repo.Bucket(ids[0])+1)%repo.Buckets
	swapped(t, s, write(t, s, ids, "one"))
	walk := func() error { return s.Walk(t.Context(), 0, 1000, func(note) error { return nil }) }
	dbtest.DB(t).MustExec(`UPDATE affinity SET bucket = ? WHERE bucket = ? AND account_id = ?`, wrong, repo.Bucket(id), id)
	if err, want := walk(), fmt.Sprintf("account %d lies in bucket %d", id, wrong); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	dbtest.DB(t).MustExec(`DELETE FROM affinity WHERE bucket = ? AND account_id = ?`, wrong, id)
	if err := walk(); err != nil {
		t.Error(err)
	}
}

func TestStore_Locked(t *testing.T) {
	s, _ := newStore(t, cachetest.Local(t))
	ids := dbtest.IDs(t, 3)
	swapped(t, s, write(t, s, ids, "one"))
	dbtest.DB(t).MustExec(`UPDATE affinity SET ver = ver + 1, list = 'behind' WHERE bucket = ? AND account_id = ?`, repo.Bucket(ids[1]), ids[1])
	held, err := s.Rows(t.Context(), ids[:2]) // the second is not current
	if err != nil {
		t.Fatal(err)
	}
	held[0].text = "held"
	won, err := s.Locked(t.Context(), ids, held, func(_ *sqlx.Tx, rows map[uint64]note) ([]note, error) {
		if rows[ids[0]].text != "held" || rows[ids[1]].text != "behind" || rows[ids[2]].text != "one" {
			t.Errorf("got %v; want the row that is held and current, and what the database has of the others", rows)
		}
		return []note{{rows[ids[2]].Next(5), "two"}}, nil
	})
	if err != nil || !won {
		t.Fatalf("got %v, %v; want won", won, err)
	}
	wantText(t, s, ids[1:2], "behind") // was only read, and is in the cache all the same
	wantText(t, s, ids[2:], "two")
	if won, err := s.Locked(t.Context(), ids, nil, func(*sqlx.Tx, map[uint64]note) ([]note, error) {
		return nil, repo.ErrTooLarge
	}); won || !errors.Is(err, repo.ErrTooLarge) {
		t.Errorf("got %v, %v; want what edit says", won, err)
	}
}

// TestStore_Locked_NoTime has the caller's time end while another transaction has the row:
// that is an error, not a swap to be tried again.
func TestStore_Locked_NoTime(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, cache.NewNone())
	ids := dbtest.IDs(t, 1)
	swapped(t, s, write(t, s, ids, "one"))
	var tried error
	_, err := s.Locked(t.Context(), ids, nil, func(*sqlx.Tx, map[uint64]note) ([]note, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, tried = s.Locked(ctx, ids, nil, func(*sqlx.Tx, map[uint64]note) ([]note, error) { return nil, nil })
		return nil, nil
	})
	if err != nil || !errors.Is(tried, repo.ErrUnavailable) || !errors.Is(tried, context.DeadlineExceeded) {
		t.Errorf("got %v and %v, want that it had no time", err, tried)
	}
}

// A swap whose answer is lost, and of whose rows others have changed some since, is lost where
// edits can be redone; else the rows that nobody changed prove it.
func TestStore_Swap_Redo(t *testing.T) {
	lossy := dbtest.NewLossy(t, dbtest.DSN(t))
	pool := dbtest.Open(t, db.Config{DSN: lossy.DSN, MaxOpen: 1})
	others, _ := newStore(t, cache.NewNone())
	for _, c := range []struct {
		redo             bool
		moved            int
		won, nobodyKnows bool
	}{
		{redo: true, moved: 0, won: true},
		{redo: true, moved: 1},
		{redo: true, moved: 2},
		{redo: false, moved: 1, won: true},
		{redo: false, moved: 2, nobodyKnows: true},
	} {
		k := kind(new([]uint64))
		k.Redo = c.redo
		s := row.New(pool, cachetest.Local(t), k)
		ids := dbtest.IDs(t, 2)
		rows := write(t, s, ids, "one")
		lossy.Meantime = func() { swapped(t, others, write(t, others, ids[:c.moved], "moved on")) }
		lossy.Lose("INSERT INTO affinity")
		won, err := s.Swap(t.Context(), rows)
		if won != c.won || errors.Is(err, repo.ErrUnavailable) != c.nobodyKnows {
			t.Errorf("%+v: got %v, %v", c, won, err)
		}
	}
}

// What is attached to a row is stored when the row has its next ver, and the row cannot
// be stored without it.
func TestStore_Attach(t *testing.T) {
	s, attached := newStore(t, cache.NewNone())
	ids := dbtest.IDs(t, 2)
	rows := write(t, s, ids, "one")
	rows[1].text = "attached"
	swapped(t, s, rows)
	if !slices.Equal(*attached, []uint64{rows[1].Ver}) || rows[1].Ver == 0 {
		t.Errorf("attached at %d, want once, at ver %d", *attached, rows[1].Ver)
	}
}

func TestStore_Heads(t *testing.T) {
	s, _ := newStore(t, cachetest.Local(t))
	ids := dbtest.IDs(t, 2)
	swapped(t, s, write(t, s, ids[:1], strings.Repeat("long", 1000)))
	for range 2 {
		heads, err := s.Heads(t.Context(), ids)
		if err != nil || heads[0].Ver == 0 || heads[1].Ver != 0 || heads[1].text != "empty" {
			t.Errorf("got %v, %v", heads, err)
		}
	}
	wantText(t, s, ids[:1], strings.Repeat("long", 1000))
}

func TestIDs(t *testing.T) {
	for _, ids := range [][]uint64{nil, {7}, {3, 1 << 31, 2}, {1 << 32, 5}} {
		width := row.Width(ids)
		if got, err := row.ReadIDs(row.AppendIDs(nil, width, ids), width, len(ids)); err != nil || !slices.Equal(got, ids) {
			t.Errorf("%v of width %d came back as %v, %v", ids, width, got, err)
		}
	}
	for name, bad := range map[string]struct {
		b        string
		width, n int
	}{"Short": {"abc", 4, 1}, "Long": {"abcde", 4, 1}, "Width": {"abcde", 5, 1}, "Negative": {"", 4, -1}, "Zero": {"\x00\x00\x00\x00", 4, 1}, "TooHigh": {"\xff\xff\xff\xff\xff\xff\xff\xff", 8, 1}} {
		if got, err := row.ReadIDs([]byte(bad.b), bad.width, bad.n); err == nil {
			t.Errorf("%s: got %v, want an error", name, got)
		}
	}
}
