package timeline

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"kith/repo/event"
	"kith/repo/memcachetest"
)

// home returns n events as a home has them: one a minute, by 200 authors.
func home(n int) []event.Event {
	r := rand.New(rand.NewPCG(3, 4))
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	events := make([]event.Event, n)
	for i := range events {
		now = now.Add(-time.Duration(1+r.ExpFloat64()*60_000) * time.Millisecond)
		author := 1 + r.Uint64N(200)*100_003
		events[i] = event.Event{ID: event.Next(author, 0, now, r.Uint64()), Author: author}
	}
	return events
}

// BenchmarkMemcached_Push pushes one event to followers of whom some are around.
func BenchmarkMemcached_Push(b *testing.B) {
	client := newClient(b, memcachetest.Start(b, "-m", "256").Addr)
	lines := openMemcached(b, client, Config{})
	const n = 10_000
	a := newAccount()
	var followers []uint64
	for i := range uint64(n) {
		followers = append(followers, a+i*7919)
	}
	around := 0
	for _, of := range []int{0, n / 10, n} { // are around
		for ; around < of; around++ {
			at := around*10%n + around*10/n // every tenth, then the others
			if _, err := lines.Store(b.Context(), lines.Begin(b.Context(), followers[at]), Line{Events: home(10)}); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("followers=%d/around=%d", n, of), func(b *testing.B) {
			e := home(1)
			for b.Loop() {
				if err := lines.Push(b.Context(), e, followers); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLines_Load loads a line of 800 events, to which some were pushed.
func BenchmarkLines_Load(b *testing.B) {
	for _, h := range holders[:2] {
		for _, pushed := range []int{0, CompactAt} {
			lines, a := h.open(b), newAccount()
			if _, err := lines.Store(b.Context(), lines.Begin(b.Context(), a), Line{Events: home(800)}); err != nil {
				b.Fatal(err)
			}
			for _, e := range home(pushed) {
				if err := lines.Push(b.Context(), []event.Event{e}, []uint64{a}); err != nil {
					b.Fatal(err)
				}
			}
			b.Run(fmt.Sprintf("%s/pushed=%d", h.name, pushed), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, _, ok := lines.Load(b.Context(), a); !ok {
						b.Fatal("no line")
					}
				}
			})
		}
	}
}
