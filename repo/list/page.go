package list

import (
	"fmt"
	"slices"
)

// Order says what a page shows and in which order.
type Order uint8

// The orders of a page.
const (
	ByFollower  Order = iota // all who follow the owner, by when they did
	ByFollowing              // all whom the owner follows, by when the owner did
	ByFriend                 // friends, by when they became friends
	ByBlocking               // Blocking, by its time; and so on
	ByMuting
	ByRequest
	ByRequested
	numOrders
)

// sortedBy is the section whose own order is that of the page; in the first
// two orders, friends come in between.
var sortedBy = [numOrders]Section{
	ByFollower:  Followers,
	ByFollowing: Following,
	ByFriend:    Friends,
	ByBlocking:  Blocking,
	ByMuting:    Muting,
	ByRequest:   Requests,
	ByRequested: Requested,
}

func (o Order) withFriends() bool { return o <= ByFollowing }

// Page returns the entries of a range, newest first, in buf[:0] or, where that is too
// short, in a new slice. more says that the range has entries beyond the page: older ones,
// or newer ones if Oldest is set. It stops as early as the order allows: at the end of the
// range, and among friends, who are sorted by the later of their two times, when that time
// is below everything on a full page. Errors wrap ErrFormat.
func (v View) Page(o Order, r Range, buf []Entry) (page []Entry, more bool, err error) {
	if o >= numOrders {
		return nil, false, fmt.Errorf("page: unknown order %d", o)
	}
	s := sortedBy[o]
	all := v.Len(s)
	if o.withFriends() {
		all += v.Len(Friends)
	}
	limit := max(0, min(r.Limit, all))
	b := best{kept: buf[:0], k: limit + 1, oldest: r.Oldest}
	err = b.addSorted(v.walk(s), &r)
	if err == nil && o.withFriends() {
		err = b.addFriends(v.walk(Friends), &r, o == ByFollower)
	}
	if err != nil {
		return nil, false, fmt.Errorf("page: %w", err)
	}
	page, more = b.page(limit)
	return page, more, nil
}

// AppendIDs appends the ids of all entries of an order to dst, in no
// particular order.
func (v View) AppendIDs(dst []uint64, o Order) []uint64 {
	if o >= numOrders {
		return dst
	}
	dst = v.appendSection(dst, sortedBy[o])
	if o.withFriends() {
		dst = v.appendSection(dst, Friends)
	}
	return dst
}

func (v *View) appendSection(dst []uint64, s Section) []uint64 {
	ids := v.ids(s)
	dst = slices.Grow(dst, v.Len(s))
	for i := range v.Len(s) {
		dst = append(dst, v.id(ids, i))
	}
	return dst
}

// Range says which entries of an order are wanted.
type Range struct {
	Before Cursor // only entries older than it; not set: from the newest
	After  Cursor // only entries newer than it; not set: to the oldest
	Limit  int    // at most so many
	Oldest bool   // of the entries in between, the oldest and not the newest
}

// holds reports whether a position lies in the range, whatever its limit.
func (r *Range) holds(c Cursor) bool {
	return (r.Before.ID == 0 || r.Before.newer(c)) && (r.After.ID == 0 || c.newer(r.After))
}

// tooOld reports whether the entry lies at or past the old end of the range. The id, which
// costs another load, counts only within one second; in tooNew too.
func (w *walker) tooOld(r *Range) bool {
	c := &r.After
	return c.ID != 0 && (w.key < c.Time || w.key == c.Time && w.id() <= c.ID)
}

// tooNew reports whether the entry lies at or before the new end of the range.
func (w *walker) tooNew(r *Range) bool {
	c := &r.Before
	return c.ID != 0 && (w.key > c.Time || w.key == c.Time && w.id() >= c.ID)
}

// entry returns the entry stepped onto, with the time that sorts it.
func (w *walker) entry() Entry { return Entry{ID: w.id(), Time: w.key} }

// best gathers the k entries of a page, one more included, from sections that are each
// walked once. It is a slice until it is full and a heap from then on, the entry to go next
// on top.
type best struct {
	kept   []Entry
	k      int
	oldest bool // keep the oldest and not the newest
	heaped bool
}

// addSorted adds what a section sorted in page order has for the page.
func (b *best) addSorted(w walker, r *Range) error {
	if b.oldest {
		return b.addLast(w, r)
	}
	if r.Before.ID != 0 {
		w.skip(r.Before.Time)
	}
	for n := 0; n < b.k && w.step() && !w.tooOld(r); {
		if !w.tooNew(r) {
			b.add(w.entry())
			n++
		}
	}
	return w.err()
}

// addLast adds the last k of the range. A second walker follows k steps behind the first:
// when the range ends it is at the first of them.
func (b *best) addLast(w walker, r *Range) error {
	n, behind := 0, w
	for w.step() && !w.tooOld(r) {
		if w.tooNew(r) {
			continue
		}
		n++
		if n == 1 {
			behind = w
		} else if n > b.k {
			behind.step()
		}
	}
	for range min(n, b.k) {
		b.add(behind.entry())
		behind.step()
	}
	return w.err()
}

// addFriends adds what friends have for a page of those who follow the owner
// (theirs) or whom the owner follows. Friends are sorted by the later of two
// times, so neither is newer than the walker's: once that is out of the range,
// or older than all of a full page, no more can come.
func (b *best) addFriends(w walker, r *Range, theirs bool) error {
	for w.step() {
		if r.After.ID != 0 && w.key < r.After.Time || b.beats(w.key) {
			break
		}
		mine, t := w.times()
		if !theirs {
			t = mine
		}
		if b.beats(t) || r.After.ID != 0 && t < r.After.Time || r.Before.ID != 0 && t > r.Before.Time {
			continue
		}
		if e := (Entry{ID: w.id(), Time: t}); r.holds(e.Cursor()) {
			b.add(e)
		}
	}
	return w.err()
}

// beats reports whether entries of time t or older are too old for the page.
func (b *best) beats(t uint32) bool {
	return b.heaped && !b.oldest && t < b.kept[0].Time
}

// add keeps e if it is among the k best so far.
func (b *best) add(e Entry) {
	if len(b.kept) < b.k {
		b.kept = append(b.kept, e)
		return
	}
	if !b.heaped {
		for i := len(b.kept)/2 - 1; i >= 0; i-- {
			b.sink(i)
		}
		b.heaped = true
	}
	if b.goesFirst(b.kept[0], e) {
		b.kept[0] = e
		b.sink(0)
	}
}

// goesFirst reports whether x has to go before y does.
func (b *best) goesFirst(x, y Entry) bool {
	return y.Cursor().newer(x.Cursor()) != b.oldest
}

func (b *best) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(b.kept) {
			return
		}
		if child+1 < len(b.kept) && b.goesFirst(b.kept[child+1], b.kept[child]) {
			child++
		}
		if !b.goesFirst(b.kept[child], b.kept[i]) {
			return
		}
		b.kept[i], b.kept[child] = b.kept[child], b.kept[i]
		i = child
	}
}

// page returns the best entries, newest first, without the one that only says that there
// are more.
func (b *best) page(limit int) (page []Entry, more bool) {
	slices.SortFunc(b.kept, func(x, y Entry) int { return y.Cursor().Compare(x.Cursor()) })
	switch {
	case len(b.kept) <= limit:
		return b.kept, false
	case b.oldest:
		copy(b.kept, b.kept[1:])
		fallthrough
	default:
		return b.kept[:limit], true
	}
}
