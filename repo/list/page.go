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

// Page returns the entries of a range, newest first, in buf[:0] or, where that
// is too short, in a new slice. more tells whether the range has entries
// beyond the page: older ones, or newer ones if Oldest is set. It reads the
// packed bytes and stops as early as their order allows: at the end of the
// range, and among friends, who are sorted by the later of their two times,
// when that time is below everything on a full page. Errors wrap ErrFormat.
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
