package list

import "slices"

// best gathers the k entries that a page and one more need, out of sections
// that are each walked once. It is a plain slice until it is full and a heap
// from then on, the entry to go next on top.
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

// addLast adds the last k of the range. A second walker follows k steps behind
// the first, so that it stands on the right entry when the range ends.
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

// beats tells whether no entry of time t or older can come onto the page.
func (b *best) beats(t uint32) bool {
	return b.heaped && !b.oldest && t < b.kept[0].Time
}

// add keeps e if it is among the k best so far.
func (b *best) add(e Entry) {
	if len(b.kept) < b.k {
		b.kept = append(b.kept, e)
		return
	}
	b.heapify()
	if b.goesFirst(b.kept[0], e) {
		b.kept[0] = e
		b.sink(0)
	}
}

func (b *best) heapify() {
	if b.heaped {
		return
	}
	for i := len(b.kept)/2 - 1; i >= 0; i-- {
		b.sink(i)
	}
	b.heaped = true
}

// goesFirst tells whether x has to go before y does.
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

// page returns the best entries, newest first, without the one that only
// tells that there are more.
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
