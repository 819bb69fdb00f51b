package relation

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"kith/repo/list"
)

// Draft is a row opened for edits, which are those of its list. A draft belongs to one
// goroutine.
type Draft struct {
	*list.List
	row      Row // as it was read; edits leave it alone, since a recall opens it anew
	archive  Archive
	wants    []want          // what to look for in the archive
	known    map[uint64]bool // who has been looked for there,
	knownOwn map[uint64]bool // or as far as the owner did something to them
	segments []*segment      // what was opened of it
	ownGone  []ownRow        // what left it for the list
	notes    []Note
	noteless bool
}

// Open decodes a row for editing.
func Open(r Row) (*Draft, error) {
	v, err := r.View()
	if err != nil {
		return nil, err
	}
	l, err := v.Open()
	if err != nil {
		return nil, fmt.Errorf("open list of account %d, ver %d: %w", r.ID, r.Ver, err)
	}
	a, err := r.Archive()
	if err != nil {
		return nil, err
	}
	return &Draft{List: l, row: r, archive: a}, nil
}

// AccountID returns whose row this is.
func (d *Draft) AccountID() uint64 { return d.row.ID }

// Counts returns the true counts as edited so far.
func (d *Draft) Counts() Counts {
	friends := d.Total(list.Friends)
	return Counts{Friends: uint32(friends), Followers: uint32(friends + d.Total(list.Followers)), Following: uint32(friends + d.Total(list.Following))}
}

// Total returns how many entries a section has, those in the archive included.
func (d *Draft) Total(s list.Section) int { return d.Len(s) + d.archive.Len(s) }

// Changed reports whether an edit changed the draft.
func (d *Draft) Changed() bool { return d.Dirty }

// Size is the length in bytes of the list as it was read.
func (d *Draft) Size() int { return len(d.row.List) }

// Touch has the row swapped even if no edit changes it. An edit that changes one row and
// rests on what it read in another touches the other, so that the swap proves both.
func (d *Draft) Touch() { d.Dirty = true }

// SetNote sets the note about id; an empty one deletes it. Like any edit it takes effect
// with the swap of the row.
func (d *Draft) SetNote(id uint64, body string) (bool, error) {
	o := d.Option(id)
	if !o.Note && body == "" {
		return false, nil
	}
	o.Note = body != ""
	if _, err := d.SetOption(id, o); err != nil {
		return false, err
	}
	d.notes = append(d.notes, Note{id, body})
	d.Dirty = true // a note may be another while the option stays
	return true, nil
}

// Noted returns the notes that edits have set so far, the last of one account last.
func (d *Draft) Noted() []Note { return d.notes }

// ErrRecall is what an edit answers when entries must first be recalled from the archive;
// then it is run again.
var ErrRecall = errors.New("entries must be recalled from the archive")

// edges are the bits of friends, followers and following.
const edges = list.IsFollowing | list.IsFollower

// want is an account whose archived entries are wanted in the list.
type want struct {
	id  uint64
	how how
}

// how says what is wanted.
type how uint8

const (
	ownPart    how = iota // what the owner did to it
	bothParts             // and what it did to the owner, as its row says
	everywhere            // everything, without trust in counts, headers or its row
)

// Settle reports whether the lists of two drafts say all there is about the two accounts.
// Where an archive may hold more it notes what to recall, and the caller answers ErrRecall.
//
// What the owner of a row did itself is archived under the other's id. What the other did
// to it is in the other's row, which is the truth about whom that account follows, blocks
// or asks. So two accounts cost one look-up each, however long their archives are.
func Settle(a, b *Draft) bool {
	first, second := a.settle(b), b.settle(a)
	return first && second
}

func (d *Draft) settle(o *Draft) bool {
	id := o.AccountID()
	sure := d.knowsOwn(id)
	for _, m := range mirrors {
		if !d.mayReceive(m, id) {
			continue
		}
		if !o.knowsOwn(d.AccountID()) || o.Rel(d.AccountID())&m.myBit != 0 {
			sure = false
		}
	}
	if !sure {
		d.wants = append(d.wants, want{id, bothParts})
	}
	return sure
}

// mayReceive reports whether an entry that id made may stand in the archive.
func (d *Draft) mayReceive(m mirror, id uint64) bool {
	return !d.known[id] && d.archive.Len(m.theirs) > 0 && d.Rel(id)&m.theirBit == 0
}

// knowsOwn reports whether the list alone says what the owner did to id. An id stands once
// in friends, followers and following: one in the list is not archived as another of them.
func (d *Draft) knowsOwn(id uint64) bool {
	if d.known[id] || d.knownOwn[id] {
		return true
	}
	if d.archive.any(list.Blocking, list.Muting, list.Requested, list.Options) {
		return false
	}
	return !d.archive.any(list.Friends, list.Following) || d.Rel(id)&edges != 0
}

// Own is Settle for what the owner did to id and chose about it.
func (d *Draft) Own(id uint64) bool {
	if d.knowsOwn(id) {
		return true
	}
	d.wants = append(d.wants, want{id, ownPart})
	return false
}

// Knows reports whether the draft says all there is about id.
func (d *Draft) Knows(id uint64) bool {
	sure := d.knowsOwn(id)
	for _, m := range mirrors {
		sure = sure && !d.mayReceive(m, id)
	}
	return sure
}

// Search is Settle for all there is about id, without trust in counts, in segment headers
// or in the other's row: all of the archive is searched.
func (d *Draft) Search(id uint64) bool {
	if d.known[id] {
		return true
	}
	d.wants = append(d.wants, want{id, everywhere})
	return false
}

// Lacks reports whether wanted entries have not been recalled yet.
func (d *Draft) Lacks() bool {
	for _, w := range d.wants {
		if !d.known[w.id] && (w.how != ownPart || !d.knownOwn[w.id]) {
			return true
		}
	}
	return false
}

// The bounds of a list that a store cuts. Only friends, followers and following are shown
// as lists of people and need 10,000 entries.
const (
	// MaxOther is how many entries of another section are kept, or as many as of friends,
	// followers and following if that is less.
	MaxOther = 1000
	// maxOptions is how many bytes of options are kept.
	maxOptions = 32 << 10
	// MaxList is the longest list of a row where at most 10,000 entries a section are
	// kept: half of what memcached takes.
	MaxList = 512 << 10
)

// Pack returns the row of a draft as it is to be stored, dated now and cut where a section
// has grown to twice its bound.
func (s *Store) Pack(d *Draft) (Row, error) { return d.Pack(uint32(s.now().Unix()), s.cap, 2) }

// Pack returns the row as it is to be stored. Its Ver is the one that was read, until
// Swap gives it the next. A section that has grown to more than so many times its bound,
// which is limit for friends, followers and following, is cut to it, and what was cut goes
// to the archive with the row. In a list longer than MaxList all sections are cut. With a
// limit of 0 and times of 2 nothing is cut, and a list too long for a row gives
// repo.ErrTooLarge.
func (d *Draft) Pack(now uint32, limit, times int) (next Row, err error) {
	next.Meta = d.row.Next(now)
	a := &attachment{notes: d.notes, noteless: d.noteless, ownGone: d.ownGone}
	for _, g := range d.segments {
		if !g.changed {
			continue
		}
		m, err := g.pack()
		if err != nil {
			return Row{}, fmt.Errorf("pack archive of account %d: %w", d.row.ID, err)
		}
		a.moves = append(a.moves, m)
	}
	for ; ; times = 1 {
		if limit > 0 || times == 1 {
			d.cutAll(a, limit, times)
		}
		if next.List, err = d.Encode(nil); err != nil {
			return Row{}, fmt.Errorf("pack list of account %d: %w", d.row.ID, err)
		}
		if limit == 0 || times == 1 || len(next.List) <= max(MaxList, MaxList/10_000*limit) {
			break
		}
	}
	archived := len(a.moves)+len(a.cuts)+len(a.ownGone)+len(a.ownAdded) > 0
	if archived {
		d.archive.stamp = rand.Uint32()
	}
	if archived || len(a.notes) > 0 || a.noteless {
		next.attached = a
	}
	next.Archived = d.archive.bytes()
	next.Counts, next.Columns = d.Counts(), ColumnsOf(d.Len)
	return next, nil
}

// cutAll cuts the sections that have grown to so many times their bound.
func (d *Draft) cutAll(a *attachment, limit, times int) {
	for s := list.Friends; s <= list.Options; s++ {
		most := limit
		if s > list.Following {
			most = min(limit, MaxOther)
		}
		if n := d.Len(s); n > times*most {
			d.cut(a, s, most)
		}
	}
	if d.OptionBytes() > times*maxOptions {
		for d.OptionBytes() > maxOptions {
			d.cut(a, list.Options, d.Len(list.Options)/2)
		}
	}
}

// cut moves the oldest entries of a section to the archive until keep are left.
func (d *Draft) cut(a *attachment, s list.Section, keep int) {
	cut := d.Cut(s, keep)
	if cut == nil {
		return
	}
	newest, _ := cut.Bounds(s)
	d.archive.add(s, cut.Len(s), newest)
	if received(s) {
		a.cuts = append(a.cuts, sectionCut{s, cut})
	} else {
		a.ownAdded = append(a.ownAdded, ownRows(s, cut)...)
	}
}
