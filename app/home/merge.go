package home

import (
	"slices"
	"sort"

	"kith/repo"
	"kith/repo/event"
)

// Rules are the numbers of the merge, see the package doc. None is 0.
type Rules struct {
	Window int // other posts between two occurrences of a post that stand as one entry: fewer
	Reach  int // events between them, and between the oldest event of an entry and a source: fewer
	Passed int // events that a page passes which start no entry: at most
}

// NewRules returns the rules for a window of KITH_REPOST_WINDOW posts.
func NewRules(window int) Rules {
	return Rules{Window: window, Reach: 10 * window, Passed: 8000}
}

// Span is a part of the candidates of a home, complete from its first to its last event.
type Span struct {
	Events   []event.Event // newest first, each once
	Verdicts []Verdict     // of each event; those of Sift, until Page asks for more
	Top      bool          // there is nothing newer
	Bottom   bool          // there is nothing older
}

// Range says which entries are wanted, by their ids.
type Range = repo.IDRange

// Entry is a post of the home.
type Entry struct {
	Event   event.Event   // its oldest: the post itself, or a repost. Its id is what paging uses
	Sources []event.Event // its reposts, newest first
}

// Page is some entries of a home, newest first.
type Page struct {
	Entries []Entry
	// Next is where the next page goes on: its Before, or After where the oldest are
	// wanted. 0: nothing is left.
	Next uint64
}

// Need is what a page cannot be told without. If nothing is needed, the page is right.
type Need struct {
	Judge []int // events of the span whose verdicts are needed, by index
	Up    bool  // newer events than the span has
	Down  bool  // older events than the span has
}

// Any reports whether anything is needed.
func (n Need) Any() bool { return len(n.Judge) > 0 || n.Up || n.Down }

// Page returns the entries of a range, or what it needs for that. The caller adds it to the
// span and asks again.
//
// It takes what is not judged for shown, and asks for all verdicts that the page then rests
// on, and for some more: where it found events that are not shown, for as many behind
// them. So most pages take one round or two, and the worst some ten.
func (r Rules) Page(s *Span, want Range) (Page, Need) { return newPager(r, s).page(want) }

// page is Page, again and again as long as the span has the same events.
func (p *pager) page(want Range) (Page, Need) {
	p.need = Need{}
	clear(p.asked)
	var page Page
	if want.Oldest {
		page = p.oldest(want)
	} else {
		page = p.newest(want)
	}
	if p.need.Any() {
		return Page{}, p.need
	}
	return page, Need{}
}

// pager makes one page of a span. Its indexes are of the events of the home, which are
// those of the span that are not Gone.
type pager struct {
	Rules
	*Span
	place []int32 // of each event in the span
	older []int32 // the next older event that brings the same post, or how many there are
	newer []int32 // the next newer one, or -1
	asked []bool  // which events are in need.Judge
	need  Need
}

func newPager(r Rules, s *Span) *pager {
	room := make([]int32, 3*len(s.Events))
	p := &pager{Rules: r, Span: s, place: room[:0:len(s.Events)]}
	for i, v := range s.Verdicts {
		if v != Gone {
			p.place = append(p.place, int32(i))
		}
	}
	n := len(p.place)
	p.older, p.newer, p.asked = room[len(s.Events):][:n], room[2*len(s.Events):][:n], make([]bool, n)
	p.link()
	return p
}

// link finds older and newer: last is the oldest event so far of each post.
func (p *pager) link() {
	n := len(p.place)
	posts, last := newTable(n), make([]int32, n)
	for i := range p.place {
		p.older[i], p.newer[i] = int32(n), -1
		post, fresh := posts.add(p.event(i).Post())
		if !fresh {
			p.older[last[post]], p.newer[i] = int32(i), last[post]
		}
		last[post] = int32(i)
	}
}

func (p *pager) event(i int) event.Event { return p.Events[p.place[i]] }
func (p *pager) verdict(i int) Verdict   { return p.Verdicts[p.place[i]] }

// after returns the first event that is not newer than an id.
func (p *pager) after(id uint64) int {
	return sort.Search(len(p.place), func(i int) bool { return p.event(i).ID <= id })
}

// newest walks down from the top of the range.
func (p *pager) newest(want Range) Page {
	i := 0
	if want.Before != 0 {
		i = p.after(want.Before - 1)
	}
	p.need.Up = !p.Top && (want.Before == 0 || len(p.Events) == 0 || p.Events[0].ID < want.Before)
	page, full := p.walk(i, max(i, p.after(want.After)), 1, want.Limit)
	if !full && !p.Bottom && (len(p.Events) == 0 || p.Events[len(p.Events)-1].ID > want.After) {
		p.need.Down = true
	}
	return page
}

// oldest walks up from the bottom of the range.
func (p *pager) oldest(want Range) Page {
	i, end := p.after(want.After)-1, -1
	if want.Before != 0 {
		end = p.after(want.Before-1) - 1
	}
	p.need.Down = !p.Bottom && (len(p.Events) == 0 || p.Events[len(p.Events)-1].ID > want.After)
	page, full := p.walk(i, min(i, end), -1, want.Limit)
	if !full && !p.Top && (want.Before == 0 || len(p.Events) == 0 || p.Events[0].ID < want.Before) {
		p.need.Up = true
	}
	slices.Reverse(page.Entries)
	return page
}

// walk collects entries from an event on. It reports whether it found as many as wanted, or
// passed as many others as it may, before it came to the end.
func (p *pager) walk(i, end, step, limit int) (page Page, full bool) {
	var starts []int
	passed, hidden := 0, 0
	for ; i != end && len(starts) < limit && passed < p.Passed; i += step {
		page.Next = p.event(i).ID
		switch {
		case !p.shown(i):
			hidden++
			passed++
		case p.joins(i):
			passed++
		default:
			starts = append(starts, i)
		}
	}
	if full = len(starts) >= limit || passed >= p.Passed; !full {
		page.Next = 0
	}
	if len(p.need.Judge) > 0 {
		p.ahead(i, end, step, limit/4+hidden)
	}
	page.Entries = make([]Entry, len(starts))
	for k, i := range starts {
		page.Entries[k] = Entry{Event: p.event(i), Sources: p.sources(i)}
	}
	return page, full
}

// shown reports whether an event is shown, or not judged; then it asks.
func (p *pager) shown(i int) bool {
	if p.verdict(i) == Unknown && !p.asked[i] {
		p.asked[i] = true
		p.need.Judge = append(p.need.Judge, int(p.place[i]))
	}
	return p.verdict(i) != Hidden
}

// ahead asks for the next n verdicts that are not known.
func (p *pager) ahead(i, end, step, n int) {
	for ; i != end && n > 0; i += step {
		if p.verdict(i) == Unknown {
			p.shown(i)
			n--
		}
	}
}

// joins reports whether an event belongs to the entry of an older one.
func (p *pager) joins(i int) bool {
	n, hidden := len(p.place), 0
	for j := int(p.older[i]); j < n; j = int(p.older[j]) {
		if p.far(i, j) {
			return false
		}
		if p.shown(j) {
			for ; p.verdict(j) == Unknown && hidden > 0 && int(p.older[j]) < n; hidden-- {
				j = int(p.older[j])
				p.shown(j)
			}
			return true
		}
		hidden++
	}
	e := p.event(i)
	whole := p.Bottom || p.Events[len(p.Events)-1].ID <= e.Post() // no repost is older than its post
	if !whole && !p.far(i, n) {
		p.need.Down = true
	}
	return false
}

// sources returns the reposts of the entry that an event starts.
func (p *pager) sources(start int) []event.Event {
	var out []event.Event
	if e := p.event(start); e.Origin != 0 {
		out = append(out, e)
	}
	last, i := start, int(p.newer[start])
	for ; !p.far(i, last) && start-i-1 < p.Reach; i = int(p.newer[i]) {
		if i < 0 {
			p.need.Up = p.need.Up || !p.Top
			break
		}
		if p.shown(i) {
			out = append(out, p.event(i))
			last = i
		}
	}
	slices.Reverse(out)
	return out
}

// far reports whether events i and j, the older, which bring the same post, stand apart.
// They may lie just outside of the span: -1, or how many events there are.
func (p *pager) far(i, j int) bool {
	switch n := j - i - 1; {
	case n >= p.Reach:
		return true
	case n < p.Window:
		return false
	}
	post := p.event(max(i, 0)).Post()
	if i < 0 {
		post = p.event(j).Post()
	}
	others := 0
	for k := i + 1; k < j && others < p.Window; k++ {
		if int(p.older[k]) >= j && p.event(k).Post() != post { // the last between of its post
			others++
		}
	}
	return others >= p.Window
}
