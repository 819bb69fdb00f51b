package timeline

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"kith/repo"
	"kith/repo/dbtest"
	"kith/repo/event"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func newStore(t *testing.T) *Store {
	return NewStore(dbtest.DB(t), time.Now, slog.New(slog.DiscardHandler))
}

// builtAt is a line that was built so many milliseconds after another.
func builtAt(ms int, events []event.Event) Line {
	l := filled(events)
	l.BuiltAt = l.BuiltAt.Add(time.Duration(ms) * time.Millisecond)
	return l
}

func save(t *testing.T, s *Store, a uint64, l Line, want bool) {
	t.Helper()
	if saved, err := s.Save(t.Context(), a, l); saved != want || err != nil {
		t.Fatalf("save: got %v, %v, want %v", saved, err, want)
	}
}

func wantRow(t *testing.T, s *Store, a uint64, l Line) Row {
	t.Helper()
	r, err := s.Row(t.Context(), a)
	if err != nil || !reflect.DeepEqual(r.Line, l) || r.ID != a {
		t.Fatalf("got %+v, %v\nwant %+v", r, err, l)
	}
	return r
}

func wantNoRow(t *testing.T, s *Store, a uint64) {
	t.Helper()
	if r, err := s.Row(t.Context(), a); !errors.Is(err, repo.ErrNotFound) {
		t.Fatalf("got %+v, %v, want %v", r, err, repo.ErrNotFound)
	}
}

// A row holds all of a line. One that was built earlier never replaces it.
func TestStore_Save(t *testing.T) {
	s, a := newStore(t), dbtest.IDs(t, 1)[0]
	wantNoRow(t, s, a)
	first := builtAt(0, posts(9, 5, 1))
	save(t, s, a, first, true)
	ver := wantRow(t, s, a, first).Ver
	save(t, s, a, builtAt(0, posts(8)), false)
	save(t, s, a, builtAt(-1, posts(8)), false)
	if r := wantRow(t, s, a, first); r.Ver != ver {
		t.Errorf("got ver %d, want %d", r.Ver, ver)
	}
	later := Line{Follows: math.MaxUint64, Floor: 1, BuiltAt: first.BuiltAt.Add(time.Millisecond)}
	save(t, s, a, later, true)
	if r := wantRow(t, s, a, later); r.Ver <= ver {
		t.Errorf("got ver %d, want more than %d", r.Ver, ver)
	}
	if _, err := s.Save(t.Context(), a, builtAt(9, posts(1, 2))); err == nil {
		t.Error("events in a wrong order: got no error")
	}
	wantRow(t, s, a, later)
}

// Of many who save at once the one whose line was built last wins, or one that nobody
// overtook.
func TestStore_Save_Race(t *testing.T) {
	s, a := newStore(t), dbtest.IDs(t, 1)[0]
	var all sync.WaitGroup
	var mu sync.Mutex
	newest := -1
	for i := range 16 {
		all.Go(func() {
			saved, err := s.Save(t.Context(), a, builtAt(i, posts(i+1)))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if saved {
				newest = max(newest, i)
			}
		})
	}
	all.Wait()
	if newest < 0 {
		t.Fatal("nobody saved")
	}
	wantRow(t, s, a, builtAt(newest, posts(newest+1)))
}

// The largest line fits into a row and into memcached.
func TestStore_Save_Largest(t *testing.T) {
	s, a := newStore(t), dbtest.IDs(t, 1)[0]
	l := builtAt(0, nil)
	for i := range MaxEvents {
		author := uint64(math.MaxInt64 - i*1021)
		l.Pulled = append(l.Pulled, author)
		l.Events = append(l.Events, event.Event{ID: uint64(math.MaxInt64-i*(1<<49))&^1023 | author&1023, Author: author, Origin: uint64(1 + i*1023)})
	}
	slices.Sort(l.Pulled)
	more := l
	more.Events = append(slices.Clone(l.Events), event.Event{ID: l.Events[MaxEvents-1].ID - 1024, Author: l.Events[MaxEvents-1].Author})
	l.Floor = l.Events[MaxEvents-1].ID
	save(t, s, a, more, true) // of which the newest are kept
	wantRow(t, s, a, l)
	if b, err := pack(1, l); err != nil || len(b) > maxItem/2 {
		t.Errorf("got %d bytes, %v, want at most half of what memcached takes", len(b), err)
	}
}

// A row that cannot be read counts as none, is logged, and is replaced.
func TestStore_Bad(t *testing.T) {
	var log bytes.Buffer
	s := NewStore(dbtest.DB(t), time.Now, slog.New(slog.NewTextHandler(&log, nil)))
	for name, change := range map[string]string{
		"list": `list = SUBSTRING(list, 1, LENGTH(list) - 1)`, "no list": `list = ''`,
		"pulled": `pulled = CONCAT(pulled, 'x')`, "no pulled": `pulled = ''`, "pulled twice": `pulled = X'020100'`,
	} {
		a := dbtest.IDs(t, 1)[0]
		save(t, s, a, builtAt(9, posts(2, 1)), true)
		dbtest.DB(t).MustExec(`UPDATE timeline SET `+change+` WHERE bucket = ? AND account_id = ?`, repo.Bucket(a), a)
		log.Reset()
		wantNoRow(t, s, a)
		if !bytes.Contains(log.Bytes(), []byte("begins anew")) {
			t.Errorf("%s: got the log %q", name, log.String())
		}
		save(t, s, a, builtAt(1, posts(3)), true)
		wantRow(t, s, a, builtAt(1, posts(3)))
	}
}

// A row that is deleted while somebody saves another version of it does not come back.
func TestStore_Drop(t *testing.T) {
	s, a := newStore(t), dbtest.IDs(t, 1)[0]
	save(t, s, a, builtAt(0, posts(1)), true)
	late, err := s.Row(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Drop(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		wantNoRow(t, s, a)
	}
	if won, err := s.rows.Swap(t.Context(), []Row{{Meta: late.Next(9), Line: builtAt(1, posts(2))}}); won || err != nil {
		t.Fatalf("got %v, %v, want a lost swap", won, err)
	}
	wantNoRow(t, s, a)
	save(t, s, a, builtAt(0, posts(3)), true)
	wantRow(t, s, a, builtAt(0, posts(3)))
}

// Expire deletes what is old, and what it walked by and is old no more stays.
func TestStore_Expire(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	s := NewStore(dbtest.DB(t), func() time.Time { return now }, slog.New(slog.DiscardHandler))
	ids := dbtest.IDs(t, 30)
	for i, a := range ids {
		now = time.Unix(1_000_000+int64(i), 0)
		save(t, s, a, builtAt(0, posts(1)), true)
	}
	seen := map[uint64]uint32{}
	for after, page := uint64(0), []repo.Aged(nil); ; after = page[len(page)-1].AccountID {
		var err error
		if page, err = s.Walk(t.Context(), after, 7); err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		if len(page) > 7 {
			t.Fatalf("got %d rows, want 7 at most", len(page))
		}
		for _, o := range page {
			seen[o.AccountID] = o.UpdatedAt
		}
	}
	for i, a := range ids {
		if seen[a] != uint32(1_000_000+i) {
			t.Errorf("row %d: got %d as of when it was written", i, seen[a])
		}
	}
	now = time.Unix(2_000_000, 0)
	save(t, s, ids[3], builtAt(1, posts(2)), true)
	if n, err := s.Expire(t.Context(), append(ids, ids[0]+1<<40), 1_000_010); n != 9 || err != nil {
		t.Fatalf("got %d, %v, want 9", n, err)
	}
	for i, a := range ids {
		if i < 10 && i != 3 {
			wantNoRow(t, s, a)
		} else if _, err := s.Row(t.Context(), a); err != nil {
			t.Errorf("row %d: %v", i, err)
		}
	}
	if n, err := s.Expire(t.Context(), nil, math.MaxUint32); n != 0 || err != nil {
		t.Errorf("of nobody: got %d, %v", n, err)
	}
}

// After the end of the context there is an error, and nothing else.
func TestStore_Over(t *testing.T) {
	s, a := newStore(t), dbtest.IDs(t, 1)[0]
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, rowErr := s.Row(over, a)
	_, saveErr := s.Save(over, a, builtAt(0, posts(1)))
	_, walkErr := s.Walk(over, 0, 9)
	_, expireErr := s.Expire(over, []uint64{a}, 1)
	for name, err := range map[string]error{"row": rowErr, "save": saveErr, "walk": walkErr, "expire": expireErr, "drop": s.Drop(over, a)} {
		if err == nil || errors.Is(err, repo.ErrNotFound) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	wantNoRow(t, s, a)
}
