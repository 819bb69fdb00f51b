package relation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo/account"
	"kith/repo/list"
)

// ErrLost says that part of a row or archive cannot be read and that the other rows,
// which know what stood there, were not asked.
var ErrLost = errors.New("entries are lost")

// Rebuilt tells what a rebuild did.
type Rebuilt struct {
	Lost    []list.Section // of the row: what stood there is gone, or came from others
	Added   int            // entries that only others had
	Righted int            // accounts whose follows are now as their own rows have them
	Dropped int            // accounts that were taken out, as their own rows do not have it
	Unknown []uint64       // those of Evidence.Unknown that were named and are no accounts
}

// Rebuild repairs an account's row and archive under the row's lock. Lists are sorted. An
// id that stands more than once, in row or archive, stands once afterwards, in the row,
// merged as Salvage does. Entries of a segment that do not belong there move to the row.
// Headers, counts and columns are then those of the lists.
//
// With evidence the others are right: follows and their times are those that they have,
// and only who says so blocked the owner or asks to follow it. What the owner alone
// decides, whom it blocks, asks or mutes and its options, stays as far as it can be read,
// and what others know of it is added.
//
// Nothing between two rows changes without a swap of both, so evidence is true as long as
// the row has the same ver. Where it was written to, those who matter are read again under
// the lock, up to maxReadAgain.
//
// Without evidence, or with KeepOwn, it answers ErrLost where something cannot be
// read, and changes nothing. It wraps repo.ErrConflict where the swap is lost again
// and again, or where too many others would have to be read again.
func (s *Store) Rebuild(ctx context.Context, id uint64, ev *Evidence) (done Rebuilt, err error) {
	err = s.repair(ctx, id, func(tx *sqlx.Tx, row Row) (*Draft, error) {
		r := newRebuild(s, tx, row, ev)
		err := r.run(ctx)
		done = r.done
		return r.draft(), err
	})
	if err != nil {
		return Rebuilt{}, fmt.Errorf("rebuild account %d: %w", id, err)
	}
	return done, nil
}

// Empty deletes everything in the row and archive of an account that does not exist, and
// reports whether there was anything. It changes nothing where the account exists by then.
func (s *Store) Empty(ctx context.Context, id uint64) (was bool, err error) {
	err = s.repair(ctx, id, func(tx *sqlx.Tx, row Row) (*Draft, error) {
		r := newRebuild(s, tx, row, nil)
		was = row.Ver > 0 && (row.Counts != Counts{} || string(row.List) != string(emptyList))
		missing, err := account.Missing(ctx, tx, []uint64{id})
		if err == nil {
			err = eachSegment(ctx, tx, id, func(g Segment) error { was = true; return r.drop(g) })
		}
		was = was && missing[id]
		r.list = list.New()
		d := r.draft()
		d.noteless, d.Dirty = true, was
		return d, err
	})
	if err != nil {
		return false, fmt.Errorf("empty account %d: %w", id, err)
	}
	return was, nil
}

// repair swaps what edit makes of a row while it holds the row's lock.
func (s *Store) repair(ctx context.Context, id uint64, edit func(tx *sqlx.Tx, row Row) (*Draft, error)) error {
	return s.lockedRow(ctx, id, func(tx *sqlx.Tx, row Row) ([]Row, error) {
		d, err := edit(tx, row)
		if err != nil || !d.Changed() {
			return nil, err
		}
		r, err := s.Pack(d)
		return []Row{r}, err
	})
}

// rebuild is one account under repair.
type rebuild struct {
	store   *Store
	q       sqlx.QueryerContext
	row     Row
	ev      *Evidence // sorted; nil without
	list    *list.List
	archive Archive // what of it stays archived
	lost    bool    // something cannot be read

	ids      []uint64          // of friends, followers and following, row and archive
	archived map[otherKey]bool // what is archived of the other sections
	unknown  map[uint64]bool   // who is to be taken out
	moving   map[uint64]bool   // whose edges leave where they stand, to stand in the row as they must be
	taken    []list.Edge       // theirs, as they stood
	back     []list.Edge       // what moves from segments to the row as it is
	segments []*segment
	ownGone  []ownRow
	done     Rebuilt
}

type otherKey struct {
	section list.Section
	id      uint64
}

func newRebuild(s *Store, tx *sqlx.Tx, row Row, ev *Evidence) *rebuild {
	r := &rebuild{store: s, q: tx, row: row, archived: map[otherKey]bool{}, moving: map[uint64]bool{}}
	r.list, r.done.Lost = Salvage(row.List)
	if row.Ver == 0 {
		r.done.Lost = allSections
	}
	r.lost = len(r.done.Lost) > 0
	if ev != nil {
		sorted := *ev
		sorted.Edges, sorted.Others = slices.Clone(ev.Edges), slices.Clone(ev.Others)
		r.ev = sorted.sort()
	}
	return r
}

// run finds what is wrong in a first pass over the segments and repairs it in a second.
func (r *rebuild) run(ctx context.Context) (err error) {
	r.inspect(r.list)
	if err := eachSegment(ctx, r.q, r.row.ID, r.inspectSegment); err != nil {
		return err
	}
	if r.lost && (r.ev == nil || r.ev.KeepOwn) {
		return ErrLost
	}
	slices.Sort(r.ids)
	for i := 1; i < len(r.ids); i++ {
		if r.ids[i] == r.ids[i-1] {
			r.moving[r.ids[i]] = true
		}
	}
	if r.ev != nil {
		// An account is there before any row names it, and the row is locked by now.
		if r.unknown, err = account.Missing(ctx, r.q, r.ev.Unknown); err != nil {
			return err
		}
		for id := range r.unknown {
			r.moving[id] = true
		}
		if err := r.readAgain(ctx); err != nil {
			return err
		}
	}
	if err := eachSegment(ctx, r.q, r.row.ID, r.repairSegment); err != nil {
		return err
	}
	r.strip(r.list)
	r.finish()
	slices.Sort(r.done.Unknown)
	r.done.Unknown = slices.Compact(r.done.Unknown)
	return nil
}

// inspect notes the edges of a list, and which of them have to change.
func (r *rebuild) inspect(l *list.List) {
	for s := list.Friends; s <= list.Following; s++ {
		from := len(r.ids)
		r.ids = l.AppendIDs(r.ids, s)
		for _, id := range r.ids[from:] {
			if own := edgeIn(l, id); r.right(id, own) != own {
				r.moving[id] = true
			}
		}
	}
}

// inspectSegment notes what is archived. A segment is newer than its row where the row was
// lost or restored from a backup: the row that is written now must be newer, or it would
// make segments under names that are taken.
func (r *rebuild) inspectSegment(g Segment) error {
	l, lost := Salvage(g.List)
	r.lost = r.lost || len(lost) > 0
	r.inspect(l)
	for _, s := range otherSections {
		l.Each(s, func(id uint64, _, _ uint32) { r.archived[otherKey{s, id}] = true })
	}
	if r.row.Ver == 0 {
		r.row.Past(max(g.Ver, g.Seq))
	}
	return nil
}

// repairSegment repairs one segment. One that is newer than its row goes back into the
// row, as a later segment may get its name.
func (r *rebuild) repairSegment(g Segment) error {
	l, lost := Salvage(g.List)
	if g.Own {
		r.repairOwn(l)
		return nil
	}
	last := r.row.Last()
	out := &segment{Header: g.Header, list: l, changed: len(lost) > 0 || !Fits(g) || g.Ver > last}
	before := l.Len(g.Section)
	r.strip(l)
	for s := list.Friends; s < list.Options; s++ {
		if s != g.Section || !received(s) || g.After(last) {
			r.takeBack(l, s)
		}
	}
	out.changed = out.changed || l.Len(g.Section) != before
	if newest, _ := l.Bounds(g.Section); l.Len(g.Section) > 0 {
		r.archive.add(g.Section, l.Len(g.Section), newest)
	}
	if out.changed {
		r.segments = append(r.segments, out)
	}
	return nil
}

// repairOwn deletes the rows of relation_own that do not belong there.
func (r *rebuild) repairOwn(l *list.List) {
	had := l.Clone()
	r.strip(l)
	for _, s := range ownSections {
		stays := map[uint64]bool{}
		l.Each(s, func(id uint64, _, _ uint32) { stays[id] = true })
		had.Each(s, func(id uint64, _, _ uint32) {
			if !stays[id] {
				r.ownGone = append(r.ownGone, ownRow{OtherID: id, Section: s})
			}
		})
		if newest, _ := l.Bounds(s); l.Len(s) > 0 {
			r.archive.add(s, l.Len(s), newest)
		}
	}
}

// drop deletes one segment.
func (r *rebuild) drop(g Segment) error {
	if !g.Own {
		r.segments = append(r.segments, &segment{Header: g.Header, list: list.New(), changed: true})
		return nil
	}
	l, _ := Salvage(g.List)
	for _, s := range ownSections {
		r.ownGone = append(r.ownGone, ownRows(s, l)...)
	}
	return nil
}

// strip removes from a list the edges that are to move, and unknown accounts.
func (r *rebuild) strip(l *list.List) {
	for id := range r.unknown {
		if l.Rel(id) != 0 {
			r.done.Unknown = append(r.done.Unknown, id)
			forget(l, id)
		}
	}
	for s := list.Friends; s <= list.Following && len(r.moving) > 0; s++ {
		for _, id := range l.AppendIDs(nil, s) {
			if r.moving[id] {
				r.taken = append(r.taken, take(l, id)...)
			}
		}
	}
}

// forget removes from a list what it has about id apart from edges.
func forget(l *list.List, id uint64) {
	for _, s := range otherSections {
		l.Drop(s, id)
	}
	_, _ = l.SetOption(id, list.Option{}) // none is a valid one
}

// takeBack moves a section of an archived list into the row.
func (r *rebuild) takeBack(l *list.List, s list.Section) {
	for _, id := range l.AppendIDs(nil, s) {
		if s <= list.Following {
			r.back = append(r.back, take(l, id)...)
			continue
		}
		at, _ := l.Time(s, id)
		l.Drop(s, id)
		r.list.Put(s, id, at)
	}
}

// take removes the edges with id from a list and returns them.
func take(l *list.List, id uint64) []list.Edge {
	e := edgeIn(l, id)
	l.DropFollowing(id)
	l.DropFollower(id)
	return e.edges(id)
}

// finish adds to the row what moved and what others know.
func (r *rebuild) finish() {
	stood := list.New()
	stood.Merge(r.taken)
	for id := range r.moving {
		own := edgeIn(stood, id)
		e := r.right(id, own)
		r.back = append(r.back, e.edges(id)...)
		switch {
		case r.ev == nil || r.unknown[id]:
		case r.ev.keeps(id):
			r.done.Added += len(e.edges(id)) - len(own.edges(id))
		case e.rel == 0:
			r.done.Dropped++
		default:
			r.done.Righted++
		}
	}
	r.list.Merge(r.back)
	if r.ev == nil {
		return
	}
	var missing []list.Edge
	for _, e := range r.ev.Edges {
		if !r.holds(e.ID) && !r.unknown[e.ID] {
			missing = append(missing, e)
		}
	}
	n := r.list.Merge(missing)
	r.done.Added += n.Followers + n.Following
	for _, b := range r.ev.Others {
		if r.lacks(b) && r.list.Put(b.Section, b.ID, b.Time) {
			r.done.Added++
		}
	}
	for _, k := range r.unsaid() {
		r.list.Drop(k.section, k.id)
		r.done.Dropped++
	}
}

// holds reports whether row or archive had id in friends, followers or following.
func (r *rebuild) holds(id uint64) bool {
	_, ok := slices.BinarySearch(r.ids, id)
	return ok
}

// lacks reports whether an entry whose counterpart another row has is to be added.
func (r *rebuild) lacks(b OtherEntry) bool {
	_, there := r.list.Time(b.Section, b.ID)
	return !there && !r.archived[otherKey{b.Section, b.ID}] && !r.unknown[b.ID]
}

// unsaid returns the entries of blocked_by and requests that the others' rows do not
// confirm.
func (r *rebuild) unsaid() (out []otherKey) {
	for _, s := range []list.Section{list.BlockedBy, list.Requests} {
		for _, id := range r.list.AppendIDs(nil, s) {
			if !r.ev.keeps(id) && !r.ev.has(s, id) {
				out = append(out, otherKey{s, id})
			}
		}
	}
	return out
}

// right returns the edges that the row must have with id where it has own.
func (r *rebuild) right(id uint64, own edge) edge {
	if r.unknown[id] {
		return edge{}
	}
	if r.ev == nil {
		return own
	}
	said := r.ev.edge(id)
	if !r.ev.keeps(id) {
		return said
	}
	if own.rel&list.IsFollowing == 0 {
		own.mine = said.mine
	}
	if own.rel&list.IsFollower == 0 {
		own.theirs = said.theirs
	}
	own.rel |= said.rel
	return own
}

// draft is the rebuilt row, ready to be packed.
func (r *rebuild) draft() *Draft {
	var notes []Note // an empty one is deleted
	for id := range r.unknown {
		notes = append(notes, Note{OtherID: id})
	}
	r.list.Dirty = true
	return &Draft{List: r.list, row: r.row, archive: r.archive, segments: r.segments, ownGone: r.ownGone, notes: notes}
}
