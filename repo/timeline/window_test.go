package timeline

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"kith/repo/event"
	"kith/repo/memcachetest"
)

func aWindow() Window {
	return Window{Events: posts(9, 7, 4), Floor: post(3).ID, High: post(11).ID, RowVer: 12, BuiltAt: event.Epoch.Add(time.Hour), Until: 77}
}

// A window is kept in place of the one before, until it is dropped with the line.
func TestLines_Window(t *testing.T) {
	t.Parallel()
	for _, h := range holders {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			lines, a, other := h.open(t), newAccount(), newAccount()
			want := func(what string, account uint64, w Window, kept bool) {
				t.Helper()
				got, ok := lines.Window(t.Context(), account)
				if ok != (kept && h.holds) || ok && !reflect.DeepEqual(got, w) {
					t.Errorf("%s: got %+v, %t, want %+v", what, got, ok, w)
				}
			}
			w := aWindow()
			want("none", a, w, false)
			lines.Keep(t.Context(), a, w, time.Minute)
			want("kept", a, w, true)
			want("another's", other, w, false)
			w = Window{Events: []event.Event{}, High: 5, BuiltAt: w.BuiltAt}
			lines.Keep(t.Context(), a, w, time.Minute)
			w.Events = nil
			want("empty", a, w, true)
			lines.Keep(t.Context(), other, w, 0)
			want("without a life", other, w, false)
			lines.Begin(t.Context(), a)
			want("a line was begun", a, w, true)
			lines.Drop(t.Context(), a)
			want("dropped", a, w, false)
			lines.Close()
		})
	}
}

// Bad bytes are no window.
func TestWindow_Bad(t *testing.T) {
	t.Parallel()
	good, err := packWindow(aWindow())
	if err != nil {
		t.Fatal(err)
	}
	if w, err := unpackWindow(good); err != nil || !reflect.DeepEqual(w, aWindow()) {
		t.Fatal(w, err)
	}
	narrow, low := aWindow(), aWindow()
	narrow.High, low.Floor = post(8).ID, post(5).ID
	bad := [][]byte{nil, good[1:], append(bytes.Clone(good), 1)}
	for i := range good {
		bad = append(bad, good[:i])
	}
	for _, w := range []Window{narrow, low} {
		b, err := packWindow(w)
		if err != nil {
			t.Fatal(err)
		}
		bad = append(bad, b)
	}
	for _, b := range bad {
		if w, err := unpackWindow(b); err == nil {
			t.Errorf("%x: got %+v", b, w)
		}
	}
}

// A window is not held past its life.
func TestWindow_Life(t *testing.T) {
	t.Parallel()
	local := openLocal(t, Config{MaxBytes: 1 << 20})
	local.Keep(t.Context(), 1, aWindow(), time.Minute)
	if item, ok := local.windows.GetEntryQuietly(1); !ok || item.ExpiresAfter() > time.Minute || item.ExpiresAfter() < time.Minute/2 {
		t.Errorf("held %t, for %v", ok, item.ExpiresAfter())
	}
	m := openMemcached(t, newClient(t, memcachetest.Addr(t)), Config{})
	a := newAccount()
	m.Keep(t.Context(), a, aWindow(), time.Nanosecond) // rounded up to a second
	deadline := time.Now().Add(patience)
	for _, ok := m.Window(t.Context(), a); ok; _, ok = m.Window(t.Context(), a) {
		if time.Now().After(deadline) {
			t.Fatal("it is still held")
		}
	}
}
