package relation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/account"
	"kith/repo/list"
)

// ErrLost says that part of a row or archive cannot be read, and that nobody
// told what stood there.
var ErrLost = errors.New("entries are lost")

// Told is what other rows say about an account: the entries that its own row
// and archive must hold.
type Told struct {
	Edges  []list.Edge
	Beside []Beside
	// Weak are those of the others whose own rows are damaged: their word counts
	// only where the account's own cannot be read.
	Weak map[uint64]bool
	// Ver is that of the row before the others were asked. Where the row has moved
	// on since, those whose word would change it are asked again.
	Ver uint64
	// Gaps says that entries of the row are lost, but that what stands there is
	// true: of what was told, the follows, blocks and requests of the account itself
	// are added where they are missing, be the others weak or not, and nothing else
	// counts. The row has to be one that can be read.
	Gaps bool
	// Nobody are ids to be taken out, those of them that are no accounts.
	Nobody []uint64
}

// Beside is an entry of blocking, blocked by, requests or requested.
type Beside struct {
	Section list.Section
	list.Entry
}

// Rewritten tells what a rewrite did.
type Rewritten struct {
	Changed bool
	Doubles int            // ids that stood more than once
	Lost    []list.Section // of the row: what stood there is dropped, or came from others
	Added   int            // entries that others told of and that were missing
	Righted int            // accounts about whom the follows, or their times, were other than told
	Dropped int            // accounts about whom there was something that nobody told of
	Nobody  []uint64       // those of Told.Nobody that are no accounts
}

// Rewrite makes an account's row and archive right by themselves, while it
// holds the row's lock. Lists are put in order; an id that stands more than once,
// in the row, in the archive or in both, stands once afterwards, in the row, laid
// together as Salvage does; what stands in a segment where it does not belong
// moves to the row; headers are those of their segments, counts what is kept and
// what is archived, columns those of the list. The row goes in by a swap.
//
// With told, which is for rows that are known to be damaged, the others are
// right: follows, and since when, are those that they told of, whatever stood in
// the row; entries they told of that are missing beside are added, and who
// blocked the owner or asks to follow it is only who says so. What the owner
// alone knows, whom it blocks, asks or muted and its options, is kept as far as
// it can be read. Where a row only has gaps its own word stands, see Told. Without
// told, or with gaps, it answers ErrLost where something cannot be read
// and changes nothing. Errors are those of Swap, and repo.ErrConflict where the
// swap is lost, or where the row moved on so far since the others were asked that
// they would have to be asked anew.
func (s *Store) Rewrite(ctx context.Context, id uint64, told *Told) (done Rewritten, err error) {
	for range lockTries {
		var won bool
		if done, won, err = s.rewrite(ctx, id, told); err != nil {
			return Rewritten{}, fmt.Errorf("rewrite account %d: %w", id, err)
		}
		if won {
			return done, nil
		}
	}
	return Rewritten{}, fmt.Errorf("rewrite account %d: %w", id, repo.ErrConflict)
}

func (s *Store) rewrite(ctx context.Context, id uint64, told *Told) (done Rewritten, won bool, err error) {
	won, err = s.Store.Locked(ctx, []uint64{id}, nil, func(tx *sqlx.Tx, rows map[uint64]Row) ([]Row, error) {
		w := newRewrite(s, tx, rows[id], told)
		if err := w.run(ctx); err != nil {
			return nil, err
		}
		done = w.done
		r, err := s.Pack(w.draft())
		return []Row{r}, err
	})
	done.Changed = won
	return done, won, err
}

// rewrite is one account on its way to be right.
type rewrite struct {
	store   *Store
	q       sqlx.QueryerContext
	row     Row
	absent  bool   // there is no row
	told    *words // nil if nobody told
	list    *list.List
	archive Archive         // what of it stays archived
	ids     []uint64        // of the friends, followers and following, row and archive
	past    map[Beside]bool // what is archived beside these, without times
	out     map[uint64]bool // ids that stand more than once, or not as others told
	edges   []list.Edge     // what moves from segments to the row
	moved   []*segment
	ownGone []ownRow
	done    Rewritten
	nobody  map[uint64]bool
	lost    bool // something cannot be read,
	blank   bool // edges among it
}

// newRewrite salvages a locked row.
func newRewrite(s *Store, tx *sqlx.Tx, row Row, told *Told) *rewrite {
	w := &rewrite{store: s, q: tx, row: row, absent: row.Ver == 0, told: newWords(told), out: map[uint64]bool{}, past: map[Beside]bool{}}
	w.list, w.done.Lost = Salvage(row.List)
	if w.absent {
		w.done.Lost = everySection
	}
	w.lose(w.done.Lost)
	return w
}

// lose notes that sections cannot be read.
func (w *rewrite) lose(lost []list.Section) {
	w.lost = w.lost || len(lost) > 0
	w.blank = w.blank || slices.ContainsFunc(lost, func(s list.Section) bool { return s <= list.Following })
}

// note holds the edges of a list against what was told.
func (w *rewrite) note(l *list.List) {
	for s := list.Friends; s <= list.Following; s++ {
		from := len(w.ids)
		w.ids = l.AppendIDs(w.ids, s)
		for _, id := range w.ids[from:] {
			if w.nobody[id] || w.yields(id) && w.told.edge(id) != edgeIn(l, id) || w.gaps() && w.told.edge(id).rel&^edgeIn(l, id).rel != 0 {
				w.out[id] = true
			}
		}
	}
}

// yields reports whether others decide what the row says about id.
func (w *rewrite) yields(id uint64) bool {
	return w.told != nil && (w.nobody[id] || !w.told.Gaps && !w.told.Weak[id])
}

// gaps reports whether the row yields only where it says nothing.
func (w *rewrite) gaps() bool { return w.told != nil && w.told.Gaps }

// findNobody finds those to be taken out who are no accounts. The row is locked,
// and an account is there before any row names it.
func (w *rewrite) findNobody(ctx context.Context) (err error) {
	if w.told == nil || len(w.told.Nobody) == 0 {
		return nil
	}
	w.nobody, err = account.Missing(ctx, w.q, w.told.Nobody)
	w.done.Nobody = slices.Sorted(maps.Keys(w.nobody))
	return err
}

// run finds what is wrong in a first pass over the segments and puts it right
// in a second.
func (w *rewrite) run(ctx context.Context) error {
	if err := w.findNobody(ctx); err != nil {
		return err
	}
	w.note(w.list)
	if err := eachSegment(ctx, w.q, w.row.AccountID, w.inspect); err != nil {
		return err
	}
	if (w.told == nil || w.told.Gaps) && w.lost {
		return ErrLost
	}
	slices.Sort(w.ids)
	for i := 1; i < len(w.ids); i++ {
		if w.ids[i] == w.ids[i-1] && (i < 2 || w.ids[i] != w.ids[i-2]) {
			w.out[w.ids[i]] = true
			w.done.Doubles++
		}
	}
	if w.told != nil && w.told.Ver != w.row.Ver {
		if err := w.askAgain(ctx); err != nil {
			return err
		}
	}
	if err := eachSegment(ctx, w.q, w.row.AccountID, w.mend); err != nil {
		return err
	}
	w.takeOut(w.list)
	w.list.Merge(w.edges)
	if w.told != nil {
		w.believe()
	}
	return nil
}

// inspect notes the ids of a segment, and whether all of it can be read. A
// segment newer than its row is one whose row was lost, or put back from a
// backup: the row that is written now must be newer, or it would make segments
// under names that are taken.
func (w *rewrite) inspect(g Segment) error {
	l, lost := Salvage(g.List)
	w.lose(lost)
	w.note(l)
	for _, s := range timed {
		l.Each(s, func(id uint64, _, _ uint32) { w.past[Beside{Section: s, Entry: list.Entry{ID: id}}] = true })
	}
	if w.absent {
		w.row.Past(max(g.Ver, g.Seq))
	}
	return nil
}

// last is the ver after which nothing may have been made.
func (w *rewrite) last() uint64 { return w.row.Last() }

// mend puts one segment right, if anything is wrong with it. One that is newer
// than its row goes back into the row: it stands where a segment to come will.
func (w *rewrite) mend(g Segment) error {
	l, lost := Salvage(g.List)
	if g.Own {
		w.mendOwn(l)
		return nil
	}
	out := &segment{Header: g.Header, list: l, changed: len(lost) > 0 || !Fits(g) || g.Ver > w.last()}
	before := l.Len(g.Section)
	w.takeOut(l)
	w.forgetNobody(l)
	for s := list.Friends; s < list.Options; s++ {
		if s != g.Section || !received(s) || g.After(w.last()) {
			w.takeBack(l, s)
		}
	}
	out.changed = out.changed || l.Len(g.Section) != before
	newest, _ := l.Bounds(g.Section)
	if n := l.Len(g.Section); n > 0 {
		w.archive.add(g.Section, n, newest)
	}
	if out.changed {
		w.moved = append(w.moved, out)
	}
	return nil
}

// mendOwn takes out of the rows of relation_own what is out of place.
func (w *rewrite) mendOwn(l *list.List) {
	had := l.Clone()
	w.takeOut(l)
	w.forgetNobody(l)
	for _, s := range ownSections {
		stays := map[uint64]bool{}
		l.Each(s, func(id uint64, _, _ uint32) { stays[id] = true })
		had.Each(s, func(id uint64, _, _ uint32) {
			if !stays[id] {
				w.ownGone = append(w.ownGone, ownRow{OtherID: id, Section: s})
			}
		})
		if newest, _ := l.Bounds(s); l.Len(s) > 0 {
			w.archive.add(s, l.Len(s), newest)
		}
	}
}

// forgetNobody takes those who are no accounts out of what stands beside the edges.
func (w *rewrite) forgetNobody(l *list.List) {
	for id := range w.nobody {
		for _, s := range timed {
			l.Drop(s, id)
		}
		_, _ = l.SetOption(id, list.Option{}) // none is a valid one
	}
}

// notes drops those about accounts that do not exist.
func (w *rewrite) notes() (gone []Note) {
	for id := range w.nobody {
		gone = append(gone, Note{OtherID: id})
	}
	return gone
}

// takeBack moves a section of an archived list into the row.
func (w *rewrite) takeBack(l *list.List, s list.Section) {
	if s <= list.Following {
		w.edges = append(w.edges, takeAll(l, s)...)
		return
	}
	for _, id := range l.AppendIDs(nil, s) {
		at, _ := l.Time(s, id)
		l.Drop(s, id)
		w.list.Put(s, id, at)
	}
}

// takeOut takes the ids that are out of place out of a list. What stood there
// about those of whom others decide is dropped.
func (w *rewrite) takeOut(l *list.List) {
	for s := list.Friends; s <= list.Following && len(w.out) > 0; s++ {
		for _, id := range l.AppendIDs(nil, s) {
			if !w.out[id] {
				continue
			}
			if edges := take(l, id); !w.yields(id) {
				w.edges = append(w.edges, edges...)
			}
		}
	}
}

func takeAll(l *list.List, s list.Section) (edges []list.Edge) {
	for _, id := range l.AppendIDs(nil, s) {
		edges = append(edges, take(l, id)...)
	}
	return edges
}

// take removes an id from the edges of a list and returns what stood there.
func take(l *list.List, id uint64) (edges []list.Edge) {
	mine, theirs := l.Times(id)
	if l.DropFollowing(id) {
		edges = append(edges, list.Edge{ID: id, Time: mine, Out: true})
	}
	if l.DropFollower(id) {
		edges = append(edges, list.Edge{ID: id, Time: theirs})
	}
	return edges
}

// draft is the rewritten row, ready to be packed.
func (w *rewrite) draft() *Draft {
	return &Draft{row: w.row, list: w.list, archive: w.archive, changed: true, segments: w.moved, ownGone: w.ownGone, notes: w.notes()}
}

// Fits reports whether a segment's list is valid, has the entries of its
// section and no others, and is what its header says.
func Fits(g Segment) bool {
	if g.Own {
		return true
	}
	v, err := list.Parse(g.List)
	if err != nil || v.Check() != nil {
		return false
	}
	l, err := v.Open()
	if err != nil {
		return false
	}
	for s := list.Friends; s <= list.Options; s++ {
		if (l.Len(s) > 0) != (s == g.Section) {
			return false
		}
	}
	return headerOf(g.Section, g.Seq, l) == g.Header
}
