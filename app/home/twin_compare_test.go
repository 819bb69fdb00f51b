package home_test

import (
	"fmt"
	"maps"
	"slices"

	"kith/app"
	"kith/app/home"
	"kith/app/home/hometest"
	"kith/app/post"
	"kith/repo/event"
	posts "kith/repo/post"
)

// compare compares all that accounts can read with the plain program.
func (tw *twin) compare() error {
	tw.settle()
	for reader := range twinReaders {
		if err := tw.home(reader); err != nil {
			return err
		}
	}
	for _, of := range []func() error{tw.counts, tw.statuses, tw.marked, tw.onPost, func() error { return tw.refresh(0) }, func() error { return tw.refresh(tw.r.IntN(twinReaders)) }} {
		if err := of(); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until all is pushed and counted.
func (tw *twin) settle() {
	tw.machine.settle()
	tw.model.Now = tw.machine.worlds[0].Now()
	for i := range tw.reading {
		tw.reading[i].see(tw.model.Now, tw.model.Home(tw.people[i]))
	}
}

// home compares a home, walked down or up, and pages somewhere.
func (tw *twin) home(reader int) error {
	w, id := tw.machine.one(tw.r), tw.people[reader]
	model := tw.model.Home(id)
	if tw.r.IntN(3) == 0 {
		w.cool(id) // else the row is older
	} else if w.warm != nil {
		w.lines.Drop(tw.ctx, id)
	}
	got, err := tw.walkHome(w, id, tw.r.IntN(2) == 0)
	if err == nil {
		err = tw.same(reader, "walked", got, model)
	}
	for range 3 {
		if err != nil {
			return err
		}
		want := home.Range{Before: tw.anyID(), After: tw.anyID(), Limit: 1 + tw.r.IntN(8), Oldest: tw.r.IntN(2) == 0}
		var page home.Items
		if page, err = w.Home(tw.ctx, id, want); err == nil {
			err = tw.same(reader, fmt.Sprintf("below %s, above %s, %d of the oldest: %t", tw.name(want.Before), tw.name(want.After), want.Limit, want.Oldest), itemEntries(page.Items), within(model, want))
		}
	}
	return err
}

// anyID returns the id of a post, or one beside it, or 0.
func (tw *twin) anyID() uint64 {
	ids := slices.Sorted(maps.Keys(tw.model.Posts))
	if len(ids) == 0 || tw.r.IntN(3) == 0 {
		return 0
	}
	return ids[tw.r.IntN(len(ids))] + uint64(tw.r.IntN(3)) - 1
}

func (tw *twin) walkHome(w *world, reader uint64, oldest bool) (got []hometest.Entry, err error) {
	want := home.Range{Oldest: oldest}
	for {
		want.Limit = 1 + tw.r.IntN(tw.machine.limit)
		page, err := w.Home(tw.ctx, reader, want)
		if err != nil {
			return nil, err
		}
		if oldest {
			got, want.After = append(itemEntries(page.Items), got...), page.Next
		} else {
			got, want.Before = append(got, itemEntries(page.Items)...), page.Next
		}
		if page.Next == 0 {
			return got, nil
		}
	}
}

func itemEntries(items []home.Item) []hometest.Entry {
	entries := make([]home.Entry, len(items))
	for i, item := range items {
		entries[i] = item.Entry
	}
	return plain(entries)
}

// same compares entries of a home.
func (tw *twin) same(reader int, what string, got, want []hometest.Entry) error {
	if same(got, want) {
		return nil
	}
	return differs("home of p%d, %s: got %s, want %s", reader, what, tw.entries(got), tw.entries(want))
}

func (tw *twin) entries(entries []hometest.Entry) (s string) {
	for _, e := range entries {
		s += " " + tw.name(e.ID)
		if e.Post != e.ID {
			s += ":" + tw.name(e.Post)
		}
		for _, id := range e.Sources {
			s += "<" + tw.name(id)
		}
	}
	return s
}

// cursor is a walk down a home while things change.
type cursor struct {
	next       uint64
	throughout map[uint64]bool // entries that were there at each page, and are not shown yet
}

// walk reads one more page of a reader's walk, or the first one. The page is what the home
// is now; and what was there throughout is shown.
func (tw *twin) walk(reader int) error {
	tw.settle()
	c, id := &tw.walks[reader], tw.people[reader]
	model := tw.model.Home(id)
	now := map[uint64]bool{}
	for _, e := range model {
		now[e.ID] = true
	}
	if c.throughout == nil {
		c.throughout = maps.Clone(now)
	}
	maps.DeleteFunc(c.throughout, func(id uint64, _ bool) bool { return !now[id] })
	want := home.Range{Before: c.next, Limit: 1 + tw.r.IntN(4)}
	page, err := tw.machine.one(tw.r).Home(tw.ctx, id, want)
	if err != nil {
		return err
	}
	got := itemEntries(page.Items)
	if err := tw.same(reader, "below "+tw.name(c.next), got, within(model, want)); err != nil {
		return err
	}
	for _, e := range got {
		delete(c.throughout, e.ID)
	}
	if c.next = page.Next; c.next == 0 {
		missed := slices.Collect(maps.Keys(c.throughout))
		if *c = (cursor{}); len(missed) > 0 {
			return differs("home of p%d: the walk missed %s, which were there throughout", reader, tw.names(missed))
		}
	}
	return nil
}

// counts compares the counts of all posts and accounts, as one of the processes has them.
func (tw *twin) counts() error {
	w := tw.machine.one(tw.r)
	all, _, err := w.Posts.Load(tw.ctx, slices.Collect(maps.Keys(tw.model.Posts)))
	if err != nil {
		return err
	}
	for _, p := range all {
		m := tw.model.Posts[p.ID]
		if p.State != m.State {
			return differs("%s has state %d, want %d", tw.name(p.ID), p.State, m.State)
		}
		if want := tw.model.Counts(p.ID); p.State != posts.Deleted && p.Counts != want {
			return differs("%s has %+v, want %+v", tw.name(p.ID), p.Counts, want)
		}
	}
	counts, err := w.Posts.Counts(tw.ctx, tw.people)
	if err != nil {
		return err
	}
	for i, c := range counts {
		by := tw.model.Counted(tw.people[i])
		want := post.Counts{Statuses: uint32(len(by))}
		if len(by) > 0 {
			want.Last = event.Time(by[0]).UnixMilli()
		}
		if c != want {
			return differs("p%d has %+v, want %+v", i, c, want)
		}
	}
	return nil
}

func (tw *twin) person() uint64 { return tw.people[tw.r.IntN(twinPeople)] }

// list compares a list, walked down or up by pages of any size, with what it should be.
func (tw *twin) list(want []uint64, page func(post.Range) (post.Page, error), what string, args ...any) error {
	r, got := post.Range{Oldest: tw.r.IntN(2) == 0}, []uint64(nil)
	for {
		r.Limit = 1 + tw.r.IntN(6)
		p, err := page(r)
		if err != nil {
			return err
		}
		var ids []uint64
		for i := range p.Views {
			ids = append(ids, p.Views[i].Post.ID)
		}
		if r.Oldest {
			got, r.After = append(ids, got...), p.First
		} else {
			got, r.Before = append(got, ids...), p.Last
		}
		if !p.Full {
			return tw.alike(got, want, what, args...)
		}
	}
}

func (tw *twin) alike(got, want []uint64, what string, args ...any) error {
	if slices.Equal(got, want) {
		return nil
	}
	return differs("%s: got %s, want %s", fmt.Sprintf(what, args...), tw.names(got), tw.names(want))
}

// statuses compares the posts of an account as somebody sees them.
func (tw *twin) statuses() error {
	w, viewer, author := tw.machine.one(tw.r), tw.person(), tw.person()
	if tw.r.IntN(4) == 0 {
		viewer = 0
	}
	f := post.Filter{NoReplies: tw.r.IntN(3) == 0, NoReposts: tw.r.IntN(3) == 0}
	return tw.list(tw.model.ByFor(viewer, author, f.NoReplies, f.NoReposts), func(r post.Range) (post.Page, error) { return w.Posts.Of(tw.ctx, viewer, author, f, r) },
		"posts of %s for %s, %+v", tw.name(author), tw.name(viewer), f)
}

// marked compares what an account noted, and what it is answered.
func (tw *twin) marked() error {
	w, who := tw.machine.one(tw.r), tw.person()
	for _, l := range []struct {
		what string
		want []uint64
		page func(post.Range) (post.Page, error)
	}{
		{"favourites", tw.model.Of(tw.model.Favourites, who), func(r post.Range) (post.Page, error) { return w.Posts.Favourites(tw.ctx, who, r) }},
		{"bookmarks", tw.model.Of(tw.model.Bookmarks, who), func(r post.Range) (post.Page, error) { return w.Posts.Bookmarks(tw.ctx, who, r) }},
		{"pins", tw.model.Of(tw.model.Pins, who), func(r post.Range) (post.Page, error) {
			return w.Posts.Of(tw.ctx, who, who, post.Filter{Pinned: true}, r)
		}},
		{"replies received", tw.model.Received(who), func(r post.Range) (post.Page, error) { return w.Posts.Received(tw.ctx, who, r) }},
	} {
		if err := tw.list(l.want, l.page, "%s of %s", l.what, tw.name(who)); err != nil {
			return err
		}
	}
	var ids []uint64
	for id, p := range tw.model.Posts {
		if p.State != posts.Deleted {
			ids = append(ids, id)
		}
	}
	got, err := w.Posts.Marks(tw.ctx, who, ids)
	for _, id := range ids {
		m := hometest.Mark{Account: who, Post: id}
		want := post.Marked{Favourite: slices.Contains(tw.model.Favourites, m), Bookmark: slices.Contains(tw.model.Bookmarks, m), Pin: slices.Contains(tw.model.Pins, m)}
		for _, r := range tw.model.Reposts(id) {
			want.Repost = want.Repost || tw.model.Posts[r].Author == who
		}
		if got[id] != want && err == nil {
			err = differs("%s for %s is %+v, want %+v", tw.name(id), tw.name(who), got[id], want)
		}
	}
	return err
}

// onPost compares what somebody sees of a post: itself, its conversation, who reposted and
// who favours it.
func (tw *twin) onPost() error {
	ids := slices.Sorted(maps.Keys(tw.model.Posts))
	if len(ids) == 0 {
		return nil
	}
	w, viewer, id := tw.machine.one(tw.r), tw.person(), ids[len(ids)-1-tw.r.IntN(min(len(ids), 40))]
	up, down, err := w.Posts.Thread(tw.ctx, viewer, id)
	if sees := tw.model.SeesEvent(viewer, tw.model.Posts[id]); !sees || err != nil {
		if sees || app.KindOf(err) != app.NotFound {
			return differs("conversation of %s for %s: %v; sees it: %t", tw.name(id), tw.name(viewer), err, sees)
		}
		return nil
	}
	of := tw.shown(tw.model.Posts[id]).ID
	if err := tw.alike(viewIDs(up), tw.model.Above(viewer, of), "what %s answers, for %s", tw.name(id), tw.name(viewer)); err != nil {
		return err
	}
	if err := tw.alike(viewIDs(down), tw.model.Below(viewer, of), "answers to %s, for %s", tw.name(id), tw.name(viewer)); err != nil {
		return err
	}
	var reposters []uint64
	for _, r := range tw.model.Reposts(of) {
		if p := tw.model.Posts[r]; tw.model.SeesEvent(viewer, p) && tw.model.Names(viewer, p.Author) {
			reposters = append(reposters, p.Author)
		}
	}
	if err := tw.reactors(viewer, of, "reposters", reposters, w.Posts.Reposters); err != nil {
		return err
	}
	favourers := slices.DeleteFunc(tw.model.Favourites.On(of), func(a uint64) bool { return !tw.model.Names(viewer, a) })
	return tw.reactors(viewer, of, "favourers", favourers, w.Posts.Favourers)
}

func viewIDs(views []post.View) (ids []uint64) {
	for i := range views {
		ids = append(ids, views[i].Post.ID)
	}
	return ids
}
