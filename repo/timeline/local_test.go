package timeline

import (
	"testing"
	"time"

	"kith/repo/event"
	"kith/repo/waittest"
)

// A line that nobody reads goes, one that is read stays.
func TestLocal_Expiry(t *testing.T) {
	t.Parallel()
	lines, a := openLocal(t, Config{MaxBytes: 1 << 20, Expiry: time.Second}), newAccount()
	begun(t, lines, a, posts(1))
	l := begun(t, lines, a+1, posts(1))
	lines.Expiry = time.Hour
	want(t, lines, a+1, l, posts(1), 0)
	waittest.Until(t, patience, "a line that is not read expires", func() bool {
		lines.Peek(t.Context(), a) // renews nothing, as little as a push
		if err := lines.Push(t.Context(), posts(2), []uint64{a}); err != nil {
			t.Fatal(err)
		}
		_, held := lines.items.GetEntryQuietly(a)
		return !held
	})
	want(t, lines, a+1, l, posts(1), 0)
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
