package sql_test

import (
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kith/repo/event"
	"kith/repo/timeline"
)

// someEvents are a post, a repost of an older one and a post of the same author.
func someEvents() []event.Event {
	at := func(minutes int, author uint64) uint64 {
		return event.Next(author, 0, time.Date(2026, 11, 21, 23, minutes, 0, 0, time.UTC), uint64(minutes))
	}
	return []event.Event{{ID: at(22, 12), Author: 12}, {ID: at(9, 21116188), Author: 21116188, Origin: at(2, 813286)}, {ID: at(4, 12), Author: 12}}
}

// home writes a warm timeline and returns the lines that timeline.sql shows of it.
func (p *plant) home(id uint64, events []event.Event) table {
	p.t.Helper()
	store := timeline.NewStore(p.pool, func() time.Time { return time.Unix(start, 0) }, slog.New(slog.DiscardHandler))
	l := timeline.Line{Events: events, Floor: 77, Follows: 1 << 63, Pulled: []uint64{1, 1 << 40}, BuiltAt: time.UnixMilli(start*1000 + 999)}
	if saved, err := store.Save(p.t.Context(), id, l); !saved || err != nil {
		p.t.Fatalf("got %v, %v", saved, err)
	}
	want := table{}
	for i, e := range events {
		line := map[string]string{"position": text(i + 1), "id": text(e.ID), "author": text(e.Author), "reposts": null, "original_utc": null,
			"posted_utc": event.Time(e.ID).Format(time.DateTime)}
		if e.Origin != 0 {
			line["reposts"], line["original_utc"] = text(e.Origin), event.Time(e.Origin).Format(time.DateTime)
		}
		want = append(want, line)
	}
	return want
}

func (p *plant) timeline(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var events []event.Event
	last := event.First(now.Add(10 * time.Hour))
	for len(events) < 800 {
		author := 1 + r.Uint64N(300)*r.Uint64N(1<<(6*uint(r.IntN(9))))
		at := now.Add(-time.Duration(len(events)) * time.Minute)
		e := event.Event{Author: author, ID: event.Next(author, 0, at, r.Uint64())}
		if len(events)%5 == 0 { // a long sequence
			e.ID |= r.Uint64N(256) << 14
		}
		if r.IntN(3) == 0 {
			old := time.Duration(r.Int64N(int64(time.Hour) << r.IntN(15)))
			e.Origin = event.Next(1+r.Uint64N(5000), 0, at.Add(time.Minute-old), r.Uint64()) | r.Uint64N(2)<<20
		}
		if e.ID < last {
			events, last = append(events, e), e.ID
		}
	}
	for id, c := range map[uint64]struct {
		events []event.Event
		top    string
		shown  int
	}{
		70: {events, "900", 800}, 71: {events, "NULL", 100}, 72: {events[:1], "5", 1}, 73: {events[5:9], "2", 2}, 74: {nil, "2", 0},
	} {
		want := p.home(id, c.events)[:c.shown]
		got := run(t, usual(), p.dsn, "timeline.sql", map[string]string{"account": text(id), "top": c.top})
		head := got[0][0]
		same(t, "row", []string{head["account_id"], head["floor_id"], head["follows"], head["covered_utc"], head["updated_utc"]},
			[]string{text(id), "77", text(uint64(1 << 63)), "2023-11-14 22:13:20", "2023-11-14 22:13:20"})
		shown := table{}
		if len(got) > 1 {
			shown = got[1]
		}
		same(t, "events", shown, want)
	}
	p.exec(`UPDATE timeline SET list = X'1100' WHERE bucket = 74 AND account_id = 74`)
	p.exec(`UPDATE timeline SET updated_at = 0 WHERE bucket = 73 AND account_id = 73`)
	for id, says := range map[int]string{74: "The list cannot be read", 73: "No row: account 73"} {
		got := run(t, usual(), p.dsn, "timeline.sql", map[string]string{"account": text(id)})
		if len(got) == 0 || !strings.HasPrefix(got[0][0]["missing"], says) {
			t.Errorf("account %d shows %v, want %q", id, got, says)
		}
		if events := got[len(got)-1]; len(got) > 1 && len(events) > 0 {
			t.Errorf("account %d shows %v besides", id, events)
		}
	}
}
