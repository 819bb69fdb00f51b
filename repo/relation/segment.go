package relation

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/list"
)

// SegmentEntries is how many entries a full segment holds. One into which others
// had to be put holds up to half as many more, then it is split.
const SegmentEntries = 10_000

// Header is an archive segment without its list: what it holds and between
// which positions of its section's order. The segments of a section do not overlap.
type Header struct {
	Section  list.Section `db:"section"`
	Seq      uint64       `db:"seq"`
	NewestAt uint32       `db:"newest_at"`
	NewestID uint64       `db:"newest_id"`
	OldestAt uint32       `db:"oldest_at"`
	OldestID uint64       `db:"oldest_id"`
	N        uint32       `db:"n"`
}

// After reports whether the segment is newer than a row of this ver: made by a later
// commit.
func (h Header) After(ver uint64) bool { return h.Seq >= ver+repo.MinStep }

// Newest returns the position of the newest entry.
func (h Header) Newest() list.Cursor { return list.Cursor{Time: h.NewestAt, ID: h.NewestID} }

// Oldest returns the position of the oldest entry.
func (h Header) Oldest() list.Cursor { return list.Cursor{Time: h.OldestAt, ID: h.OldestID} }

// Segment is an archive segment as it is stored, its list not yet checked. With Own it is
// not stored, but made of rows of relation_own.
type Segment struct {
	Header
	Own  bool   `db:"-"`
	Ver  uint64 `db:"ver"`
	List []byte `db:"list"`
}

// segment is an archive segment opened for edits.
type segment struct {
	Header
	list    *list.List
	changed bool
}

// move is a segment as it is to be stored; one without entries is deleted.
type move struct {
	Header
	list []byte
}

func (g *segment) pack() (move, error) {
	b, err := g.list.Encode(nil)
	return move{Header: headerOf(g.Section, g.Seq, g.list), list: b}, err
}

// headerOf returns the header that a segment with this list must have.
func headerOf(s list.Section, seq uint64, l *list.List) Header {
	newest, oldest := l.Bounds(s)
	return Header{Section: s, Seq: seq, N: uint32(l.Len(s)), NewestAt: newest.Time, NewestID: newest.ID, OldestAt: oldest.Time, OldestID: oldest.ID}
}

const headerColumns = `section, seq, newest_at, newest_id, oldest_at, oldest_id, n`

// Headers returns the segments of an account without their lists, newest first
// in each section. Index: PRIMARY (bucket, account_id, …), one range.
func (s *Store) Headers(ctx context.Context, id uint64) ([]Header, error) {
	return headers(ctx, s.db, id)
}

func headers(ctx context.Context, q sqlx.QueryerContext, id uint64) ([]Header, error) {
	var out []Header
	err := sqlx.SelectContext(ctx, q, &out, `SELECT `+headerColumns+` FROM relation_archive WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
	if err != nil {
		return nil, fmt.Errorf("load archive of %d: %w", id, db.Wrap(err))
	}
	slices.SortFunc(out, func(a, b Header) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), b.Newest().Compare(a.Newest()), cmp.Compare(a.Seq, b.Seq))
	})
	return out, nil
}

// nextSegment returns the segment whose newest position is the next one newer than c or,
// with older, the next one older; at includes c itself. It wraps repo.ErrNotFound where
// there is none. Index: by_position (bucket, account_id, section, newest_at, newest_id),
// the first of a range.
func nextSegment(ctx context.Context, q sqlx.QueryerContext, id uint64, s list.Section, c list.Cursor, older, at bool) (Segment, error) {
	than, way := `>`, ``
	if older {
		than, way = `<`, ` DESC`
	}
	or := than
	if at {
		or += `=`
	}
	g := Segment{}
	err := sqlx.GetContext(ctx, q, &g, `SELECT `+headerColumns+`, ver, list FROM relation_archive WHERE bucket = ? AND account_id = ? AND section = ? AND (newest_at `+than+` ? OR (newest_at = ? AND newest_id `+or+` ?)) ORDER BY newest_at`+way+`, newest_id`+way+` LIMIT 1`,
		repo.Bucket(id), id, s, c.Time, c.Time, c.ID)
	if err != nil {
		return g, fmt.Errorf("find %s segment of %d at %v: %w", s, id, c, db.Wrap(err))
	}
	return g, nil
}

// loadSegment reads a segment with its list. Index: PRIMARY, one row.
func loadSegment(ctx context.Context, q sqlx.QueryerContext, id uint64, h Header) (Segment, error) {
	g := Segment{Header: h}
	err := q.QueryRowxContext(ctx, `SELECT ver, list FROM relation_archive WHERE bucket = ? AND account_id = ? AND section = ? AND seq = ?`, repo.Bucket(id), id, h.Section, h.Seq).Scan(&g.Ver, &g.List)
	if err != nil {
		return g, fmt.Errorf("load %s segment %d of %d: %w", h.Section, h.Seq, id, db.Wrap(err))
	}
	return g, nil
}

// eachStored hands the segments of some sections of an account to fn, one in memory at a
// time. Index: PRIMARY, one row each.
func eachStored(ctx context.Context, q sqlx.QueryerContext, id uint64, of func(list.Section) bool, fn func(Segment) error) error {
	all, err := headers(ctx, q, id)
	if err != nil {
		return err
	}
	for _, h := range all {
		if !of(h.Section) {
			continue
		}
		g, err := loadSegment(ctx, q, id, h)
		if err != nil {
			return err
		}
		if err := fn(g); err != nil {
			return err
		}
	}
	return nil
}

// eachSegment hands the segments of an account to fn, and after them what it did itself.
func eachSegment(ctx context.Context, q sqlx.QueryerContext, id uint64, fn func(Segment) error) error {
	every := func(list.Section) bool { return true } // also one that has no business there
	if err := eachStored(ctx, q, id, every, fn); err != nil {
		return err
	}
	return eachOwn(ctx, q, id, func(l *list.List) error {
		b, err := l.Encode(nil)
		if err != nil {
			return fmt.Errorf("pack archived entries of %d: %w", id, err)
		}
		return fn(Segment{Own: true, List: b})
	})
}

// view is the list of a segment for reading.
func (g Segment) view(id uint64) (list.View, error) {
	v, err := list.Parse(g.List)
	if err != nil {
		err = fmt.Errorf("%s segment %d of %d: %w", g.Section, g.Seq, id, err)
	}
	return v, err
}

// open is a segment for edits.
func (g Segment) open(id uint64) (*segment, error) {
	v, err := g.view(id)
	if err != nil {
		return nil, err
	}
	l, err := v.Open()
	if err != nil {
		return nil, fmt.Errorf("%s segment %d of %d: %w", g.Section, g.Seq, id, err)
	}
	return &segment{Header: g.Header, list: l}, nil
}

// Fits reports whether a segment's list is valid, has entries of its section only, and is
// what its header says.
func Fits(g Segment) bool {
	if g.Own {
		return true
	}
	v, err := list.Parse(g.List)
	if err != nil || v.Check() != nil {
		return false
	}
	for s := list.Friends; s <= list.Options; s++ {
		if (v.Len(s) > 0) != (s == g.Section) {
			return false
		}
	}
	l, err := v.Open()
	return err == nil && headerOf(g.Section, g.Seq, l) == g.Header
}

// storeSegment writes or deletes one segment. Index: PRIMARY, one row.
func storeSegment(ctx context.Context, x sqlx.ExecerContext, r *Row, m move) (err error) {
	if m.N == 0 {
		_, err = x.ExecContext(ctx, `DELETE FROM relation_archive WHERE bucket = ? AND account_id = ? AND section = ? AND seq = ?`, repo.Bucket(r.ID), r.ID, m.Section, m.Seq)
		return err
	}
	_, err = x.ExecContext(ctx, putSegment, repo.Bucket(r.ID), r.ID, m.Section, m.Seq,
		m.NewestAt, m.NewestID, m.OldestAt, m.OldestID, m.N, r.Ver, m.list)
	return err
}

const putSegment = `INSERT INTO relation_archive (bucket, account_id, section, seq, newest_at, newest_id, oldest_at, oldest_id, n, ver, list)
	VALUES (?,?,?,?,?,?,?,?,?,?,?) ON DUPLICATE KEY UPDATE newest_at=VALUES(newest_at), newest_id=VALUES(newest_id), oldest_at=VALUES(oldest_at),
	oldest_id=VALUES(oldest_id), n=VALUES(n), ver=VALUES(ver), list=VALUES(list)`

// archiving puts received entries into the segments of one row.
type archiving struct {
	tx   *sqlx.Tx
	row  *Row
	made uint64 // segments so far
}

// put adds what was cut from a section to its segments. What is newer than all of them,
// mostly everything, makes new ones, unless the newest is at most half full. Older entries,
// which an import or a recall brought into the row, go into the segments between whose
// positions they lie: segments never overlap, and one is read to find an entry.
func (a *archiving) put(ctx context.Context, s list.Section, cut *list.List) error {
	all, err := headers(ctx, a.tx, a.row.ID)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(h Header) bool { return h.Section != s })
	if len(all) == 0 || all[0].N > SegmentEntries/2 {
		var older *list.List
		if len(all) > 0 {
			older = cut.CutAt(s, all[0].Newest())
		}
		if err := a.store(ctx, s, cut, 0); err != nil {
			return err
		}
		cut = older
	}
	for i := 0; i < len(all) && cut != nil; i++ {
		var older *list.List
		if i+1 < len(all) {
			older = cut.CutAt(s, all[i+1].Newest())
		}
		if err := a.into(ctx, all[i], cut); err != nil {
			return err
		}
		cut = older
	}
	return nil
}

// into adds entries to a segment.
func (a *archiving) into(ctx context.Context, h Header, entries *list.List) error {
	if entries.Len(h.Section) == 0 {
		return nil
	}
	stored, err := loadSegment(ctx, a.tx, a.row.ID, h)
	if err != nil {
		return err
	}
	g, err := stored.open(a.row.ID)
	if err != nil {
		return err
	}
	g.list.Join(entries, h.Section)
	return a.store(ctx, h.Section, g.list, h.Seq)
}

// store writes a list as one segment or, where it is too long, several; the newest
// takes seq, if that is not 0.
func (a *archiving) store(ctx context.Context, s list.Section, l *list.List, seq uint64) error {
	most := SegmentEntries + SegmentEntries/2
	if seq == 0 {
		most = SegmentEntries
	}
	for l != nil && l.Len(s) > 0 {
		var older *list.List
		if l.Len(s) > most {
			older = l.Cut(s, SegmentEntries)
		}
		if seq == 0 {
			if a.made >= repo.MinStep {
				return fmt.Errorf("%d segments of one commit: %w", a.made, repo.ErrTooLarge)
			}
			seq = a.row.Ver + a.made
			a.made++
		}
		m, err := (&segment{Header: Header{Section: s, Seq: seq}, list: l}).pack()
		if err != nil {
			return fmt.Errorf("pack %s segment of %d: %w", s, a.row.ID, err)
		}
		if err := storeSegment(ctx, a.tx, a.row, m); err != nil {
			return err
		}
		l, seq = older, 0
	}
	return nil
}
