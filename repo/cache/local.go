package cache

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

// entryOverhead is about what an entry costs besides its key and value: the
// node in otter's table and policy, and two slice headers.
const entryOverhead = 160

// memory is the cache in this process, alone as a Local or in front of memcached.
type memory struct{ *otter.Cache[string, kept] }

// kept is what memory holds of a key.
type kept struct {
	Entry
	hole  bool      // of a Local: the entry is too large to be held
	fresh time.Time // in front of memcached: until when the head may be used unasked
}

// newMemory returns a memory of so many bytes, where each entry stays as long as stay says.
func newMemory(maxBytes int64, stay func(kept) time.Duration) (*memory, error) {
	if maxBytes <= 0 {
		return nil, fmt.Errorf("local cache of %d bytes: must be above 0", maxBytes)
	}
	entries, err := otter.New(&otter.Options[string, kept]{
		MaximumWeight:    uint64(maxBytes),
		Weigher:          func(_ string, k kept) uint32 { return uint32(k.weight()) },
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, kept]) time.Duration { return stay(e.Value) }),
	})
	if err != nil {
		return nil, fmt.Errorf("make local cache: %w", err)
	}
	return &memory{entries}, nil
}

func (e Entry) weight() int64 { return int64(entryOverhead + len(e.Key) + e.bytes()) }

// decide stores next. Where something is held, f says what is stored instead, or that
// nothing is. otter holds the lock of the key while it asks, so nothing comes between.
func (m *memory) decide(next kept, f func(old, next kept) (kept, bool)) {
	next.Key = strings.Clone(next.Key) // lets go of the other keys of the call
	m.Compute(next.Key, func(old kept, found bool) (kept, otter.ComputeOp) {
		if found {
			var store bool
			if next, store = f(old, next); !store {
				return old, otter.CancelOp
			}
		}
		return next, otter.WriteOp
	})
}

// Local is a cache in the memory of this process, for programs that run as
// one process: no other process learns of what is put.
type Local struct {
	entries  *memory
	metrics  *metrics
	maxBytes int64
	closed   atomic.Bool
	watch    *watch
}

var _ Cache = (*Local)(nil)

// NewLocal returns an empty cache. Close it.
func NewLocal(cfg Config) (*Local, error) {
	cfg = cfg.withDefaults()
	entries, err := newMemory(cfg.MaxBytes, func(k kept) time.Duration {
		if k.hole || k.Ver == 0 {
			return cfg.AbsentExpiry
		}
		return cfg.Expiry
	})
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(cfg.Registerer)
	if err != nil {
		entries.StopAllGoroutines()
		return nil, err
	}
	l := &Local{entries: entries, metrics: m, maxBytes: cfg.MaxBytes}
	if cfg.Identify != nil {
		now := cfg.Identity
		l.watch = newWatch(cfg.Identify, cfg.Log, func() {}, func(id Identity) {
			if id != now {
				now = id
				entries.InvalidateAll()
				cfg.Log.Info(renewed)
			}
		})
	}
	return l, nil
}

// Get puts what the cache holds of keys into out.
func (l *Local) Get(ctx context.Context, keys []string, out []Held) { l.get(ctx, keys, out, false) }

// Heads puts what the cache holds of keys into out, bodies too where it has them.
func (l *Local) Heads(ctx context.Context, keys []string, out []Held) { l.get(ctx, keys, out, true) }

func (l *Local) get(ctx context.Context, keys []string, out []Held, partial bool) {
	if l.closed.Load() || ctx.Err() != nil {
		return
	}
	for i, key := range keys {
		if k, ok := l.entries.GetIfPresent(key); ok && !k.hole && (partial || !k.Partial) {
			out[i] = Held{Entry: k.Entry, Found: true}
		}
	}
	l.metrics.count(out, 0)
}

// Fill adds entries where nothing is held, or only the head of a row as old.
func (l *Local) Fill(ctx context.Context, entries []Entry) {
	if l.closed.Load() || ctx.Err() != nil {
		return
	}
	for _, e := range entries {
		k, result := l.kept(e), l.metrics.filled
		switch {
		case k.hole:
			result = l.metrics.fillTooLarge
		case !legal("", e.Key):
			result = l.metrics.fillFailed
		default:
			l.entries.decide(k, func(old, next kept) (kept, bool) {
				if old.Partial && !next.Partial && old.Ver <= next.Ver {
					return next, true
				}
				result = l.metrics.held
				return old, false
			})
		}
		result.Inc()
	}
}

// Put stores entries whose Ver is higher than the held one.
func (l *Local) Put(_ context.Context, entries []Entry) (ahead map[string]uint64) {
	if l.closed.Load() {
		return nil
	}
	ahead = make(map[string]uint64)
	for _, e := range entries {
		k, result := l.kept(e), l.metrics.stored
		switch {
		case !legal("", e.Key):
			l.metrics.failed.Inc()
			continue
		case k.hole:
			result = l.metrics.tooLarge
		}
		l.entries.decide(k, func(old, next kept) (kept, bool) {
			if old.Ver < next.Ver {
				return next, true
			}
			if result = l.metrics.newer; old.Ver > next.Ver {
				ahead[e.Key] = old.Ver
			}
			return old, false
		})
		result.Inc()
	}
	return ahead
}

// kept returns what is held of e: a hole, if e is too large.
func (l *Local) kept(e Entry) kept {
	if e.tooLarge() || e.weight() > l.maxBytes {
		return kept{Entry: Entry{Key: e.Key, Ver: e.Ver}, hole: true}
	}
	if e.Ver == 0 {
		e.Value, e.Body = nil, nil
	}
	return kept{Entry: e}
}

// Disown drops keys of a lost history.
func (l *Local) Disown(ctx context.Context, keys []string) {
	l.metrics.disowned.Add(float64(len(keys)))
	l.Drop(ctx, keys)
}

// Drop forgets keys.
func (l *Local) Drop(_ context.Context, keys []string) {
	for _, key := range keys {
		l.entries.Invalidate(key)
	}
}

// Ping returns nil.
func (l *Local) Ping(context.Context) error { return nil }

// Close forgets everything.
func (l *Local) Close() error {
	if !l.closed.Swap(true) {
		l.watch.close()
		l.entries.StopAllGoroutines()
		l.entries.InvalidateAll()
		l.metrics.close()
	}
	return nil
}
