package timeline

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"kith/repo/event"
	"kith/repo/memcache"
)

// Window is a part of a home below its line: candidates, as a page found them in feeds and in
// the table of posts. Nothing is pushed to it, so it is to be kept for minutes only.
type Window struct {
	// Events are the newest first, each once, none outside of Floor and High: there nothing
	// is missing from Floor to High, both included. Floor 0: there is nothing older.
	Events      []event.Event
	Floor, High uint64
	// RowVer is the ver of the reader's relation row for which it was made: it lacks those
	// who were muted.
	RowVer uint64
	// BuiltAt is when the reading of its oldest part began, by the clock of who read, to the
	// millisecond.
	BuiltAt time.Time
	// Until is when the next mute ends, in unix seconds; 0: none does.
	Until uint32
}

// windowForm is the version of the form of a window:
//
//	byte      0x57
//	8 bytes   each: BuiltAt, unix milliseconds; Until; RowVer; Floor; High, big-endian
//	bytes     the events: event.AppendList
const (
	windowForm = 0x57
	windowHead = 1 + 5*8
)

func packWindow(w Window) ([]byte, error) {
	b := append(make([]byte, 0, windowHead+8*len(w.Events)), windowForm)
	for _, n := range [...]uint64{uint64(w.BuiltAt.UnixMilli()), uint64(w.Until), w.RowVer, w.Floor, w.High} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return event.AppendList(b, w.Events)
}

func unpackWindow(b []byte) (w Window, err error) {
	if len(b) < windowHead || b[0] != windowForm {
		return w, fmt.Errorf("%w: a window of %d bytes", errWire, len(b))
	}
	var n [5]uint64
	for i := range n {
		n[i] = binary.BigEndian.Uint64(b[1+8*i:])
	}
	w = Window{BuiltAt: time.UnixMilli(int64(n[0])).UTC(), Until: uint32(n[1]), RowVer: n[2], Floor: n[3], High: n[4]}
	if w.Events, err = event.ReadList(nil, b[windowHead:]); err != nil {
		return Window{}, fmt.Errorf("%w: %w", errWire, err)
	}
	if k := len(w.Events); k > 0 && (w.Events[0].ID > w.High || w.Events[k-1].ID < w.Floor) {
		return Window{}, fmt.Errorf("%w: events outside of a window", errWire)
	}
	return w, nil
}

// windowKey is the name of a window. Keys of windows carry the version of their form.
func (m *Memcached) windowKey(key string) string { return key + windowEnd }

const windowEnd = ":w1"

// Window asks for the window.
func (m *Memcached) Window(ctx context.Context, account uint64) (Window, bool) {
	var held [1]memcache.Item
	m.Client.GetLong(ctx, []string{m.windowKey(m.key(account))}, held[:])
	return m.Metrics.window(held[0].Value)
}

// Keep sets the window.
func (m *Memcached) Keep(ctx context.Context, account uint64, w Window, life time.Duration) {
	if b, err := packWindow(w); err == nil && life > 0 {
		m.Client.Do(ctx, []memcache.Command{{Verb: memcache.Set, Key: m.windowKey(m.key(account)), Value: b, Expiry: life}})
	}
}

// Window returns what is held.
func (l *Local) Window(_ context.Context, account uint64) (Window, bool) {
	b, _ := l.windows.GetIfPresent(account)
	return l.Metrics.window(b)
}

// Keep holds the window.
func (l *Local) Keep(_ context.Context, account uint64, w Window, life time.Duration) {
	if b, err := packWindow(w); err == nil && life > 0 && !l.closed.Load() {
		l.windows.Set(account, b)
		l.windows.SetExpiresAfter(account, life)
	}
}

// window reads what was held and counts that.
func (m *Metrics) window(b []byte) (Window, bool) {
	if b == nil {
		return Window{}, false
	}
	w, err := unpackWindow(b)
	if err != nil {
		m.bad.Inc()
	}
	return w, err == nil
}
