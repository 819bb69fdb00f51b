package cache

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Get returns what the servers hold of keys, asking them all at once. Bodies that
// are stored apart are taken from this process where it has them, else they are
// asked for in a second round.
func (m *Memcached) Get(ctx context.Context, keys []string) map[string]Entry {
	if ctx.Err() != nil || !m.enter() {
		return map[string]Entry{}
	}
	defer m.calls.Done()
	out, apart, away := m.heads(ctx, keys)
	if len(apart) > 0 {
		m.bodies(ctx, apart, out)
	}
	m.count(len(keys), len(out), away)
	return out
}

// Heads returns what this process has asked for or put a moment ago, and of the
// other keys what the servers hold, without bodies that are stored apart.
func (m *Memcached) Heads(ctx context.Context, keys []string) map[string]Entry {
	if ctx.Err() != nil || !m.enter() {
		return map[string]Entry{}
	}
	defer m.calls.Done()
	out := make(map[string]Entry, len(keys))
	var far []string
	for _, key := range keys {
		if e, ok := m.nearHeads.get(key, 0); ok {
			out[key] = e
		} else {
			far = append(far, key)
		}
	}
	away := 0
	if len(far) > 0 {
		away = m.farHeads(ctx, far, out)
	}
	m.count(len(keys), len(out), away)
	return out
}

// farHeads adds the heads of keys to out.
func (m *Memcached) farHeads(ctx context.Context, keys []string, out map[string]Entry) (away int) {
	drops := m.drops.Load()
	whole, apart, away := m.heads(ctx, keys)
	for key, e := range apart {
		if e.kind == kindApart || len(e.Value) > 0 {
			whole[key] = e.Entry
		}
	}
	for key, e := range whole {
		out[key] = e
		if m.drops.Load() == drops { // else it may be one of those dropped
			near := e.head()
			near.Value = slices.Clone(near.Value) // lets go of the rest of the item
			m.nearHeads.put(near)
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

func (m *Memcached) count(asked, found, away int) {
	m.metrics.hit.Add(float64(found))
	m.metrics.away.Add(float64(away))
	m.metrics.miss.Add(float64(max(0, asked-found-away)))
}

// heads returns entries that are whole, and those whose bodies are elsewhere.
// away is how many keys no server was there for.
func (m *Memcached) heads(ctx context.Context, keys []string) (whole map[string]Entry, apart map[string]found, away int) {
	whole = make(map[string]Entry, len(keys))
	all, away := m.ask(ctx, keys)
	for key, e := range all {
		if e.kind == kindWhole {
			whole[key] = e.Entry
			continue
		}
		if apart == nil {
			apart = make(map[string]found)
		}
		apart[key] = e
	}
	return whole, apart, away
}

// bodies completes entries into out. A body may be of a later ver than its
// entry, which makes it a later commit of the row and as good; one of an earlier
// ver is a late writer's, and counts as missing.
func (m *Memcached) bodies(ctx context.Context, apart map[string]found, out map[string]Entry) {
	var missing []string
	for key, e := range apart {
		if near, ok := m.near.get(key, e.Ver); ok {
			out[key] = near.with(e.Entry)
		} else if e.kind == kindApart {
			missing = append(missing, bodyKey(key))
		}
	}
	if len(missing) == 0 {
		return
	}
	got, _ := m.ask(ctx, missing)
	for body, e := range got {
		key := strings.TrimSuffix(body, bodySuffix)
		if e.kind != kindWhole || e.Ver < apart[key].Ver {
			continue
		}
		e.Key = key
		m.near.put(e.Entry)
		out[key] = e.with(apart[key].Entry)
	}
}

// with is a whole entry that is known by its head: the token is the head's, if it
// stands for the same ver.
func (e Entry) with(head Entry) Entry {
	e.Token = Token{}
	if e.Ver == head.Ver {
		e.Token = head.Token
	}
	return e
}

// answer is what a node says to a batch.
type answer struct {
	found map[string]found
	away  int
}

func (b batch) ask() answer {
	all, there := b.node.get(b.keys)
	if !there {
		return answer{away: len(b.keys)}
	}
	return answer{found: all}
}

// ask asks each server for its keys and waits for all, or until ctx ends. A
// single batch is asked for without a goroutine, which costs a third of the
// answer, where ctx lasts longer than the time-out that bounds it anyway.
func (m *Memcached) ask(ctx context.Context, keys []string) (all map[string]found, away int) {
	batches := m.batches(keys)
	answers := make(chan answer, len(batches))
	if deadline, ends := ctx.Deadline(); len(batches) == 1 && (!ends || time.Until(deadline) > m.timeout) {
		answers <- batches[0].ask()
	} else {
		for _, b := range batches {
			m.calls.Go(func() { answers <- b.ask() })
		}
	}
	all = make(map[string]found, len(keys))
	for range batches {
		select {
		case a := <-answers:
			away += a.away
			for key, e := range a.found {
				e.Key = key[len(m.prefix):]
				all[e.Key] = e
			}
		case <-ctx.Done():
			return all, away
		}
	}
	return all, away
}
