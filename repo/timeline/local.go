package timeline

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/maypok86/otter/v2"

	"kith/repo/event"
)

const (
	// maxItem is the longest item that is kept, as in memcached.
	maxItem = 1 << 20
	// itemOverhead is about what an item costs besides its bytes.
	itemOverhead = 160
)

// Local keeps lines in the memory of this process, for programs that run as one process.
// Its items are those of a Memcached. An item and its presence are one, so neither is lost
// without the other.
type Local struct {
	Config
	items   *otter.Cache[uint64, []byte]
	windows *otter.Cache[uint64, []byte] // a quarter as many bytes
	closed  atomic.Bool
}

var _ Lines = (*Local)(nil)

// NewLocal returns lines in this process. Close it.
func NewLocal(cfg Config) (*Local, error) {
	cfg, err := cfg.withDefaults()
	if err == nil && cfg.MaxBytes <= 0 {
		err = fmt.Errorf("hot timelines in %d bytes: must be above 0", cfg.MaxBytes)
	}
	if err != nil {
		return nil, err
	}
	held := func(most int64) (*otter.Cache[uint64, []byte], error) {
		return otter.New(&otter.Options[uint64, []byte]{
			MaximumWeight:    uint64(most),
			Weigher:          func(_ uint64, item []byte) uint32 { return uint32(itemOverhead + cap(item)) },
			ExpiryCalculator: otter.ExpiryCreating[uint64, []byte](cfg.Expiry),
		})
	}
	items, err := held(cfg.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("make hot timelines in memory: %w", err)
	}
	windows, err := held(max(cfg.MaxBytes/4, 1))
	if err != nil {
		return nil, fmt.Errorf("make windows of timelines in memory: %w", err)
	}
	return &Local{Config: cfg, items: items, windows: windows}, nil
}

// Load returns what is held, and renews it.
func (l *Local) Load(ctx context.Context, account uint64) (Line, Token, bool) {
	line, t, ok := l.load(ctx, account)
	if ok {
		l.items.SetExpiresAfter(account, l.Expiry)
	}
	return line, t, ok
}

// Peek returns what is held.
func (l *Local) Peek(ctx context.Context, account uint64) (Line, bool) {
	line, _, ok := l.load(ctx, account)
	return line.Whole(), ok
}

func (l *Local) load(ctx context.Context, account uint64) (line Line, t Token, ok bool) {
	var err error
	if item, held := l.items.GetIfPresent(account); held && ctx.Err() == nil {
		t = Token{account: account, nonce: nonceOf(item), seen: item}
		line, ok, err = unpack(item, t.nonce)
	}
	if !ok {
		t = Token{}
	}
	l.Metrics.load(ok, err)
	return line, t, ok
}

// Begin puts an empty line.
func (l *Local) Begin(ctx context.Context, account uint64) Token {
	if l.closed.Load() || ctx.Err() != nil {
		return Token{}
	}
	nonce := newNonce()
	t := Token{account: account, nonce: nonce, seen: empty(nonce)}
	l.items.Set(account, t.seen)
	l.items.SetExpiresAfter(account, l.Expiry)
	return t
}

// Store replaces what was seen by the line and leaves what stands behind that.
func (l *Local) Store(_ context.Context, t Token, line Line) (stored bool, err error) {
	base, err := pack(t.nonce, line)
	if err != nil || t.seen == nil || l.closed.Load() {
		return false, err
	}
	l.items.ComputeIfPresent(t.account, func(item []byte) ([]byte, otter.ComputeOp) {
		pushed, same := bytes.CutPrefix(item, t.seen)
		if !same {
			return item, otter.CancelOp
		}
		if len(base)+len(pushed) > maxItem {
			return nil, otter.InvalidateOp
		}
		stored = true
		return append(base, pushed...), otter.WriteOp
	})
	if stored {
		l.items.SetExpiresAfter(t.account, l.Expiry)
	}
	return stored, nil
}

// Push adds events to the lines of those followers who are held.
func (l *Local) Push(_ context.Context, events []event.Event, followers []uint64) error {
	var records []byte
	for _, e := range events {
		records = event.AppendRecord(records, e)
	}
	for _, id := range followers {
		result := l.Metrics.absent
		l.items.ComputeIfPresent(id, func(item []byte) ([]byte, otter.ComputeOp) {
			if len(item)+len(records) > maxItem {
				result = l.Metrics.gone
				return nil, otter.InvalidateOp
			}
			result = l.Metrics.appended
			// What is behind item belongs to nobody: each item has one that follows it.
			return append(item, records...), otter.WriteOp
		})
		result.Inc()
	}
	return nil
}

// Drop forgets a line and a window.
func (l *Local) Drop(_ context.Context, account uint64) {
	l.items.Invalidate(account)
	l.windows.Invalidate(account)
}

// Close forgets all lines.
func (l *Local) Close() error {
	if !l.closed.Swap(true) {
		for _, held := range []*otter.Cache[uint64, []byte]{l.items, l.windows} {
			held.StopAllGoroutines()
			held.InvalidateAll()
		}
	}
	return nil
}
