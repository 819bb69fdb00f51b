package cache

import (
	"context"
	"slices"
	"time"
)

// Get puts what the servers hold of keys into out, asking them all at once. Bodies
// that are stored apart are taken from this process where it has them, else they
// are asked for in a second round.
func (m *Memcached) Get(ctx context.Context, keys []string, out []Held) {
	if ctx.Err() != nil || !m.enter() {
		return
	}
	defer m.calls.Done()
	away := m.ask(ctx, keys, out)
	m.complete(ctx, keys, out)
	m.count(out, away)
}

// Heads puts what this process has asked for or put a moment ago into out, and of
// the other keys what the servers hold, without bodies that are stored apart.
func (m *Memcached) Heads(ctx context.Context, keys []string, out []Held) {
	if ctx.Err() != nil || !m.enter() {
		return
	}
	defer m.calls.Done()
	var far []string
	var at []int
	now := m.nearHeads.now()
	for i, key := range keys {
		if out[i].Entry, out[i].Found = m.nearHeads.get(key, now); !out[i].Found {
			far, at = append(far, key), append(at, i)
		}
	}
	away := 0
	if len(far) > 0 {
		away = m.farHeads(ctx, far, at, out)
	}
	m.count(out, away)
}

// farHeads asks for heads; at says where they go in out.
func (m *Memcached) farHeads(ctx context.Context, keys []string, at []int, out []Held) (away int) {
	drops := m.drops.Load()
	found := make([]Held, len(keys))
	away = m.ask(ctx, keys, found)
	for i, h := range found {
		if !h.Found || h.kind == kindHole && len(h.Value) == 0 {
			continue
		}
		out[at[i]] = h
		near := h.head()
		near.Value = slices.Clone(near.Value) // lets go of the rest of the item
		m.nearHeads.put(near)
		if m.drops.Load() != drops { // it may be one of those dropped
			m.nearHeads.drop(keys[i])
		}
	}
	return away
}

// head is an entry without its body.
func (e Entry) head() Entry {
	e.Partial = e.Partial || len(e.Body) > 0
	e.Body, e.Token = nil, Token{}
	return e
}

func (m *Memcached) count(all []Held, away int) {
	found := 0
	for i := range all {
		if all[i].Found {
			found++
		}
	}
	m.metrics.hit.Add(float64(found))
	m.metrics.miss.Add(float64(max(0, len(all)-found-away)))
	if away > 0 {
		m.metrics.away.Add(float64(away))
	}
}

// complete adds the bodies of entries that are stored apart; an entry whose body
// is not to be had is not found. Nor is one whose body is of another ver: a lower one
// is a late writer's, a higher one may be of a history that the database has lost.
func (m *Memcached) complete(ctx context.Context, keys []string, all []Held) {
	var bodies []string
	var at []int
	for i := range all {
		h := &all[i]
		if !h.Found || h.kind == kindWhole {
			continue
		}
		near, ok := m.near.get(keys[i], h.Ver)
		switch {
		case ok:
			near.Token, h.Entry = h.Token, near
			continue
		case h.kind == kindApart:
			bodies, at = append(bodies, bodyKey(keys[i])), append(at, i)
		}
		h.Found = false
	}
	if len(bodies) == 0 {
		return
	}
	got := make([]Held, len(bodies))
	m.ask(ctx, bodies, got)
	for i, b := range got {
		h := &all[at[i]]
		if !b.Found || b.kind != kindWhole || b.Ver != h.Ver {
			continue
		}
		b.Key, b.Token = keys[at[i]], h.Token
		m.near.put(b.Entry)
		h.Entry, h.Found = b.Entry, true
	}
}

// answer is what a node says to a batch.
type answer struct {
	batch
	found []Held
	there bool
}

// ask asks each server for its keys and waits for all, or until ctx ends. What is
// held of each key is put into out; the others are left as they are. away is how
// many keys no server was there for.
//
// A single batch is asked for without a goroutine, which costs a third of the
// answer, where ctx lasts longer than what bounds it anyway.
func (m *Memcached) ask(ctx context.Context, keys []string, out []Held) (away int) {
	batches := m.batches(m.names.Load(), keys)
	if deadline, ends := ctx.Deadline(); len(batches) == 1 && (!ends || time.Until(deadline) > 3*m.timeout) {
		b := batches[0]
		if !b.node.get(b.names, b.keys, b.at, out) {
			return len(b.keys)
		}
		for i := range out {
			if out[i].Found {
				out[i].Key = keys[i]
			}
		}
		return 0
	}
	answers := make(chan answer, len(batches))
	for _, b := range batches {
		m.calls.Go(func() { answers <- b.ask() })
	}
	for range batches {
		select {
		case a := <-answers:
			away += a.take(keys, out)
		case <-ctx.Done():
			return away
		}
	}
	return away
}

func (b batch) ask() answer {
	found, at := make([]Held, len(b.keys)), make([]int, len(b.keys))
	for i := range at {
		at[i] = i
	}
	return answer{b, found, b.node.get(b.names, b.keys, at, found)}
}

// take puts an answer where it belongs.
func (a answer) take(keys []string, out []Held) (away int) {
	if !a.there {
		return len(a.keys)
	}
	for i, h := range a.found {
		if h.Found {
			h.Key = keys[a.at[i]]
			out[a.at[i]] = h
		}
	}
	return 0
}
