package relation

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/list"
)

// SegmentEntries is how many entries a full segment holds.
const SegmentEntries = 10_000

// Header is an archive segment without its list: what it holds and between
// which places of its section's order.
type Header struct {
	Section    list.Section `db:"section"`
	Seq        uint64       `db:"seq"`
	NewestAt   uint32       `db:"newest_at"`
	NewestID   uint64       `db:"newest_id"`
	OldestAt   uint32       `db:"oldest_at"`
	OldestID   uint64       `db:"oldest_id"`
	EarliestAt uint32       `db:"earliest_at"`
	N          uint32       `db:"n"`
}

// After reports whether a commit after the one that gave the row this ver made the
// segment: it would be newer than its row.
func (h Header) After(ver uint64) bool { return h.Seq >= ver+repo.MinStep }

// covers reports whether an entry at c, in the order of the section, may lie in
// the segment.
func (h Header) covers(c list.Cursor) bool {
	newest := list.Cursor{Time: h.NewestAt, ID: h.NewestID}
	oldest := list.Cursor{Time: h.OldestAt, ID: h.OldestID}
	return c.Compare(oldest) >= 0 && c.Compare(newest) <= 0
}

// segment is an archive segment opened for edits.
type segment struct {
	Header
	list    *list.List
	changed bool
	made    bool // by this commit: Seq counts from the ver that the row gets
}

// move is a segment as it is to be stored; one without entries is deleted.
type move struct {
	Header
	list []byte
	made bool
}

func (g *segment) pack() (move, error) {
	if g.made && g.Seq >= repo.MinStep {
		return move{}, fmt.Errorf("segment %d of one commit: %w", g.Seq, repo.ErrTooLarge)
	}
	b, err := g.list.Encode(nil)
	return move{Header: headerOf(g.Section, g.Seq, g.list), list: b, made: g.made}, err
}

// headerOf returns the header that a segment with this list must have.
func headerOf(s list.Section, seq uint64, l *list.List) Header {
	newest, oldest, earliest := l.Bounds(s)
	return Header{Section: s, Seq: seq, N: uint32(l.Len(s)), EarliestAt: earliest,
		NewestAt: newest.Time, NewestID: newest.ID, OldestAt: oldest.Time, OldestID: oldest.ID}
}

// Headers returns the segments of an account without their lists, newest first
// in each section. Index: PRIMARY (bucket, account_id, …), one range.
func (s *Store) Headers(ctx context.Context, id uint64) ([]Header, error) {
	return headers(ctx, s.small, id)
}

func headers(ctx context.Context, q sqlx.QueryerContext, id uint64) ([]Header, error) {
	var out []Header
	err := sqlx.SelectContext(ctx, q, &out, `SELECT section, seq, newest_at, newest_id, oldest_at, oldest_id, earliest_at, n FROM relation_archive WHERE bucket = ? AND account_id = ? ORDER BY section, seq DESC`, Bucket(id), id)
	if err != nil {
		return nil, fmt.Errorf("load archive of %d: %w", id, db.Wrap(err))
	}
	return out, nil
}

// segments returns the lists of headers. Index: PRIMARY, one range each.
func segments(ctx context.Context, q sqlx.QueryerContext, id uint64, want []Header) ([]list.View, error) {
	out := make([]list.View, len(want))
	for i, h := range want {
		var b []byte
		err := sqlx.GetContext(ctx, q, &b, `SELECT list FROM relation_archive WHERE bucket = ? AND account_id = ? AND section = ? AND seq = ?`, Bucket(id), id, h.Section, h.Seq)
		if err != nil {
			return nil, fmt.Errorf("load %s segment %d of %d: %w", h.Section, h.Seq, id, db.Wrap(err))
		}
		if out[i], err = list.Parse(b); err != nil {
			return nil, fmt.Errorf("%s segment %d of %d: %w", h.Section, h.Seq, id, err)
		}
	}
	return out, nil
}

// storeMoves writes segments inside the transaction that swaps their row.
// Index: PRIMARY, one row each.
func storeMoves(ctx context.Context, x sqlx.ExecerContext, r Row) error {
	for _, m := range r.moves {
		var err error
		if m.made {
			m.Seq += r.Ver
		}
		if m.N == 0 {
			_, err = x.ExecContext(ctx, `DELETE FROM relation_archive WHERE bucket = ? AND account_id = ? AND section = ? AND seq = ?`, Bucket(r.AccountID), r.AccountID, m.Section, m.Seq)
		} else {
			_, err = x.ExecContext(ctx, putSegment, Bucket(r.AccountID), r.AccountID, m.Section, m.Seq,
				m.NewestAt, m.NewestID, m.OldestAt, m.OldestID, m.EarliestAt, m.N, r.Ver, m.list)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const putSegment = `INSERT INTO relation_archive (bucket, account_id, section, seq, newest_at, newest_id, oldest_at, oldest_id, earliest_at, n, ver, list)
	VALUES (?,?,?,?,?,?,?,?,?,?,?,?) ON DUPLICATE KEY UPDATE newest_at=VALUES(newest_at), newest_id=VALUES(newest_id), oldest_at=VALUES(oldest_at),
	oldest_id=VALUES(oldest_id), earliest_at=VALUES(earliest_at), n=VALUES(n), ver=VALUES(ver), list=VALUES(list)`

// splitCut makes segments of what was cut from a section, newest entries in the
// first, each of at most SegmentEntries.
func splitCut(s list.Section, cut *list.List) []*segment {
	var out []*segment
	for cut != nil {
		older := cut.Cut(s, SegmentEntries)
		out = append(out, &segment{Header: Header{Section: s}, list: cut, changed: true, made: true})
		cut = older
	}
	slices.Reverse(out) // the oldest gets the lowest seq
	for i, g := range out {
		g.Seq = uint64(i)
	}
	return out
}
