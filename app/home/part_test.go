package home_test

import (
	"slices"
	"testing"
	"time"

	"kith/app/home"
	"kith/repo/event"
	"kith/repo/feed"
	posts "kith/repo/post"
	"kith/repo/timeline"
)

// deep is a reader whose home goes on below the line, and who notes whose feeds are read.
type deep struct {
	*world
	*home.Service
	t       *testing.T
	noted   *asked
	reader  uint64
	authors []uint64
	want    []uint64 // what stands in the home
}

const deepEach = 100

func newDeep(t *testing.T) *deep {
	w := newWorld(t, config{lines: local(t)})
	p := w.People(4)
	d := &deep{world: w, t: t, noted: &asked{Feeds: w.Feeds}, reader: p[0], authors: p[1:]}
	d.Service = d.service(w.lines)
	w.Follows(d.reader, d.authors...)
	begin := w.Now()
	for i, author := range d.authors {
		many(t, w, author, deepEach, begin.Add(time.Duration(i)*time.Minute), time.Hour)
	}
	w.Clock.Add(120 * 3600)
	d.want = d.walk(d.service(blind{w.lines}))
	if len(d.want) != len(d.authors)*deepEach {
		t.Fatalf("%d entries", len(d.want))
	}
	return d
}

func (d *deep) service(lines timeline.Lines) *home.Service {
	s := home.New(home.Config{Relations: d.Rows, Posts: d.Stored, Feeds: d.noted, Lines: lines, Now: d.Now, Push: true, Cap: 20})
	d.t.Cleanup(s.Close)
	return s
}

// walk reads a home down to its end.
func (d *deep) walk(s *home.Service) (all []uint64) {
	d.t.Helper()
	for r := (home.Range{Limit: 10}); ; {
		page, err := s.Home(d.t.Context(), d.reader, r)
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, ids(page.Items)...)
		if r.Before = page.Next; page.Next == 0 {
			return all
		}
	}
}

// below reads a page below the line, and returns whose feeds were read for it.
func (d *deep) below(at uint64) (page []uint64, read []uint64) {
	d.t.Helper()
	d.noted.ids = nil
	got, err := d.Service.Home(d.t.Context(), d.reader, home.Range{Before: at, Limit: 10})
	if err != nil {
		d.t.Fatal(err)
	}
	return ids(got.Items), slices.DeleteFunc(d.noted.ids, func(id uint64) bool { return id == d.reader })
}

func (d *deep) expect(what string, at int, want []uint64, kept bool) {
	d.t.Helper()
	page, read := d.below(d.want[at])
	if !slices.Equal(page, want) || kept != (len(read) == 0) {
		d.t.Errorf("%s: got %v, want %v; read the feeds of %v", what, page, want, read)
	}
}

// What was gathered below the line is kept for the next pages, as long as it is right.
func TestService_Home_Window(t *testing.T) {
	d := newDeep(t)
	at := func(i int) []uint64 { return d.want[i+1 : i+11] }
	d.expect("the first page", 50, at(50), false)
	d.expect("again", 50, at(50), true)
	d.expect("the next one", 60, at(60), true)
	d.expect("far below", 250, at(250), false)
	d.expect("there again", 250, at(250), true)

	d.Clock.Add(200)
	d.expect("minutes later", 250, at(250), true)
	d.Clock.Add(200)
	d.expect("too old", 250, at(250), false)

	if _, err := d.Block(t.Context(), d.reader, d.authors[0]); err != nil {
		t.Fatal(err)
	}
	rest := slices.DeleteFunc(slices.Clone(d.want[251:]), func(id uint64) bool { return id&1023 == d.authors[0]&1023 })
	d.expect("one is blocked", 250, rest[:10], false)
	if _, err := d.Unblock(t.Context(), d.reader, d.authors[0]); err != nil {
		t.Fatal(err)
	}
	d.Follows(d.reader, d.authors[0])
	d.expect("he is followed again", 250, at(250), false)
	if _, err := d.Mute(t.Context(), d.reader, d.authors[0], true, time.Minute); err != nil {
		t.Fatal(err)
	}
	d.expect("he is muted", 250, rest[:10], false)
	d.expect("is still", 250, rest[:10], true)
	d.Clock.Add(61)
	d.expect("is no more", 250, at(250), false)
}

// Posts of the past that are imported come into a window with the next one.
func TestService_Home_WindowPast(t *testing.T) {
	d := newDeep(t)
	d.expect("the first page", 60, d.want[61:71], false)
	imported := d.past(d.authors[1], event.Time(d.want[65]).Add(time.Second))
	d.expect("it is late", 60, d.want[61:71], true)
	d.Clock.Add(int64(home.DefaultRecheck / time.Second))
	d.expect("it is there", 60, slices.Concat(d.want[61:65], []uint64{imported}, d.want[65:70]), false)
}

// past imports a post.
func (d *deep) past(author uint64, at time.Time) uint64 {
	d.t.Helper()
	feeds, err := d.world.Feeds.Load(d.t.Context(), []uint64{author}, true)
	if err != nil {
		d.t.Fatal(err)
	}
	p := &posts.Post{Author: author, Content: posts.Content{Text: "of the past"}}
	p.ID = event.First(at) | author&1023
	feeds[author].AddPast(p)
	row, err := d.world.Feeds.Pack(feeds[author])
	if err != nil {
		d.t.Fatal(err)
	}
	if won, err := d.world.Feeds.Swap(d.t.Context(), []feed.Row{row}); !won || err != nil {
		d.t.Fatal(won, err)
	}
	return p.ID
}

// A window that goes back a year or more is kept for a shorter time.
func TestService_Home_WindowOld(t *testing.T) {
	for days, kept := range map[int]int64{1: 299, 100: 149, 1000: 59} {
		d := newDeep(t)
		d.Clock.Add(int64(days) * 24 * 3600)
		d.expect("the first page", 60, d.want[61:71], false)
		d.Clock.Add(kept)
		d.expect("kept", 60, d.want[61:71], true)
		d.Clock.Add(1)
		d.expect("over", 60, d.want[61:71], false)
	}
}

// What is so new that some of it may still come is not kept, whether it is in the line or below.
func TestService_Home_WindowNew(t *testing.T) {
	w := newWorld(t, config{lines: local(t), cap: 3})
	p := w.People(3)
	w.Follows(p[0], p[1:]...)
	var want []uint64
	for range 9 {
		want = append([]uint64{w.Post(t, p[1], "hi").ID}, want...)
	}
	w.pushed()
	w.want(p[0], want...)
	many(t, w, p[2], 1, event.Time(want[5]), 0)
	feeds, err := w.Feeds.Rows(t.Context(), []uint64{p[2]})
	if err != nil {
		t.Fatal(err)
	}
	w.lines.Begin(t.Context(), p[0]) // the line is built anew
	want = append(want, feeds[0].LastID)
	slices.Sort(want)
	slices.Reverse(want)
	w.want(p[0], want...)
}
