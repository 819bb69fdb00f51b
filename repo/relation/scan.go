package relation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/account"
	"kith/repo/db"
	"kith/repo/list"
	"kith/repo/row"
)

// Outline is a row with the lengths of its list's sections instead of the list. Work on
// very many rows reads these first: which rows changed, which are of interest, how much
// memory they will take.
type Outline struct {
	AccountID uint64 `db:"account_id"`
	Ver       uint64 `db:"ver"`
	Columns
	list.Outline `db:"-"`
	// Err says that the list has bad bytes; other accounts are not to suffer from it.
	Err error `db:"-"`
}

// entryBytes is about what an entry takes in a list: an id of 4 or 8 bytes and
// a time of 1 to 5.
const entryBytes = 10

// Size estimates the bytes of the list. Friends count twice, so it is seldom
// too low; blocks, mutes and options are not in it.
func (o Outline) Size() int { return entryBytes * (int(o.KeptFollowers) + int(o.KeptFollowing)) }

// outlineRow is an outline as it is read.
type outlineRow struct {
	Outline
	Start []byte `db:"start"`
}

// outlineColumns are those of an outlineRow; the argument is list.OutlineBytes.
const outlineColumns = `account_id, ver, kept_followers, kept_following, blocks, LEFT(list, ?) AS start`

// Outlines returns the outlines of those of ids that have a row, from the database.
// Index: PRIMARY (bucket, account_id), one range an id.
func (s *Store) Outlines(ctx context.Context, ids []uint64) (map[uint64]Outline, error) {
	out := make(map[uint64]Outline, len(ids))
	for part := range slices.Chunk(repo.InOrder(ids), row.MaxRows) {
		where, args := db.Keys(part)
		var rows []outlineRow
		err := s.db.SelectContext(ctx, &rows, `SELECT `+outlineColumns+` FROM relation WHERE (bucket, account_id) IN (`+where+`)`, append([]any{list.OutlineBytes}, args...)...)
		if err != nil {
			return nil, fmt.Errorf("load outlines of %d relations: %w", len(part), db.Wrap(err))
		}
		for _, o := range outlines(rows) {
			out[o.AccountID] = o
		}
	}
	return out, nil
}

// WalkOutlines returns the outlines of up to limit rows that come after the
// given account in key order (0 for the first). Index: PRIMARY (bucket,
// account_id), a range in each bucket.
func (s *Store) WalkOutlines(ctx context.Context, after uint64, limit int) ([]Outline, error) {
	rows, err := db.WalkRows[outlineRow](ctx, s.db, `relation`, after, db.LastKey, limit,
		`SELECT `+outlineColumns+` FROM relation WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?`, list.OutlineBytes)
	if err != nil {
		return nil, fmt.Errorf("walk outlines after %d: %w", after, err)
	}
	return outlines(rows), nil
}

func outlines(rows []outlineRow) []Outline {
	out := make([]Outline, len(rows))
	for i, r := range rows {
		var err error
		if r.Outline.Outline, err = list.ReadOutline(r.Start); err != nil {
			r.Err = fmt.Errorf("list of account %d, ver %d: %w", r.AccountID, r.Ver, err)
		}
		out[i] = r.Outline
	}
	return out
}

// Trim cuts each of the account's sections to its bound, friends, followers and
// following to their newest limit entries, and returns how many entries moved to the
// archive, in the transaction that shortens the row. Counts do not change. It holds the
// row's lock meanwhile, so that a row which is written all the time is trimmed all the
// same.
func (s *Store) Trim(ctx context.Context, id uint64, limit int) (moved int, err error) {
	err = s.lockedRow(ctx, id, func(_ *sqlx.Tx, row Row) ([]Row, error) {
		d, err := Open(row)
		if err != nil {
			return nil, err
		}
		before := d.archive
		r, err := d.Pack(uint32(s.now().Unix()), limit, 1)
		if moved = d.archive.all() - before.all(); moved == 0 {
			return nil, err
		}
		return []Row{r}, err
	})
	if err != nil {
		return 0, err
	}
	return moved, nil
}

// Long returns up to limit rows with a section of more than so many entries, as far as
// blocks tell, that come after a row in the order of (blocks, account). Index: by_blocks
// (blocks, and after it the primary key), a range. It asks all buckets at once, as
// CountLong does: long rows are few, wherever they are. The index is named, since
// MariaDB would sort the rows rather than look each up.
func (s *Store) Long(ctx context.Context, entries int, after Outline, limit int) ([]Outline, error) {
	var rows []outlineRow
	bucket := repo.Bucket(after.AccountID)
	err := s.db.SelectContext(ctx, &rows, `SELECT `+outlineColumns+` FROM relation FORCE INDEX (by_blocks) WHERE blocks >= ? AND (blocks > ? OR (blocks = ? AND (bucket > ? OR (bucket = ? AND account_id > ?)))) ORDER BY blocks, bucket, account_id LIMIT ?`,
		list.OutlineBytes, (entries+1)/BlockEntries, after.Blocks, after.Blocks, bucket, bucket, after.AccountID, limit)
	if err != nil {
		return nil, fmt.Errorf("find rows of more than %d entries: %w", entries, db.Wrap(err))
	}
	return outlines(rows), nil
}

// CountLong counts the rows that Long returns. Index: by_blocks, a range that
// is read without its rows.
func (s *Store) CountLong(ctx context.Context, entries int) (n int64, err error) {
	err = s.db.GetContext(ctx, &n, `SELECT COUNT(*) FROM relation WHERE blocks >= ?`, (entries+1)/BlockEntries)
	if err != nil {
		return 0, fmt.Errorf("count rows of more than %d entries: %w", entries, db.Wrap(err))
	}
	return n, nil
}

// Archived returns up to limit accounts that have anything in the archive and come
// after the given account in key order, up to last. Index: PRIMARY (bucket,
// account_id, …) of both tables, a range in each bucket.
func (s *Store) Archived(ctx context.Context, after, last uint64, limit int) (all []uint64, err error) {
	for _, table := range []string{`relation_archive`, `relation_own`} {
		some, err := db.WalkRows[uint64](ctx, s.db, table, after, last, limit,
			`SELECT account_id FROM `+table+` WHERE bucket = ? AND account_id > ? AND account_id <= ? GROUP BY account_id ORDER BY account_id LIMIT ?`)
		if err != nil {
			return nil, fmt.Errorf("find archives after %d: %w", after, err)
		}
		all = append(all, some...)
	}
	all = repo.InOrder(all)
	return all[:min(len(all), limit)], nil
}

// sampled is how many of the 1,024 buckets About counts.
const sampled = 16

// About estimates the number of rows from the first 16 of the 1,024 buckets.
// Index: PRIMARY (bucket, account_id), or by_blocks, which holds the bucket too.
func (s *Store) About(ctx context.Context) (int64, error) {
	var n int64
	buckets := make([]any, sampled)
	for i := range buckets {
		buckets[i] = i
	}
	err := s.db.GetContext(ctx, &n, `SELECT COUNT(*) FROM relation WHERE bucket IN (`+db.Repeat("?", sampled)+`)`, buckets...)
	if err != nil {
		return 0, fmt.Errorf("count a part of the relations: %w", db.Wrap(err))
	}
	return n * (repo.Buckets / sampled), nil
}

// Examine hands an account's row and then its segments, one at a time, to row and segment,
// all as of one moment. Where the archive changed meanwhile it begins anew, row first. With
// locked, or where that happens again and again, it holds the row's lock, without which
// nothing of the account changes. An account without a row has Ver 0.
func (s *Store) Examine(ctx context.Context, id uint64, locked bool, row func(Row) error, segment func(Segment) error) error {
	for try := 0; try < looseTries && !locked; try++ {
		steady, err := s.examineLoose(ctx, id, row, segment)
		if steady && err == nil {
			return nil
		}
		if err != nil && !errors.Is(err, repo.ErrNotFound) { // a segment that was there a moment ago
			return fmt.Errorf("examine account %d: %w", id, err)
		}
	}
	err := s.lockedRow(ctx, id, func(tx *sqlx.Tx, r Row) ([]Row, error) {
		err := row(r)
		if err == nil {
			err = eachSegment(ctx, tx, id, segment)
		}
		return nil, err
	})
	if err != nil {
		return fmt.Errorf("examine account %d: %w", id, err)
	}
	return nil
}

// looseTries is how often an account is read without its lock.
const looseTries = 5

// examineLoose reads an account without a lock, and reports whether its archive did not
// change meanwhile: then row and archive go together. New followers of an account that
// everybody follows change the row only.
func (s *Store) examineLoose(ctx context.Context, id uint64, row func(Row) error, segment func(Segment) error) (steady bool, err error) {
	rows, err := s.Fresh(ctx, []uint64{id})
	if err != nil {
		return false, err
	}
	if err := row(rows[id]); err != nil {
		return false, err
	}
	if err := eachSegment(ctx, s.db, id, segment); err != nil {
		return false, err
	}
	return s.archiveStood(ctx, []Row{rows[id]})
}

// Whole returns an account's row and the lists of its whole archive as of one
// moment. It wraps repo.ErrConflict where the archive changes faster than it can be
// read.
func (s *Store) Whole(ctx context.Context, id uint64) (row Row, archive []list.View, err error) {
	err = s.Examine(ctx, id, false, func(r Row) error {
		row, archive = r, nil
		return nil
	}, func(g Segment) error {
		v, err := g.view(id)
		archive = append(archive, v)
		return err
	})
	if err != nil {
		return Row{}, nil, fmt.Errorf("read row and archive of %d: %w", id, err)
	}
	return row, archive, nil
}

// Orphans returns the accounts that have a relation row which says something but do
// not exist, and come after the given account in key order, up to last. Index: PRIMARY
// (bucket, account_id) of relation, a range in each bucket, and of account, one row
// each; lists are read of few.
func (s *Store) Orphans(ctx context.Context, after, last uint64) (out []uint64, err error) {
	for {
		var full []uint64
		page, err := db.WalkRows[uint64](ctx, s.db, `relation`, after, last, row.MaxRows,
			`SELECT r.account_id FROM relation r LEFT JOIN account a ON a.bucket = r.bucket AND a.account_id = r.account_id WHERE r.bucket = ? AND r.account_id > ? AND r.account_id <= ? AND a.account_id IS NULL ORDER BY r.account_id LIMIT ?`)
		if err == nil && len(page) > 0 {
			where, args := db.Keys(page)
			err = s.db.SelectContext(ctx, &full, `SELECT account_id FROM relation WHERE (bucket, account_id) IN (`+where+`) AND (followers > 0 OR following > 0 OR friends > 0 OR list <> ?) ORDER BY bucket, account_id`,
				append(args, emptyList)...)
		}
		if err != nil {
			return nil, fmt.Errorf("find rows without an account after %d: %w", after, db.Wrap(err))
		}
		out = append(out, full...)
		if len(page) < row.MaxRows {
			return out, nil
		}
		after = page[len(page)-1]
	}
}

// Missing returns those of ids that are no accounts, from the database.
func (s *Store) Missing(ctx context.Context, ids []uint64) (map[uint64]bool, error) {
	return account.Missing(ctx, s.db, ids)
}
