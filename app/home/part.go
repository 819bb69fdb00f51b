package home

import (
	"cmp"
	"context"
	"slices"
	"time"

	"kith/repo"
	"kith/repo/event"
	"kith/repo/timeline"
)

// part is a piece of a home that a reading has at hand, without a gap: the line, the window
// that is kept below it, or both, and what was gathered at their ends.
type part struct {
	events      []event.Event // newest first
	floor, high uint64        // nothing is missing from floor, 0: the beginning, to high, newest: now
	line        int           // how many of the events, the newest, are of the line
	builtAt     time.Time     // when the others were read, the first of them
	grown       bool          // something was gathered
}

// newest is past all ids.
var newest = repo.IDRange{}.Below()

// begin gets the first span: of the line, if the page begins in it, else of the surroundings
// of the event at which the page begins.
func (r *read) begin(ctx context.Context, want Range) error {
	at := want.Before
	if r.up = want.Oldest; r.up {
		at = want.After
	}
	var err error
	if r.line, err = r.load(ctx); err != nil {
		return err
	}
	r.ofLine()
	if at == 0 && !r.up {
		at = newest
	}
	if !r.part.has(at) && r.line.Partial() {
		r.readLine()
	}
	if !r.part.has(at) {
		r.below(ctx, at)
	}
	r.first, _ = slices.BinarySearchFunc(r.part.events, at, func(e event.Event, id uint64) int { return cmp.Compare(id, e.ID) })
	r.first = max(0, r.first-leastSpan)
	r.end = min(r.first+2*leastSpan, len(r.part.events))
	return r.cut(ctx)
}

// ofLine makes the part that the line is, as far as that is read.
func (r *read) ofLine() {
	n := len(r.line.Events)
	r.part = part{events: r.line.Events, floor: r.line.Floor, high: newest, line: n, builtAt: r.viewer.Now}
	if r.line.Partial() {
		r.part.floor = r.line.Events[n-1].ID
	}
}

// readLine reads the rest of the line.
func (r *read) readLine() {
	r.line = r.line.Whole()
	r.ofLine()
}

// has reports whether something below an id is in the part, or the end of the home.
func (p *part) has(at uint64) bool { return at <= p.high && (at > p.floor || p.floor == 0) }

// below finds the part in which a page begins below the line: in the window that is kept, or
// nothing yet.
func (r *read) below(ctx context.Context, at uint64) {
	w, ok := r.window(ctx)
	if ok && r.part.join(&w) && r.part.has(at) {
		return
	}
	r.part = part{events: w.Events, floor: w.Floor, high: w.High, builtAt: w.BuiltAt}
	if !ok || !r.part.has(at) {
		r.part = part{floor: at + 1, high: at, builtAt: r.viewer.Now}
	}
}

// join adds what a window has below the part, if there is no gap, and reports whether it did.
func (p *part) join(w *timeline.Window) bool {
	if w.High < p.floor-1 || w.Floor >= p.floor {
		return false
	}
	more := slices.IndexFunc(w.Events, func(e event.Event) bool { return e.ID < p.floor })
	if more >= 0 {
		p.events = append(p.events, w.Events[more:]...)
	}
	p.floor, p.builtAt = w.Floor, w.BuiltAt
	return true
}

// extend adds events above and below to the span.
func (r *read) extend(ctx context.Context, need Need, n int) error {
	if up, down := need.Up && r.first > 0, need.Down && r.end < len(r.part.events); !up && !down {
		if err := r.grow(ctx, need, n); err != nil {
			return err
		}
	}
	if need.Up {
		r.first = max(0, r.first-n)
	}
	if need.Down {
		r.end = min(r.end+n, len(r.part.events))
	}
	return r.cut(ctx)
}

// grow adds to the part what lies past its ends: the window, or what n feeds have there. Where
// the next pages are going to look it gathers more, to be kept for them.
func (r *read) grow(ctx context.Context, need Need, n int) error {
	p := &r.part
	if need.Down && r.line.Partial() {
		r.readLine() // a part that does not begin with the line has read it
		return nil
	}
	if need.Down {
		if w, ok := r.window(ctx); ok && p.join(&w) {
			return nil
		}
	}
	ahead := max(n, r.cfg.Cap)
	older, newer := below(r.cfg.Posts, p.floor, ahead), above(r.cfg.Posts, p.high, n)
	if r.up {
		older.enough, newer.enough = n, ahead
	}
	var wanted []*gatherer
	if need.Down {
		wanted = append(wanted, older)
	}
	if need.Up {
		wanted = append(wanted, newer)
	}
	if err := r.gather(ctx, wanted); err != nil {
		return err
	}
	p.grown = true
	if need.Down {
		p.events, p.floor = append(p.events, older.found...), older.reach
	}
	if need.Up {
		slices.Reverse(newer.found)
		p.events, p.high = append(newer.found, p.events...), newer.reach
		r.first += len(newer.found)
		r.end += len(newer.found)
	}
	return nil
}

// cut makes the span of a piece of the part: a page seldom needs all of it, and all that a
// span has is worked on.
func (r *read) cut(ctx context.Context) error {
	p := &r.part
	r.span = Span{Events: p.events[r.first:r.end], Top: r.first == 0 && p.high == newest, Bottom: r.end == len(p.events) && p.floor == 0}
	return r.sift(ctx)
}

// window returns the window that is kept, if it is good.
func (r *read) window(ctx context.Context) (w timeline.Window, ok bool) {
	if r.looked {
		return w, false
	}
	r.looked = true
	w, ok = r.cfg.Lines.Window(ctx, r.viewer.ID)
	now := r.viewer.Now
	return w, ok && w.RowVer == r.row.Ver && r.life(&w) > 0 && !w.BuiltAt.After(now.Add(slack)) && (w.Until == 0 || now.Unix() < int64(w.Until))
}

// life is how long a window may be used from now on: no longer than a line, since it lacks
// what comes late. One that goes back further is asked for less often.
func (r *read) life(w *timeline.Window) time.Duration {
	oldest := w.Floor
	if n := len(w.Events); oldest == 0 && n > 0 {
		oldest = w.Events[n-1].ID
	}
	const day = 24 * time.Hour
	life := r.cfg.Recheck
	switch age := r.viewer.Now.Sub(event.Time(oldest)); {
	case age > 365*day:
		life /= 5
	case age > 30*day:
		life /= 2
	}
	return w.BuiltAt.Add(life).Sub(r.viewer.Now)
}

// keep keeps what was gathered around the page. What is so new that some of it may still come
// is left out.
func (r *read) keep(ctx context.Context) {
	p := &r.part
	from, to := max(p.line, r.first-r.cfg.Cap), min(len(p.events), r.end+r.cfg.Cap)
	if !p.grown || from > to {
		return
	}
	w := timeline.Window{Floor: p.floor, High: p.high, RowVer: r.row.Ver, BuiltAt: p.builtAt, Until: r.until}
	if to < len(p.events) {
		w.Floor = p.events[to-1].ID
	}
	if from > 0 {
		w.High = p.events[from-1].ID - 1
	}
	w.High = min(w.High, event.First(p.builtAt.Add(-slack))-1)
	for from < to && p.events[from].ID > w.High {
		from++
	}
	if w.Events = p.events[from:to]; w.High >= w.Floor {
		r.cfg.Lines.Keep(ctx, r.viewer.ID, w, r.life(&w))
	}
}
