package cache

import (
	"context"
	"slices"
	"sync"
)

// Reader reads one kind of row through a cache: it answers from the cache what
// it can, one caller loads the rest from the database and fills the cache, and
// others that want the same rows meanwhile wait for that caller.
type Reader[V any] struct {
	Cache Cache
	// Key appends the name of the entry of a row; the name carries the version of
	// its form.
	Key func(b []byte, id uint64) []byte
	// Unpack reads a cached row; an entry that it refuses is dropped and counts
	// as missing.
	Unpack func(id uint64, e Entry) (V, error)
	// Pack writes a row and its ver; ver 0 marks a row known to be absent. The key
	// is set by the reader.
	Pack func(V) Entry
	// Load reads rows from the database, with a value for every id, each once.
	Load func(ctx context.Context, ids []uint64) (map[uint64]V, error)
	// LoadHeads is Load without bodies, for a kind of row that has them.
	LoadHeads func(ctx context.Context, ids []uint64) (map[uint64]V, error)
	// Vers reads the vers of rows from the database, where Load would read much more;
	// a row that is absent may be left out. Without it Load is asked.
	Vers func(ctx context.Context, ids []uint64) (map[uint64]uint64, error)

	rows, heads Flight[uint64, V]
}

// Read returns the row of each id, in their order. An error of Load is returned
// as it is.
func (r *Reader[V]) Read(ctx context.Context, ids []uint64) ([]V, error) {
	return r.read(ctx, ids, false)
}

// Heads is Read for who needs no bodies and bears what is a second late, see Cache.Heads.
func (r *Reader[V]) Heads(ctx context.Context, ids []uint64) ([]V, error) {
	return r.read(ctx, ids, true)
}

func (r *Reader[V]) read(ctx context.Context, ids []uint64, heads bool) ([]V, error) {
	out := make([]V, len(ids))
	missing := r.held(ctx, ids, out, heads)
	if len(missing) == 0 {
		return out, nil
	}
	wanted := make([]uint64, len(missing))
	for i, at := range missing {
		wanted[i] = ids[at]
	}
	flight, load := &r.rows, r.load
	if heads {
		flight, load = &r.heads, r.loadHeads
	}
	loaded, err := flight.Do(ctx, wanted, load)
	if err != nil {
		return nil, err
	}
	for _, i := range missing {
		out[i] = loaded[ids[i]]
	}
	return out, nil
}

// Cached returns what the cache has of ids, in their order, and the places of those that it
// lacks.
func (r *Reader[V]) Cached(ctx context.Context, ids []uint64) (out []V, missing []int) {
	out = make([]V, len(ids))
	return out, r.held(ctx, ids, out, false)
}

// One returns one row.
func (r *Reader[V]) One(ctx context.Context, id uint64) (row V, err error) {
	rows, err := r.Read(ctx, []uint64{id})
	if err != nil {
		return row, err
	}
	return rows[0], nil
}

// keys returns the names of all entries, in one piece of memory.
func (r *Reader[V]) keys(ids []uint64) []string {
	var room [1024]byte
	b := room[:0]
	ends := make([]int, len(ids))
	for i, id := range ids {
		b = r.Key(b, id)
		ends[i] = len(b)
	}
	all, keys, from := string(b), make([]string, len(ids)), 0
	for i, end := range ends {
		keys[i], from = all[from:end], end
	}
	return keys
}

// held puts what the cache has into out and returns the indices of what it lacks.
func (r *Reader[V]) held(ctx context.Context, ids []uint64, out []V, heads bool) (missing []int) {
	keys := r.keys(ids)
	got := borrow(len(keys))
	defer giveBack(got)
	if heads {
		r.Cache.Heads(ctx, keys, *got)
	} else {
		r.Cache.Get(ctx, keys, *got)
	}
	for i := range *got {
		h := &(*got)[i]
		if !h.Found {
			missing = append(missing, i)
			continue
		}
		if heads { // a list that nobody asked for is not read, not even to check it
			h.Body, h.Partial = nil, true
		}
		var err error
		if out[i], err = r.Unpack(ids[i], h.Entry); err != nil {
			r.Cache.Drop(ctx, keys[i:i+1]) // or Fill, which only adds, could not repair it
			missing = append(missing, i)
		}
	}
	return missing
}

// helds are slices to be used again. A page of forty takes more memory for what is
// held than for what is made of it.
var helds = sync.Pool{New: func() any { return new([]Held) }}

// borrow returns n zero Held, to be given back.
func borrow(n int) *[]Held {
	s := helds.Get().(*[]Held)
	*s = slices.Grow((*s)[:0], n)[:n]
	return s
}

func giveBack(s *[]Held) {
	clear(*s)
	helds.Put(s)
}

// load asks the database and fills the cache.
func (r *Reader[V]) load(ctx context.Context, ids []uint64) (map[uint64]V, error) {
	rows, err := r.Load(ctx, ids)
	if err == nil {
		r.fill(ctx, ids, rows, false)
	}
	return rows, err
}

func (r *Reader[V]) loadHeads(ctx context.Context, ids []uint64) (map[uint64]V, error) {
	if r.LoadHeads == nil {
		return r.load(ctx, ids)
	}
	rows, err := r.LoadHeads(ctx, ids)
	if err == nil {
		r.fill(ctx, ids, rows, true)
	}
	return rows, err
}

func (r *Reader[V]) fill(ctx context.Context, ids []uint64, rows map[uint64]V, heads bool) {
	entries := make([]Entry, len(ids))
	for i, key := range r.keys(ids) {
		e := r.Pack(rows[ids[i]])
		if heads && e.Ver > 0 {
			e.Body, e.Partial = nil, true
		}
		e.Key = key
		entries[i] = e
	}
	r.Cache.Fill(ctx, entries)
}

// Put stores committed rows in the cache; a reader that comes later does not
// join a load that began before.
func (r *Reader[V]) Put(ctx context.Context, ids []uint64, rows []V) {
	keys := r.keys(ids)
	entries := make([]Entry, len(ids))
	for i, k := range keys {
		entries[i] = r.Pack(rows[i])
		entries[i].Key = k
	}
	r.rows.Forget(ids)
	r.heads.Forget(ids)
	if ahead := r.Cache.Put(ctx, entries); len(ahead) > 0 {
		r.checkAhead(ctx, ids, keys, ahead)
	}
}

// checkAhead asks the database about rows of which the cache holds a higher ver than was
// just put. What it holds was committed before, so that the database has at
// least that ver, unless it has lost it: with a failover, or a restore.
func (r *Reader[V]) checkAhead(ctx context.Context, ids []uint64, keys []string, ahead map[string]uint64) {
	var doubted []uint64
	for i, k := range keys {
		if ahead[k] > 0 {
			doubted = append(doubted, ids[i])
		}
	}
	vers, err := r.vers(ctx, doubted)
	var lost, unknown []string
	for i, k := range keys {
		switch ver := ahead[k]; {
		case ver == 0:
		case err != nil:
			unknown = append(unknown, k)
		case vers[ids[i]] < ver:
			lost = append(lost, k)
		}
	}
	if len(unknown) > 0 {
		r.Cache.Drop(ctx, unknown)
	}
	if len(lost) > 0 {
		r.Cache.Disown(ctx, lost)
	}
}

func (r *Reader[V]) vers(ctx context.Context, ids []uint64) (map[uint64]uint64, error) {
	if r.Vers != nil {
		return r.Vers(ctx, ids)
	}
	rows, err := r.Load(ctx, ids)
	vers := make(map[uint64]uint64, len(rows))
	for id, v := range rows {
		vers[id] = r.Pack(v).Ver
	}
	return vers, err
}

// Forget drops what is known of rows that were or may have been written, where
// the writer does not know what they are now.
func (r *Reader[V]) Forget(ctx context.Context, ids []uint64) {
	r.rows.Forget(ids)
	r.heads.Forget(ids)
	r.Cache.Drop(ctx, r.keys(ids))
}

// Disown is for rows that the database has lost, after Forget.
func (r *Reader[V]) Disown(ctx context.Context, ids []uint64) {
	if len(ids) > 0 {
		r.Cache.Disown(ctx, r.keys(ids))
	}
}
