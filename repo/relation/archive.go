package relation

import (
	"context"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo/list"
)

// Own sections hold what an account did itself: whom it follows, friends included, blocks,
// mutes or asked, and what it chose. An archived entry is a row of relation_own, found by
// the id of the other.
//
// Received sections hold what others did to it. There may be millions of entries, so
// archived they lie in segments, by position. The other's row has the same entry as its
// own, with the time that gives the position.
var (
	ownSections      = []list.Section{list.Friends, list.Following, list.Blocking, list.Muting, list.Requested, list.Options}
	receivedSections = []list.Section{list.Followers, list.BlockedBy, list.Requests}
)

// saying returns the own sections that can set one of some bits.
func saying(of list.Rel) (out []list.Section) {
	for _, s := range ownSections {
		if of&s.Rel() != 0 {
			out = append(out, s)
		}
	}
	return out
}

// received reports whether others make the entries of a section.
func received(s list.Section) bool { return slices.Contains(receivedSections, s) }

// Own reports whether the account itself makes the entries of a section.
func Own(s list.Section) bool { return !received(s) }

// mirror is an entry that two rows share: its maker has it under mine, the other under
// theirs.
type mirror struct {
	mine, theirs    list.Section
	myBit, theirBit list.Rel
}

var mirrors = []mirror{
	{list.Following, list.Followers, list.IsFollowing, list.IsFollower},
	{list.Blocking, list.BlockedBy, list.IsBlocking, list.IsBlockedBy},
	{list.Requested, list.Requests, list.IsRequested, list.HasRequest},
}

// mirrored turns what A is to B into what B is to A, as far as both rows have it.
func mirrored(r list.Rel) (out list.Rel) {
	for _, m := range mirrors {
		if r&m.myBit != 0 {
			out |= m.theirBit
		}
		if r&m.theirBit != 0 {
			out |= m.myBit
		}
	}
	return out
}

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

// sectionCut is what was cut from a received section.
type sectionCut struct {
	section list.Section
	list    *list.List
}

// attach stores what rows bring; the transaction holds their locks.
func attach(ctx context.Context, tx *sqlx.Tx, rows []*Row) error {
	for _, r := range rows {
		if err := r.attached.store(ctx, tx, r); err != nil {
			return err
		}
	}
	return nil
}

func (a *attachment) store(ctx context.Context, tx *sqlx.Tx, r *Row) error {
	for _, m := range a.moves {
		if err := storeSegment(ctx, tx, r, m); err != nil {
			return err
		}
	}
	if err := storeOwn(ctx, tx, r.ID, a.ownGone, a.ownAdded); err != nil {
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
