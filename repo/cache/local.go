package cache

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/prometheus/client_golang/prometheus"
)

// entryOverhead is about what an entry costs beside its key and value: the
// node in otter's table and policy, and two slice headers.
const entryOverhead = 160

// LocalConfig says how large and how patient a Local is.
type LocalConfig struct {
	// MaxBytes bounds the memory of all entries, by about ten per cent. The
	// least used ones go first. It must be above 0.
	MaxBytes int64
	// Expiry is how long a row is held; 0 means 10 minutes.
	Expiry time.Duration
	// AbsentExpiry is how long the mark of an absent row is held; 0 means 30
	// seconds.
	AbsentExpiry time.Duration
	// Registerer gets the metrics; nil means none.
	Registerer prometheus.Registerer
	// Identity is that of the database, Identify asks whether it still is; nil means
	// that it never changes.
	Identity Identity
	Identify Identify
	// Log gets a line when the identity changes; nil means slog.Default.
	Log *slog.Logger
}

// Local is a cache in the memory of this process, for programs that run as
// one process: no other process learns of what is put.
type Local struct {
	entries  *otter.Cache[string, kept]
	metrics  *metrics
	maxBytes int64
	closed   atomic.Bool
	watch    *watch
}

var _ Cache = (*Local)(nil)

// kept is what otter holds of a key. A hole has no value.
type kept struct {
	Entry
	hole bool
}

// NewLocal returns an empty cache. Close it.
func NewLocal(cfg LocalConfig) (*Local, error) {
	if cfg.MaxBytes <= 0 {
		return nil, fmt.Errorf("local cache of %d bytes: must be above 0", cfg.MaxBytes)
	}
	cfg.Expiry = orDefault(cfg.Expiry, defaultExpiry)
	cfg.AbsentExpiry = orDefault(cfg.AbsentExpiry, defaultAbsentExpiry)
	entries, err := otter.New(&otter.Options[string, kept]{
		MaximumWeight: uint64(cfg.MaxBytes),
		Weigher:       func(_ string, h kept) uint32 { return uint32(h.weight()) },
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, kept]) time.Duration {
			if e.Value.hole || e.Value.Ver == 0 {
				return cfg.AbsentExpiry
			}
			return cfg.Expiry
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("make local cache: %w", err)
	}
	m, err := newMetrics(cfg.Registerer)
	if err != nil {
		entries.StopAllGoroutines()
		return nil, err
	}
	l := &Local{entries: entries, metrics: m, maxBytes: cfg.MaxBytes}
	if cfg.Identify != nil {
		l.follow(cfg)
	}
	return l, nil
}

// follow forgets everything whenever the database has a new identity.
func (l *Local) follow(cfg LocalConfig) {
	log, now := orDefault(cfg.Log, slog.Default()), cfg.Identity
	l.watch = newWatch(cfg.Identify, log, func() {}, func(id Identity) {
		if id != now {
			now = id
			l.entries.InvalidateAll()
			log.Info("the database has a new identity: the cache begins anew")
		}
	})
}

func (e Entry) weight() int64 { return int64(entryOverhead + len(e.Key) + e.bytes()) }

// Get puts what the cache holds of keys into out.
func (l *Local) Get(ctx context.Context, keys []string, out []Held) { l.get(ctx, keys, out, false) }

// Heads puts what the cache holds of keys into out, bodies too where it has them.
func (l *Local) Heads(ctx context.Context, keys []string, out []Held) { l.get(ctx, keys, out, true) }

func (l *Local) get(ctx context.Context, keys []string, out []Held, partial bool) {
	if l.closed.Load() || ctx.Err() != nil {
		return
	}
	found := 0
	for i, key := range keys {
		h, ok := l.entries.GetIfPresent(key)
		if !ok || h.hole || h.Partial && !partial {
			continue
		}
		out[i] = Held{Entry: h.Entry, Found: true}
		found++
	}
	l.metrics.hit.Add(float64(found))
	l.metrics.miss.Add(float64(len(keys) - found))
}

// Fill adds entries whose keys are not held.
func (l *Local) Fill(ctx context.Context, entries []Entry) {
	if l.closed.Load() || ctx.Err() != nil {
		return
	}
	for _, e := range entries {
		l.fill(e)
	}
}

func (l *Local) fill(e Entry) {
	switch h := l.hold(e); {
	case h.hole:
		l.metrics.fillTooLarge.Inc()
	case !legal(e.Key):
		l.metrics.fillFailed.Inc()
	default:
		l.add(h)
	}
}

// add stores h where nothing is held, or only the head of a row as old.
func (l *Local) add(h kept) {
	result := l.metrics.filled
	h.Key = strings.Clone(h.Key) // lets go of the keys beside it
	l.entries.Compute(h.Key, func(old kept, found bool) (kept, otter.ComputeOp) {
		if found && !(old.Partial && !h.Partial && old.Ver <= h.Ver) {
			result = l.metrics.held
			return old, otter.CancelOp
		}
		return h, otter.WriteOp
	})
	result.Inc()
}

// Put stores entries whose Ver is higher than the held one.
func (l *Local) Put(_ context.Context, entries []Entry) (ahead map[string]uint64) {
	if l.closed.Load() {
		return nil
	}
	for _, e := range entries {
		if ver := l.put(e); ver > e.Ver {
			if ahead == nil {
				ahead = map[string]uint64{}
			}
			ahead[e.Key] = ver
		}
	}
	return ahead
}

// put stores an entry, or returns the ver that is held if that is not lower.
func (l *Local) put(e Entry) (held uint64) {
	if !legal(e.Key) {
		l.metrics.failed.Inc()
		return 0
	}
	e.Key = strings.Clone(e.Key)
	h, result := l.hold(e), l.metrics.stored
	if h.hole {
		result = l.metrics.tooLarge
	}
	// otter holds the lock of the key while it asks, so nothing comes between.
	l.entries.Compute(e.Key, func(old kept, found bool) (kept, otter.ComputeOp) {
		if found && old.Ver >= e.Ver {
			result, held = l.metrics.newer, old.Ver
			return old, otter.CancelOp
		}
		return h, otter.WriteOp
	})
	result.Inc()
	return held
}

// Disown drops keys of a lost history.
func (l *Local) Disown(ctx context.Context, keys []string) {
	l.metrics.disowned.Add(float64(len(keys)))
	l.Drop(ctx, keys)
}

// hold returns what is held of e: a hole, if e is too large.
func (l *Local) hold(e Entry) kept {
	if e.tooLarge() || e.weight() > l.maxBytes {
		return kept{Entry: Entry{Key: e.Key, Ver: e.Ver}, hole: true}
	}
	if e.Ver == 0 {
		e.Value, e.Body = nil, nil
	}
	return kept{Entry: e}
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
	if l.closed.Swap(true) {
		return nil
	}
	l.watch.close()
	l.entries.StopAllGoroutines()
	l.entries.InvalidateAll()
	l.metrics.close()
	return nil
}
