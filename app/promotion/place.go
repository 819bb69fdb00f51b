package promotion

import "kith/app/home"

// live is a promotion that is shown now.
type live struct {
	id, post      uint64
	every, weight int
}

// slot is a promotion after so many entries of a page.
type slot struct {
	after int
	live
}

// place decides which promotions stand on a page, and where. It is a pure function of
// these, the reader and the entries, so that the same page shows the same.
//
// A promotion stands after its Every entries at the earliest, and once on a page. Between
// two stand as many entries as the smallest Every says. Where several could stand, one is
// drawn by weight. One whose Every is longer than the page stands on some pages only, as
// often as that says, at places that are drawn.
func place(all []live, reader uint64, items []home.Item) (slots []slot) {
	n := len(items)
	if n < 2 || len(all) == 0 {
		return nil
	}
	gap, page, used := all[0].every, mix(reader, items[0].Event.ID), make([]bool, len(all))
	for _, p := range all {
		gap = min(gap, p.every)
	}
	since := 0 // entries since the last place
	if gap >= n {
		since = int(page % uint64(gap))
	}
	for after := 1; after < n; after++ {
		if since++; since < gap {
			continue
		}
		since = 0
		due := func(i int) bool {
			p := &all[i]
			late := p.every < n && after >= p.every
			return !used[i] && (late || p.every >= n && mix(page+uint64(after), p.id)%uint64(p.every) < uint64(gap))
		}
		if i := draw(all, due, mix(reader, items[after-1].Event.ID)); i >= 0 {
			slots = append(slots, slot{after, all[i]})
			used[i] = true
		}
	}
	return slots
}

// draw returns one of those that are due, by weight, or -1.
func draw(all []live, due func(i int) bool, number uint64) int {
	total := 0
	for i, p := range all {
		if due(i) {
			total += p.weight
		}
	}
	if total == 0 {
		return -1
	}
	left := int(number % uint64(total))
	for i, p := range all {
		if due(i) {
			if left -= p.weight; left < 0 {
				return i
			}
		}
	}
	return -1 // not reached
}

// mix makes a number of two, as good as random.
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
