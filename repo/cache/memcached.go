package cache

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kith/repo/memcache"
)

const (
	// maxSwaps is how often Put tries to store a row. Each lost race means that
	// another writer stored, mostly of a higher ver, so as many tries as there
	// are writers of one row are enough.
	maxSwaps = 32
	// bodiesFor is how long a process keeps a long body at most, so that the memory of
	// a busy process is soon as large as it will be.
	bodiesFor = time.Minute
)

// Memcached is a cache in memcached servers, shared by all processes, with a memory of
// this process in front.
type Memcached struct {
	cfg      Config
	client   *memcache.Client
	local    *memory // heads for Config.Late, and entries with long bodies
	metrics  *metrics
	sealer   atomic.Pointer[sealer]
	watch    *watch
	recent   recent        // used where the identity may change
	drops    atomic.Uint64 // grows with each Drop, before and after
	disowned atomic.Bool   // a row of a lost history was found, and that was logged
	closed   atomic.Bool
}

var _ Cache = (*Memcached)(nil)

// NewMemcached returns a cache in the servers of cfg.Client. Close it.
func NewMemcached(cfg Config) (*Memcached, error) {
	cfg = cfg.withDefaults()
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, 64<<20)
	switch {
	case cfg.Expiry < 0, cfg.AbsentExpiry < 0:
		return nil, errors.New("memcached: a negative expiry")
	case max(cfg.Expiry, cfg.AbsentExpiry) > memcache.MaxExpiry:
		return nil, errors.New("memcached: an expiry over 30 days")
	}
	m := &Memcached{cfg: cfg, client: cfg.Client}
	m.sealer.Store(newSealer(cfg.Identity))
	var err error
	if m.metrics, err = newMetrics(cfg.Registerer); err != nil {
		return nil, err
	}
	m.local, err = newMemory(cfg.MaxBytes, func(k kept) time.Duration {
		if k.Partial {
			return cfg.Late
		}
		return min(bodiesFor, cfg.Expiry)
	})
	if err != nil {
		m.metrics.close()
		return nil, err
	}
	if cfg.Identify != nil {
		m.watch = newWatch(cfg.Identify, cfg.Log, m.recent.ask, m.identified)
	}
	return m, nil
}

// identified takes over the identity that the database was just found to have. Where
// it is a new one nothing that was known before is used again, and what this process
// put under the old one since it last asked is dropped under the new.
func (m *Memcached) identified(id Identity) {
	if id == m.sealer.Load().identity {
		m.recent.same()
		return
	}
	m.sealer.Store(newSealer(id))
	m.drops.Add(1) // a reader that asked before does not keep what it got
	m.local.InvalidateAll()
	m.disowned.Store(false)
	m.Drop(context.Background(), m.recent.take())
	m.cfg.Log.Info(renewed)
}

// Prefix returns how the keys of this database begin as its identity is now, for what else
// is kept on the same servers.
func (m *Memcached) Prefix() string { return m.sealer.Load().prefix }

// Names returns what keys are called on the servers, for memcache.Client.Ahead.
func (m *Memcached) Names(keys ...string) []string { return m.sealer.Load().names(keys, "") }

// Get puts what the servers hold of keys into out. Bodies that are stored apart are
// taken from this process where it has them, else they are asked for in a second round.
// A body of another ver is none: a lower one is a late writer's, a higher one may be
// of a history that the database has lost.
func (m *Memcached) Get(ctx context.Context, keys []string, out []Held) {
	if m.closed.Load() || ctx.Err() != nil {
		return
	}
	away := m.ask(ctx, keys, "", out)
	var far []string
	var at []int
	for i := range out {
		h := &out[i]
		if !h.Found || h.kind == kindWhole {
			continue
		}
		local, ok := m.local.GetIfPresent(keys[i])
		switch {
		case ok && local.Ver == h.Ver && !local.Partial:
			local.Token = h.Token // that of the item as it is now
			h.Entry = local.Entry
			continue
		case h.kind == kindApart:
			far, at = append(far, keys[i]), append(at, i)
		}
		h.Found = false
	}
	if len(far) > 0 {
		bodies := make([]Held, len(far))
		m.ask(ctx, far, bodySuffix, bodies)
		for i, b := range bodies {
			h := &out[at[i]]
			if b.Found && b.kind == kindWhole && b.Ver == h.Ver {
				m.keep(b.Entry, time.Time{})
				b.Token = h.Token
				h.Entry, h.Found = b.Entry, true
			}
		}
	}
	m.metrics.count(out, away)
}

// Heads puts what this process has asked for or put a moment ago into out, and of
// the other keys what the servers hold, without bodies that are stored apart.
func (m *Memcached) Heads(ctx context.Context, keys []string, out []Held) {
	if m.closed.Load() || ctx.Err() != nil {
		return
	}
	var far []string
	var at []int
	now, away := time.Now(), 0
	for i, key := range keys {
		if local, ok := m.local.GetIfPresent(key); ok && now.Before(local.fresh) {
			out[i] = Held{Entry: local.Entry, Found: true}
		} else {
			far, at = append(far, key), append(at, i)
		}
	}
	if len(far) > 0 {
		drops := m.drops.Load()
		found := make([]Held, len(far))
		away = m.ask(ctx, far, "", found)
		for i, h := range found {
			if !h.Found || h.kind == kindHole && len(h.Value) == 0 {
				continue
			}
			out[at[i]] = h
			m.keep(h.Entry, now.Add(m.cfg.Late))
			if m.drops.Load() != drops { // it may be one of those dropped
				m.local.Invalidate(far[i])
			}
		}
	}
	m.metrics.count(out, away)
}

// keep remembers an entry in this process: its head, which may be used unasked until it
// is no longer fresh, and its body if that is long.
func (m *Memcached) keep(e Entry, fresh time.Time) {
	whole := e.kind() == kindApart && !e.Partial
	if !whole {
		if m.cfg.Late < 0 || len(e.Value) > maxInline {
			m.local.Invalidate(e.Key)
			return
		}
		e.Partial, e.Body, e.Value = true, nil, slices.Clone(e.Value) // lets go of the rest of the item
	}
	e.Token = Token{}
	m.local.decide(kept{Entry: e, fresh: fresh}, func(old, next kept) (kept, bool) {
		if old.Ver == next.Ver {
			if next.Partial {
				next.Entry = old.Entry
			}
			if old.fresh.After(next.fresh) {
				next.fresh = old.fresh
			}
			return next, true
		}
		return next, old.Ver < next.Ver || !time.Now().Before(old.fresh)
	})
}

// items are slices to be used again.
var items = sync.Pool{New: func() any { return new([]memcache.Item) }}

// ask puts what the servers hold of keys, each with a suffix, into out. away is how
// many keys no server was there for.
func (m *Memcached) ask(ctx context.Context, keys []string, suffix string, out []Held) (away int) {
	s := m.sealer.Load()
	names := s.names(keys, suffix)
	room := items.Get().(*[]memcache.Item)
	found := slices.Grow((*room)[:0], len(keys))[:len(keys)]
	if suffix == "" {
		m.client.Get(ctx, names, found)
	} else {
		m.client.GetLong(ctx, names, found)
	}
	for i, item := range found {
		if item.Away {
			away++
		}
		if item.Value == nil {
			continue
		}
		e, kind, err := s.decode(names[i], item.Value)
		if err != nil {
			m.metrics.refused.Inc()
			m.delete(names[i : i+1])
			continue
		}
		e.Key, e.Token = keys[i], item.CAS
		out[i] = Held{e, true, kind}
	}
	clear(found)
	*room = found
	items.Put(room)
	return away
}

// Fill adds entries whose keys are not held. Where one is held it may lack its body, so
// that is offered too: whoever takes it looks whether it is old.
func (m *Memcached) Fill(ctx context.Context, entries []Entry) {
	if m.closed.Load() || ctx.Err() != nil {
		return
	}
	s := m.sealer.Load()
	entries = s.unique(entries)
	entries = slices.DeleteFunc(entries, Entry.tooLarge)
	for i := range entries {
		entries[i].Token = Token{}
	}
	all := m.commands(s, entries)
	m.client.Do(ctx, all)
	var bodies []memcache.Command
	for _, e := range entries {
		if e.apart() {
			all = all[1:] // without its body an entry counts as missing, which is no harm
		}
		switch err := all[0].Err; {
		case err == nil:
			m.metrics.filled.Inc()
		case err == memcache.ErrHeld:
			m.metrics.held.Inc()
			if len(e.Body) > 0 && !e.apart() {
				bodies = append(bodies, m.body(s, e))
			}
		default:
			m.metrics.fillFailed.Inc()
		}
		all = all[1:]
	}
	m.client.Do(ctx, bodies)
}

// commands returns what stores entries: where a body is apart it is stored before its
// head, so that no head is without its own. An entry replaces what its token
// stands for, one without a token nothing.
func (m *Memcached) commands(s *sealer, entries []Entry) []memcache.Command {
	all := make([]memcache.Command, 0, len(entries))
	for _, e := range entries {
		if e.apart() {
			all = append(all, m.body(s, e))
		}
		head := memcache.Command{Verb: memcache.Add, Key: e.Key, Value: s.seal(e.Key, encode(e)), Expiry: m.cfg.expiry(e), CAS: e.Token}
		if e.Token != (Token{}) {
			head.Verb = memcache.CompareAndSwap
		}
		all = append(all, head)
	}
	return all
}

// bodies are buffers in which bodies were put together. Lists are long, and each commit
// sends those of its rows.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// body stores a whole entry under its body key, whatever is there: readers hold it
// against the ver under the entry's own key, where order is kept.
func (m *Memcached) body(s *sealer, e Entry) memcache.Command {
	key, buffer := e.Key+bodySuffix, *bodies.Get().(*[]byte)
	return memcache.Command{Verb: memcache.Set, Key: key, Value: s.seal(key, pack(buffer[:0], kindWhole, e)), Expiry: m.cfg.Expiry}
}

// Put stores entries whose Ver is higher than the held one, or has the servers forget
// them as soon as they can. Only then are they kept in this process: until a server has
// a row's ver, the one before is what is asked for here.
func (m *Memcached) Put(_ context.Context, entries []Entry) (ahead map[string]uint64) {
	if m.closed.Load() {
		return nil
	}
	s := m.sealer.Load()
	if m.cfg.Identify != nil {
		for _, e := range entries {
			m.recent.add(e.Key)
		}
	}
	ahead = make(map[string]uint64)
	todo := s.unique(entries)
	for range maxSwaps {
		if todo = m.older(s, todo, ahead); len(todo) == 0 {
			break
		}
		todo = m.swap(s, todo)
	}
	m.fail(todo) // the last resort lets a late Fill of an older row in
	fresh := time.Now().Add(m.cfg.Late)
	for _, e := range entries {
		if !legal(s.prefix, e.Key) {
			continue
		}
		if ahead[e.Key] > 0 {
			e.Partial, e.Body = true, nil
		}
		m.keep(e, fresh)
	}
	return ahead
}

// older returns those entries that are newer than what is held, with a token for it. What
// is held of an entry that has a token is older. Where a higher ver is held that goes
// into ahead; what cannot be read is deleted.
func (m *Memcached) older(s *sealer, entries []Entry, ahead map[string]uint64) []Entry {
	var keys []string
	for _, e := range entries {
		if e.Token == (Token{}) {
			keys = append(keys, e.Key)
		}
	}
	if len(keys) == 0 {
		return entries
	}
	held := make([]memcache.Item, len(keys))
	m.client.Get(context.Background(), keys, held)
	var unread []Entry
	older := entries[:0]
	for _, e := range entries {
		if e.Token == (Token{}) {
			item := held[0]
			held = held[1:]
			old, _, err := s.decode(e.Key, item.Value)
			switch {
			case item.Away:
				unread = append(unread, e)
				continue
			case item.Value != nil && err == nil && old.Ver >= e.Ver: // other bytes hold no ver
				m.metrics.newer.Inc()
				if old.Ver > e.Ver {
					ahead[strings.TrimPrefix(e.Key, s.prefix)] = old.Ver
				}
				continue
			}
			e.Token = item.CAS
		}
		older = append(older, e)
	}
	m.fail(unread)
	return older
}

// swap stores entries. It returns those whose old item was not there any more, without
// their token. What memcached refuses is deleted, so that no older row stays.
func (m *Memcached) swap(s *sealer, entries []Entry) (lost []Entry) {
	all := m.commands(s, entries)
	m.client.Write(all)
	var failed []Entry
	for _, e := range entries {
		refused := false
		if e.apart() {
			buffer := all[0].Value
			bodies.Put(&buffer)
			refused, all = all[0].Err != nil, all[1:]
		}
		err := all[0].Err
		all = all[1:]
		switch {
		case !refused && err == nil && e.tooLarge():
			m.metrics.tooLarge.Inc()
		case !refused && err == nil:
			m.metrics.stored.Inc()
		case !refused && (err == memcache.ErrHeld || err == memcache.ErrMissing):
			e.Token = Token{}
			lost = append(lost, e)
		default:
			failed = append(failed, e)
		}
	}
	m.fail(failed)
	return lost
}

// fail deletes what is held of entries that cannot be stored.
func (m *Memcached) fail(entries []Entry) {
	m.metrics.failed.Add(float64(len(entries)))
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Key
	}
	m.delete(names)
}

func (m *Memcached) delete(names []string) {
	all := make([]memcache.Command, len(names))
	for i, name := range names {
		all[i] = memcache.Command{Verb: memcache.Delete, Key: name}
	}
	m.client.Write(all)
}

// Disown drops keys of a lost history.
func (m *Memcached) Disown(ctx context.Context, keys []string) {
	m.metrics.disowned.Add(float64(len(keys)))
	if !m.disowned.Swap(true) {
		m.cfg.Log.Warn("the cache has rows that the database has lost: type kith cache renew, as after every failover that loses commits and every restore")
	}
	m.Drop(ctx, keys)
}

// Drop forgets keys, or has the servers forget them as soon as they can.
func (m *Memcached) Drop(_ context.Context, keys []string) {
	if m.closed.Load() {
		return
	}
	forget := func() {
		m.drops.Add(1)
		for _, key := range keys {
			m.local.Invalidate(key)
		}
	}
	forget()
	if m.cfg.Identify != nil {
		m.recent.add(keys...)
	}
	m.delete(m.sealer.Load().names(keys, ""))
	forget() // which readers had asked for before
}

// Ping asks every server that is not known to be away.
func (m *Memcached) Ping(ctx context.Context) error { return m.client.Ping(ctx) }

// Close ends the work in the background. The client is left open.
func (m *Memcached) Close() error {
	if !m.closed.Swap(true) {
		m.watch.close()
		m.local.StopAllGoroutines()
		m.metrics.close()
	}
	return nil
}
