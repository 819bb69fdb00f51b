package relation

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/jmoiron/sqlx"

	"kith/repo/list"
)

// The bounds of a list that a store cuts. Sections other than friends, followers and
// following are no lists of people to show, and need no 10,000 entries.
const (
	// MaxOther is how many entries such a section is cut to when it has twice as
	// many, or as many as friends, followers and following if that is less.
	MaxOther = 1000
	// maxOptions is how many bytes the options are cut below when they have twice as many.
	maxOptions = 32 << 10
	// MaxList is the longest list of a row as long as at most 10,000 entries a
	// section are kept: half of what memcached takes.
	MaxList = 512 << 10
)

// attachment is what a packed row brings for the archive and for notes, to be stored in
// the transaction that swaps it.
type attachment struct {
	moves    []move // segments from which entries were taken
	cuts     []sectionCut
	ownGone  []ownRow
	ownAdded []ownRow
	notes    []Note
	noteless bool // all notes of the account are to go
}

// sectionCut is what was cut from a section that others make entries in.
type sectionCut struct {
	section list.Section
	list    *list.List
}

// archive reports whether the archive changes.
func (a *attachment) archive() bool {
	return len(a.moves)+len(a.cuts)+len(a.ownGone)+len(a.ownAdded) > 0
}

// attach stores what a row brings; the transaction holds the lock of the row.
func attach(ctx context.Context, tx *sqlx.Tx, r *Row) error {
	a := r.attached
	for _, m := range a.moves {
		if err := storeSegment(ctx, tx, r, m); err != nil {
			return err
		}
	}
	if err := storeOwn(ctx, tx, r.AccountID, a.ownGone, a.ownAdded); err != nil {
		return err
	}
	if err := storeNotes(ctx, tx, r); err != nil {
		return err
	}
	to := archiving{tx: tx, row: r}
	for _, c := range a.cuts {
		if err := to.put(ctx, c.section, c.list); err != nil {
			return err
		}
	}
	return nil
}

// Pack returns the row of a draft as it would be stored next, dated now and cut where a
// section has grown to twice its bound.
func (s *Store) Pack(d *Draft) (Row, error) { return d.pack(uint32(s.now().Unix()), s.cap, 2) }

// Pack is that of a store with a clock and a bound.
func (d *Draft) Pack(now uint32, limit int) (Row, error) { return d.pack(now, limit, 2) }

// pack returns the row as it would be stored next. Its Ver is still the one that
// was read, until Swap gives it the next. A section that has grown to more than so many
// times its bound, limit for friends, followers and following, is cut to it, and what was
// cut goes to the archive with the row; a list longer than MaxList has all of them cut.
// With a limit of 0 Pack cuts nothing, and a list that has outgrown a row gives
// repo.ErrTooLarge; Trim cuts all.
func (d *Draft) pack(now uint32, limit, times int) (next Row, err error) {
	next.Meta = d.row.Next(now)
	a := &attachment{notes: d.notes, noteless: d.noteless, ownGone: d.ownGone}
	for _, g := range d.segments {
		if !g.changed {
			continue
		}
		m, err := g.pack()
		if err != nil {
			return Row{}, fmt.Errorf("pack archive of account %d: %w", d.row.AccountID, err)
		}
		a.moves = append(a.moves, m)
	}
	for ; ; times = 1 {
		if limit > 0 || times == 1 {
			d.cutAll(a, limit, times)
		}
		if next.List, err = d.list.Encode(nil); err != nil {
			return Row{}, fmt.Errorf("pack list of account %d: %w", d.row.AccountID, err)
		}
		if limit == 0 || times == 1 || len(next.List) <= max(MaxList, MaxList/10_000*limit) {
			break
		}
	}
	if a.archive() {
		d.archive.stamp = rand.Uint32()
	}
	if a.archive() || len(a.notes) > 0 || a.noteless {
		next.attached = a
	}
	next.Archived = d.archive.bytes()
	next.Counts, next.Columns = d.Counts(), columnsOf(d.list.Len)
	return next, nil
}

// cutAll cuts the sections that have grown to so many times their bound.
func (d *Draft) cutAll(a *attachment, limit, times int) {
	for s := list.Friends; s <= list.Options; s++ {
		most := limit
		if s > list.Following {
			most = min(limit, MaxOther)
		}
		if n := d.list.Len(s); n > times*most {
			d.cut(a, s, most)
		}
	}
	if d.list.OptionBytes() > times*maxOptions {
		for d.list.OptionBytes() > maxOptions {
			d.cut(a, list.Options, d.list.Len(list.Options)/2)
		}
	}
}

// cut moves the oldest entries of a section to the archive until keep are left.
func (d *Draft) cut(a *attachment, s list.Section, keep int) {
	cut := d.list.Cut(s, keep)
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
