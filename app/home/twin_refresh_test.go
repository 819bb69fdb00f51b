package home_test

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"kith/app/home"
	"kith/app/home/hometest"
	"kith/app/marker"
	"kith/app/post"
	"kith/repo/event"
	markers "kith/repo/marker"
)

// reading is what refreshes handed out to the devices of a reader, since the first one, or
// since the position was set back.
type reading struct {
	begun    bool
	floor    uint64          // what is below was passed
	position uint64          // as the last marker said
	handed   map[uint64]bool // entries
	promised map[uint64]bool // entries that came in time, or are above where it was set back to
}

// see notes which entries of a home are to be handed out: those within home.Late of their
// time.
func (r *reading) see(now time.Time, entries []hometest.Entry) {
	if !r.begun {
		return
	}
	for _, e := range entries {
		if e.ID > r.floor && !r.handed[e.ID] && now.Sub(event.Time(e.ID)) < home.Late {
			r.promised[e.ID] = true
		}
	}
}

// refresh lets one or two devices of a reader ask at once for what is new. What they get was
// not handed out before, and is the oldest of what is to be.
func (tw *twin) refresh(reader int) error {
	tw.settle()
	id, r := tw.people[reader], &tw.reading[reader]
	model := tw.model.Home(id)
	devices := make([]marker.Refreshed, 1+tw.r.IntN(2))
	errs := make([]error, len(devices))
	var all sync.WaitGroup
	for i := range devices {
		m := tw.machine.markers[i%len(tw.machine.markers)]
		all.Go(func() {
			devices[i], errs[i] = m.Refresh(tw.ctx, id, func([]home.Item) error { return nil })
		})
	}
	all.Wait()
	slices.SortFunc(devices, func(a, b marker.Refreshed) int { // as they came: what moves the marker is the first of its ver
		return cmp.Or(cmp.Compare(a.Marker.Ver, b.Marker.Ver), -cmp.Compare(len(a.Items), len(b.Items)))
	})
	for i, d := range devices {
		if errs[i] != nil {
			return errs[i]
		}
		if err := tw.handed(reader, r, d, model); err != nil {
			return err
		}
	}
	return nil
}

// handed compares what one refresh handed out.
func (tw *twin) handed(reader int, r *reading, d marker.Refreshed, model []hometest.Entry) error {
	got := itemEntries(d.Items)
	fail := func(what string) error {
		return differs("refresh of p%d hands out%s: %s; home%s", reader, tw.entries(got), what, tw.entries(model))
	}
	first := !r.begun
	if first && len(got) > 0 {
		*r = reading{begun: true, handed: map[uint64]bool{}, promised: map[uint64]bool{}}
		if len(model) >= marker.PageSize {
			r.floor = model[marker.PageSize-1].ID - 1
		}
	}
	now := map[uint64]hometest.Entry{}
	for _, e := range model {
		now[e.ID] = e
	}
	for _, e := range got {
		if r.handed[e.ID] {
			return fail(tw.name(e.ID) + " again")
		}
		if !alike(e, now[e.ID]) {
			return fail("want" + tw.entries([]hometest.Entry{now[e.ID]}))
		}
		r.handed[e.ID] = true
		delete(r.promised, e.ID)
	}
	if n := min(len(model), marker.PageSize); first && !same(got, model[:n]) {
		return fail("want the newest")
	}
	if len(got) > marker.PageSize || !slices.IsSortedFunc(got, func(a, b hometest.Entry) int { return int(b.ID>>10) - int(a.ID>>10) }) {
		return fail("want 30 at most, newest first")
	}
	if n := len(got); n > 0 && d.Marker.LastRead < got[0].ID || d.Marker.LastRead < r.position {
		return fail("the position is " + tw.name(d.Marker.LastRead))
	}
	r.position = d.Marker.LastRead
	if len(d.Marker.Recent) > markers.MaxRecent-marker.PageSize {
		clear(r.promised) // it cannot remember more
	}
	for _, id := range slices.Sorted(maps.Keys(r.promised)) {
		_, there := now[id]
		passed := !d.More || len(got) > 0 && id < got[0].ID
		switch {
		case there && passed:
			return fail("not " + tw.name(id))
		case passed && tw.model.Now.Sub(event.Time(id)) >= home.Late:
			delete(r.promised, id) // it came in time, and has gone; should it come again, it is late
		}
	}
	return nil
}

// setBack sets the position of a reader to a post.
func (tw *twin) setBack(reader int, id uint64) error {
	tw.settle()
	r := &tw.reading[reader]
	_, err := tw.machine.markers[0].Set(tw.ctx, tw.people[reader], []marker.Move{{Timeline: markers.Home, LastRead: id}})
	if err != nil || r.begun && r.position == id {
		return err
	}
	*r = reading{begun: id != 0, floor: id, position: id, handed: map[uint64]bool{}, promised: map[uint64]bool{}}
	for _, e := range tw.model.Home(tw.people[reader]) {
		if e.ID > id {
			r.promised[e.ID] = true
		}
	}
	return nil
}

// reactors compares the accounts that reposted or favour a post, walked down by pages.
func (tw *twin) reactors(viewer, of uint64, what string, want []uint64, page func(context.Context, uint64, uint64, post.Range) (post.People, error)) error {
	var got []uint64
	for r := (post.Range{Limit: 1 + tw.r.IntN(5)}); ; {
		found, err := page(tw.ctx, viewer, of, r)
		if err != nil {
			return err
		}
		got, r.Before = append(got, found.Accounts...), found.Last
		if !found.Full {
			return tw.alike(got, want, "%s of %s", what, tw.name(of))
		}
	}
}
