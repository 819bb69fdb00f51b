package cache

import "context"

// Reader reads one kind of row through a cache: it answers from the cache what
// it can, one caller loads the rest from the database and fills the cache, and
// others that want the same rows meanwhile wait for that caller.
type Reader[V any] struct {
	Cache  Cache
	Flight Flight[V]
	// Key names the entry of a row; the name carries the version of its form.
	Key func(id uint64) string
	// Unpack reads a cached row; an entry that it refuses is dropped and counts
	// as missing.
	Unpack func(id uint64, e Entry) (V, error)
	// Pack writes a row and its ver; ver 0 marks a row known to be absent. The key
	// is set by the reader.
	Pack func(V) Entry
	// Heads says that V needs no body: Unpack gets entries that may be Partial.
	Heads bool
	// Load reads rows from the database, with a value for every id.
	Load func(ctx context.Context, ids []uint64) (map[uint64]V, error)
}

// Read returns the rows of ids, each id once. An error of Load is returned as
// it is, together with what the cache had.
func (r *Reader[V]) Read(ctx context.Context, ids []uint64) (map[uint64]V, error) {
	keys := make([]string, 0, len(ids))
	idOf := make(map[string]uint64, len(ids))
	for _, id := range ids {
		k := r.Key(id)
		if _, twice := idOf[k]; !twice {
			idOf[k] = id
			keys = append(keys, k)
		}
	}
	out := make(map[uint64]V, len(keys))
	missing := r.held(ctx, keys, idOf, out)
	if len(missing) == 0 {
		return out, nil
	}
	loaded, err := r.Flight.Do(ctx, missing, func(ctx context.Context, keys []string) (map[string]V, error) {
		return r.fill(ctx, keys, idOf)
	})
	for k, v := range loaded {
		out[idOf[k]] = v
	}
	return out, err
}

// One returns one row.
func (r *Reader[V]) One(ctx context.Context, id uint64) (V, error) {
	rows, err := r.Read(ctx, []uint64{id})
	return rows[id], err
}

// held puts what the cache has into out and returns the keys it lacks.
func (r *Reader[V]) held(ctx context.Context, keys []string, idOf map[string]uint64, out map[uint64]V) []string {
	get := r.Cache.Get
	if r.Heads {
		get = r.Cache.Heads
	}
	entries := get(ctx, keys)
	missing := keys[:0:0]
	for _, k := range keys {
		e, ok := entries[k]
		if !ok {
			missing = append(missing, k)
			continue
		}
		v, err := r.Unpack(idOf[k], e)
		if err != nil {
			r.Cache.Drop(ctx, []string{k}) // or Fill, which only adds, could not mend it
			missing = append(missing, k)
			continue
		}
		out[idOf[k]] = v
	}
	return missing
}

func (r *Reader[V]) fill(ctx context.Context, keys []string, idOf map[string]uint64) (map[string]V, error) {
	ids := make([]uint64, len(keys))
	for i, k := range keys {
		ids[i] = idOf[k]
	}
	rows, err := r.Load(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[string]V, len(keys))
	entries := make([]Entry, len(keys))
	for i, k := range keys {
		v := rows[ids[i]]
		out[k] = v
		entries[i] = r.Pack(v)
		entries[i].Key = k
	}
	r.Cache.Fill(ctx, entries)
	return out, nil
}

// Tell puts committed rows into the cache; a reader that comes later does not
// join a load that began before.
func (r *Reader[V]) Tell(ctx context.Context, ids []uint64, rows []V) {
	keys := make([]string, len(ids))
	entries := make([]Entry, len(ids))
	for i, id := range ids {
		keys[i] = r.Key(id)
		entries[i] = r.Pack(rows[i])
		entries[i].Key = keys[i]
	}
	r.Flight.Forget(keys)
	r.Cache.Put(ctx, entries)
}

// Outdate keeps readers that come later from joining a load that began before,
// where another Reader of the same rows tells the cache.
func (r *Reader[V]) Outdate(ids []uint64) {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = r.Key(id)
	}
	r.Flight.Forget(keys)
}

// Forget drops what is known of rows that were or may have been written, where
// the writer cannot Tell what they are now.
func (r *Reader[V]) Forget(ctx context.Context, ids []uint64) {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = r.Key(id)
	}
	r.Flight.Forget(keys)
	r.Cache.Drop(ctx, keys)
}
