package home_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kith/app/home"
	"kith/repo/event"
)

// anyEvents makes events as followed accounts make them, newest first: of 10, 4 repost a post,
// mostly a new one, one in four what is older than all.
func anyEvents(n int) []event.Event {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]event.Event, n)
	id := uint64(1) << 40
	old := id
	for i := n - 1; i >= 0; i-- {
		id += 1 << 22
		e := event.Event{ID: id, Author: 2 + r.Uint64N(200)}
		if r.IntN(10) < 4 {
			if e.Origin = old - r.Uint64N(1000)<<22; i < n-1 && r.IntN(4) > 0 {
				e.Origin = out[min(n-1, i+1+int(r.ExpFloat64()*60))].Post()
			}
		}
		out[i] = e
	}
	return out
}

// The work of a page beside judging: a first round, in which nothing is known, and the last.
func BenchmarkPage(b *testing.B) {
	rules := home.NewRules(80)
	for _, c := range []struct{ events, at int }{{800, 0}, {800, 400}, {5000, 0}, {5000, 4000}} {
		events := anyEvents(c.events)
		want := home.Range{Before: events[c.at].ID, Limit: 20}
		s := &home.Span{Events: events, Verdicts: make([]home.Verdict, len(events)), Top: true, Bottom: false}
		b.Run(fmt.Sprintf("events=%d/at=%d/first", c.events, c.at), func(b *testing.B) {
			b.ReportAllocs()
			var need home.Need
			for b.Loop() {
				_, need = rules.Page(s, want)
			}
			b.ReportMetric(float64(len(need.Judge)), "asked/op")
		})
		judged := 0
		for {
			page, need := rules.Page(s, want)
			for _, i := range need.Judge {
				judged++
				if s.Verdicts[i] = home.Shown; events[i].ID>>22%10 == 0 {
					s.Verdicts[i] = home.Hidden
				}
			}
			if need.Up || need.Down {
				b.Fatal(need)
			}
			if !need.Any() {
				if len(page.Entries) != want.Limit {
					b.Fatalf("%d entries", len(page.Entries))
				}
				break
			}
		}
		b.Run(fmt.Sprintf("events=%d/at=%d/last", c.events, c.at), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rules.Page(s, want)
			}
			b.ReportMetric(float64(judged), "judged/op")
		})
	}
}
