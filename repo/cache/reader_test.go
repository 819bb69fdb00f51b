package cache_test

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/waittest"
)

// number is a row whose value is a number.
type number struct{ ver, n uint64 }

var errRefused = errors.New("refused")

func numbers(c cache.Cache, load func(ids []uint64) (map[uint64]number, error)) *cache.Reader[number] {
	return &cache.Reader[number]{
		Cache: c,
		Key:   func(b []byte, id uint64) []byte { return strconv.AppendUint(append(b, "n1:"...), id, 10) },
		Unpack: func(_ uint64, e cache.Entry) (number, error) {
			if e.Ver > 0 && len(e.Value) != 8 {
				return number{}, errRefused
			}
			if e.Ver == 0 {
				return number{}, nil
			}
			return number{e.Ver, binary.BigEndian.Uint64(e.Value)}, nil
		},
		Pack: func(n number) cache.Entry {
			if n.ver == 0 {
				return cache.Entry{}
			}
			return cache.Entry{Ver: n.ver, Value: binary.BigEndian.AppendUint64(nil, n.n)}
		},
		Load: func(_ context.Context, ids []uint64) (map[uint64]number, error) { return load(ids) },
	}
}

func TestReader_Read(t *testing.T) {
	c := cachetest.Local(t)
	var loads atomic.Int32
	r := numbers(c, func(ids []uint64) (map[uint64]number, error) {
		loads.Add(1)
		out := map[uint64]number{}
		for _, id := range ids {
			if id < 100 { // the others are absent
				out[id] = number{1, id * 10}
			}
		}
		return out, nil
	})
	want := func(ids []uint64, wantLoads int32) {
		t.Helper()
		got, err := r.Read(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if id < 100 && got[i].n != id*10 || id >= 100 && got[i].ver != 0 {
				t.Errorf("row %d is %+v", id, got[i])
			}
		}
		if loads.Load() != wantLoads {
			t.Errorf("%d loads, want %d", loads.Load(), wantLoads)
		}
	}
	want([]uint64{1, 2, 2, 500}, 1)
	want([]uint64{1, 2, 500}, 1) // absent rows are remembered too
	want([]uint64{2, 3}, 2)
	c.Drop(t.Context(), []string{"n1:1"})
	c.Put(t.Context(), []cache.Entry{{Key: "n1:1", Ver: 9, Value: []byte("junk")}})
	want([]uint64{1}, 3) // what does not unpack is loaded
	want([]uint64{1}, 3) // and mended
}

// Who asks for heads does not pay for lists: they are not even checked.
func TestReader_Heads_Partial(t *testing.T) {
	r := numbers(cachetest.Local(t), func([]uint64) (map[uint64]number, error) { return nil, errRefused })
	r.Pack = func(n number) cache.Entry {
		return cache.Entry{Ver: n.ver, Value: binary.BigEndian.AppendUint64(nil, n.n), Body: []byte("a list")}
	}
	unpack, bodies := r.Unpack, 0
	r.Unpack = func(id uint64, e cache.Entry) (number, error) {
		if len(e.Body) > 0 || !e.Partial {
			bodies++
		}
		return unpack(id, e)
	}
	r.Put(t.Context(), []uint64{7}, []number{{1, 70}})
	for range 2 {
		if got, err := r.Heads(t.Context(), []uint64{7}); err != nil || got[0].n != 70 || bodies > 0 {
			t.Errorf("got %v, %v, and %d bodies; want 70 and none", got, err, bodies)
		}
	}
	if got, err := r.Read(t.Context(), []uint64{7}); err != nil || got[0].n != 70 || bodies != 1 {
		t.Errorf("got %v, %v, and %d bodies; want 70 and one", got, err, bodies)
	}
}

func TestReader_Read_LoadFails(t *testing.T) {
	r := numbers(cache.NewNone(), func([]uint64) (map[uint64]number, error) { return nil, errRefused })
	if _, err := r.Read(t.Context(), []uint64{1}); !errors.Is(err, errRefused) {
		t.Errorf("got %v, want what Load answered", err)
	}
}

// A reader that comes after a commit must not join a load that began before.
func TestReader_Put(t *testing.T) {
	c := cachetest.Local(t)
	begun, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	r := numbers(c, func([]uint64) (map[uint64]number, error) {
		once.Do(func() { close(begun); <-release })
		return map[uint64]number{1: {1, 10}}, nil
	})
	old := make(chan number)
	go func() {
		got, _ := r.One(context.Background(), 1)
		old <- got
	}()
	waittest.Receive(t, patience, "load", begun)
	r.Put(t.Context(), []uint64{1}, []number{{2, 20}})
	got, err := r.One(t.Context(), 1)
	if err != nil || got.n != 20 {
		t.Errorf("after the commit: %+v, %v; want 20", got, err)
	}
	close(release)
	if n := waittest.Receive(t, patience, "answer", old); n.n != 10 {
		t.Errorf("the load from before the commit answered %+v", n)
	}
	if got, _ := r.One(t.Context(), 1); got.n != 20 {
		t.Errorf("the late fill brought the old row back: %+v", got)
	}
}

// After a write with an unknown outcome nobody gets what was known before it.
func TestReader_Forget(t *testing.T) {
	c := cachetest.Local(t)
	var n atomic.Uint64
	begun, release := make(chan struct{}), make(chan struct{})
	r := numbers(c, func(ids []uint64) (map[uint64]number, error) {
		if ids[0] == 2 && n.Load() == 1 {
			close(begun)
			<-release
		}
		return map[uint64]number{ids[0]: {n.Load(), n.Load()}}, nil
	})
	want := func(id, want uint64) {
		t.Helper()
		if got, err := r.One(t.Context(), id); err != nil || got.n != want {
			t.Errorf("row %d: got %+v, %v, want %d", id, got, err, want)
		}
	}
	n.Store(1)
	want(1, 1)
	old := make(chan struct{})
	go func() { defer close(old); _, _ = r.One(context.Background(), 2) }()
	waittest.Receive(t, patience, "load", begun)
	n.Store(2)
	want(1, 1) // held
	r.Forget(t.Context(), []uint64{1, 2})
	want(1, 2)
	want(2, 2) // and not from the load that began before
	close(release)
	waittest.Receive(t, patience, "answer", old)
}

// Where the cache holds a higher ver than was committed, the database tells whether
// that is a later commit or of a history that is lost.
func TestReader_Put_Ahead(t *testing.T) {
	c := cachetest.Local(t)
	row, loadErr := number{9, 90}, error(nil)
	r := numbers(c, func([]uint64) (map[uint64]number, error) { return map[uint64]number{1: row}, loadErr })
	held := func() number {
		t.Helper()
		got := getAll(t.Context(), c, []string{"n1:1"})["n1:1"]
		return number{ver: got.Ver}
	}
	put := func(n number) { r.Put(t.Context(), []uint64{1}, []number{n}) }
	put(row)
	put(number{5, 50})
	if got := held(); got.ver != 9 {
		t.Errorf("the database is at ver 9 and the cache at %d: a later commit must stay", got.ver)
	}
	row = number{5, 50} // the last commits are lost
	put(number{5, 50})
	if got, err := r.One(t.Context(), 1); err != nil || got != row {
		t.Errorf("got %+v, %v; want what the database has", got, err)
	}
	row = number{0, 0} // and now the whole row
	put(row)
	if got, err := r.One(t.Context(), 1); err != nil || got != row {
		t.Errorf("got %+v, %v; want what the database has: nothing", got, err)
	}
	put(number{9, 90})
	loadErr = errRefused
	put(number{5, 50})
	if got := held(); got.ver != 0 {
		t.Errorf("the database did not answer and the cache is at %d: what is in doubt must go", got.ver)
	}
}
