package home_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/app/home"
	"kith/app/home/hometest"
	"kith/repo/event"
	"kith/repo/list"
	"kith/repo/post"
)

const reader uint64 = 1

// story is a world that changes, and whose home of the reader is read by pages.
type story struct {
	hometest.World
	at     time.Time
	order  []uint64 // the ids of all posts and reposts, oldest first
	rules  home.Rules
	judged int // posts that the last page had read
	rounds int // that the last page took
}

func newStory(r home.Rules) *story {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	return &story{at: at, rules: r, World: hometest.World{
		Now: at, Window: r.Window, Reach: r.Reach,
		Posts:   map[uint64]*post.Post{},
		Follows: map[hometest.Pair]hometest.Follow{},
		Blocks:  map[hometest.Pair]bool{},
		Mutes:   map[hometest.Pair]time.Time{},
	}}
}

// post adds a post, newer than all others, and returns its id.
func (w *story) post(author uint64, change func(*post.Post)) uint64 {
	w.at = w.at.Add(time.Millisecond)
	p := &post.Post{Author: author}
	if change != nil {
		change(p)
	}
	p.ID, p.Ver = event.Next(author, 0, w.at, 0), 1
	w.Posts[p.ID] = p
	w.order = append(w.order, p.ID)
	return p.ID
}

func (w *story) repost(author, origin uint64) uint64 {
	return w.post(author, func(p *post.Post) { p.Origin, p.Visibility = origin, w.Posts[origin].Visibility })
}

func (w *story) set(id uint64, s post.State) { w.Posts[id].State = s }

// viewer returns what the product knows of the reader.
func (w *story) viewer() *home.Viewer {
	relations := map[uint64]home.Relation{}
	is := func(who uint64, bit list.Rel) home.Relation {
		r := relations[who]
		r.Rel |= bit
		return r
	}
	for pair, f := range w.Follows {
		if pair.From == reader {
			r := is(pair.To, list.IsFollowing)
			r.Option.HideReposts, r.Option.Languages = f.HideReposts, f.Languages
			relations[pair.To] = r
		}
	}
	for pair, until := range w.Mutes {
		if pair.From == reader {
			r := is(pair.To, list.IsMuting)
			if !until.IsZero() {
				r.Option.MuteUntil = uint32(until.Unix())
			}
			relations[pair.To] = r
		}
	}
	for pair := range w.Blocks {
		switch reader {
		case pair.From:
			relations[pair.To] = is(pair.To, list.IsBlocking)
		case pair.To:
			relations[pair.From] = is(pair.From, list.IsBlockedBy)
		}
	}
	return &home.Viewer{ID: reader, Now: w.Now, Relation: func(id uint64) home.Relation { return relations[id] }}
}

// tier holds candidates of the reader's home.
type tier struct {
	w        *story
	v        *home.Viewer
	all      []event.Event // newest first
	from, to int           // of all: what the span has
	span     home.Span
}

// tier returns one that has all events of the home and such others as keep says.
func (w *story) tier(keep func(id uint64) bool) *tier {
	t := &tier{w: w, v: w.viewer()}
	for _, id := range slices.Backward(w.order) {
		e := w.Posts[id].Event()
		if t.v.Sift([]event.Event{e})[0] != home.Gone || keep(id) {
			t.all = append(t.all, e)
		}
	}
	return t
}

func (t *tier) judge(e event.Event) home.Reason {
	return t.v.Judge(e, t.w.Posts[e.ID], t.w.Posts[e.Origin])
}

// open makes a span of a part of the tier.
func (t *tier) open(from, to int) {
	t.from, t.to = from, to
	t.span = home.Span{
		Events: t.all[from:to], Verdicts: t.v.Sift(t.all[from:to]),
		Top: from == 0, Bottom: to == len(t.all),
	}
}

// extend makes the span longer at its ends.
func (t *tier) extend(up, down int) {
	old, from := t.span, t.from
	t.open(max(0, t.from-up), min(len(t.all), t.to+down))
	copy(t.span.Verdicts[from-t.from:], old.Verdicts)
}

// page reads a page as the product does: it judges and extends what is needed.
func (t *tier) page(tb rapid.TB, want home.Range, more func() int) home.Page {
	t.w.judged, t.w.rounds = 0, 0
	for {
		page, need := t.w.rules.Page(&t.span, want)
		if !need.Any() {
			return page
		}
		t.w.rounds++
		for _, i := range need.Judge {
			if t.span.Verdicts[i] != home.Unknown {
				tb.Fatalf("event %d is to be judged again", i)
			}
			t.span.Verdicts[i] = t.judge(t.span.Events[i]).Verdict()
			t.w.judged++
		}
		up, down := 0, 0
		if need.Up {
			up = more()
		}
		if need.Down {
			down = more()
		}
		if need.Up && t.span.Top || need.Down && t.span.Bottom {
			tb.Fatalf("%+v is needed of a span with top %t and bottom %t", need, t.span.Top, t.span.Bottom)
		}
		t.extend(up, down)
	}
}

// plain returns entries in the form of the plain program.
func plain(entries []home.Entry) []hometest.Entry {
	var out []hometest.Entry
	for _, e := range entries {
		p := hometest.Entry{ID: e.Event.ID, Post: e.Event.Post()}
		for _, s := range e.Sources {
			p.Sources = append(p.Sources, s.ID)
		}
		out = append(out, p)
	}
	return out
}

// within returns the entries of a home that a range asks for, at most limit.
func within(all []hometest.Entry, want home.Range) []hometest.Entry {
	var in []hometest.Entry
	for _, e := range all {
		if (want.Before == 0 || e.ID < want.Before) && e.ID > want.After {
			in = append(in, e)
		}
	}
	if n := min(want.Limit, len(in)); want.Oldest {
		return in[len(in)-n:]
	} else {
		return in[:n]
	}
}

func same(a, b []hometest.Entry) bool {
	return slices.EqualFunc(a, b, func(a, b hometest.Entry) bool {
		return a.ID == b.ID && a.Post == b.Post && slices.Equal(a.Sources, b.Sources)
	})
}

// all returns the whole home of the reader, read as one page.
func (w *story) all(tb testing.TB) []hometest.Entry {
	t := w.tier(func(uint64) bool { return true })
	t.open(0, len(t.all))
	page := t.page(tb, home.Range{Limit: len(t.all) + 1}, nil)
	if page.Next != 0 {
		tb.Errorf("the page of all goes on at %d", page.Next)
	}
	return plain(page.Entries)
}

func names(w *story, entries []hometest.Entry) string {
	s := ""
	for _, e := range entries {
		s += fmt.Sprintf(" %d:%d", slices.Index(w.order, e.ID), slices.Index(w.order, e.Post))
		for _, id := range e.Sources {
			s += fmt.Sprintf("<%d", slices.Index(w.order, id))
		}
	}
	return s
}
