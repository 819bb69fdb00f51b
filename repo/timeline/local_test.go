package timeline

import (
	"testing"
	"time"

	"kith/repo/event"
	"kith/repo/waittest"
)

// A line that is read lives on; one that is only looked at or pushed to does not.
func TestLocal_Renew(t *testing.T) {
	t.Parallel()
	const short, long = 10 * time.Minute, 10 * time.Hour
	lines, a := openLocal(t, Config{MaxBytes: 1 << 20, Expiry: short}), newAccount()
	wantLife := func(what string, most time.Duration) {
		t.Helper()
		item, held := lines.items.GetEntryQuietly(a)
		if !held || item.ExpiresAfter() < most/2 || item.ExpiresAfter() > most {
			t.Errorf("%s: the line lives for %v, want %v", what, item.ExpiresAfter(), most)
		}
	}
	lines.Begin(t.Context(), a)
	wantLife("begun", short)
	l := begun(t, lines, a, posts(1))
	wantLife("stored", short)
	lines.Expiry = long
	lines.Peek(t.Context(), a)
	push(t, lines, a, post(1))
	wantLife("looked at and pushed to", short)
	want(t, lines, a, l, posts(1), 1)
	wantLife("read", long)
}

// Memory is bounded, whether lines are many or grow.
func TestLocal_Bounded(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	lines, a := openLocal(t, Config{MaxBytes: most}), newAccount()
	batch := make([]event.Event, 500)
	for i := range batch {
		batch[i] = post(len(batch) - i)
	}
	var followers []uint64
	for i := range uint64(300) {
		followers = append(followers, a+i)
		begun(t, lines, a+i, batch)
		push(t, lines, a+i, post(1000+int(i)))
	}
	for range 20 {
		if err := lines.Push(t.Context(), batch, followers); err != nil {
			t.Fatal(err)
		}
	}
	waittest.Until(t, patience, "lines were evicted", func() bool {
		lines.items.CleanUp()
		return lines.items.WeightedSize() <= most*11/10
	})
	begun(t, lines, a, posts(1))
}

func TestConfig_Refused(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no memory":      {},
		"below 0":        {MaxBytes: 1, Expiry: -1},
		"over 20 days":   {MaxBytes: 1, Expiry: 20*24*time.Hour + 1},
		"memory below 0": {MaxBytes: -1},
	} {
		if _, err := NewLocal(cfg); err == nil {
			t.Errorf("%s: got no error", name)
		}
		if cfg.MaxBytes > 0 {
			if _, err := NewMemcached(cfg); err == nil {
				t.Errorf("%s: got no error for memcached", name)
			}
		}
	}
}
