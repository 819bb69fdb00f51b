package relation

import "kith/repo/list"

// Recount makes the counts those of the list plus those of the archive. It
// reports false where the archive has not been counted yet; the caller then
// answers ErrRecall.
func (d *Draft) Recount() bool {
	d.recount = true
	return d.counted
}

// countAnew sets the counts of a draft that was just opened, before anybody is
// recalled: what moves from the archive into the list changes no count.
func (d *Draft) countAnew(archive []Header) {
	var c Counts
	for s := list.Friends; s <= list.Following; s++ {
		c.Add(s, d.list.Len(s))
	}
	n := 0
	for _, h := range archive {
		c.Add(h.Section, int(h.N))
		n += int(h.N)
	}
	d.touch(c != d.counts)
	d.counts, d.counted, d.archived = c, true, n > 0
}

// Add counts n more entries of a section.
func (c *Counts) Add(s list.Section, n int) {
	switch s {
	case list.Friends:
		c.Friends += uint32(n)
		c.Followers += uint32(n)
		c.Following += uint32(n)
	case list.Followers:
		c.Followers += uint32(n)
	case list.Following:
		c.Following += uint32(n)
	}
}

// Search makes sure that the list says what id is to the owner, without any
// trust in counts, in segment headers or in the other's row: where the list
// does not have id, all of the archive is searched. It reports false, and the
// caller answers ErrRecall, where that is still to be done.
func (d *Draft) Search(id uint64) bool {
	if d.known[id] || d.list.Rel(id)&edges != 0 {
		return true
	}
	d.wants = append(d.wants, want{id: id})
	return false
}
