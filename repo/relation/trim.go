package relation

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
	"kith/repo/list"
)

// Trimmed tells what a trim of one account moved.
type Trimmed struct {
	Entries  int
	Segments int
}

// Trim cuts each of the account's sections to its newest limit entries; the
// others move to the archive in the transaction that shortens the row. Counts
// do not change. It holds the row's lock meanwhile, so that a row which is
// written all the time is trimmed all the same.
func (e *Edits) Trim(ctx context.Context, id uint64, limit int) (done Trimmed, err error) {
	var sent []Row
	err = e.store.inTx(ctx, func(tx *sqlx.Tx) error {
		sent = nil
		rows, err := e.store.selectRows(ctx, tx, []uint64{id}, ` FOR UPDATE`)
		if err != nil {
			return err
		}
		d, err := Open(rows[id])
		if err != nil {
			return err
		}
		if done, err = d.trim(ctx, tx, limit); err != nil || done.Entries == 0 {
			return err
		}
		sent, err = e.swapIn(ctx, tx, d)
		return err
	})
	won, err := e.store.judge(ctx, sent, err)
	if err != nil || !won || len(sent) == 0 {
		return Trimmed{}, err
	}
	e.store.Tell(ctx, sent)
	return done, nil
}

func (d *Draft) trim(ctx context.Context, tx *sqlx.Tx, limit int) (done Trimmed, err error) {
	var all []Header
	for s := list.Friends; s <= list.Following; s++ {
		cut := d.list.Cut(s, limit)
		if cut == nil {
			continue
		}
		done.Entries += cut.Len(s)
		if all == nil {
			if all, err = headers(ctx, tx, d.row.AccountID); err != nil {
				return done, err
			}
		}
		if err := d.archive(ctx, tx, s, cut, all); err != nil {
			return done, fmt.Errorf("archive %s of %d: %w", s, d.row.AccountID, err)
		}
	}
	done.Segments = len(d.segments)
	d.touch(done.Entries > 0)
	return done, nil
}

// archive puts what was cut into new segments. A newest segment that is not
// full is taken up again, so that many small trims do not leave many small
// segments.
func (d *Draft) archive(ctx context.Context, tx *sqlx.Tx, s list.Section, cut *list.List, all []Header) error {
	for _, h := range all {
		if h.Section != s {
			continue
		}
		if int(h.N) <= SegmentEntries/2 {
			g, err := d.open(ctx, tx, h)
			if err != nil {
				return err
			}
			cut.Join(g.list)
			g.list, g.changed = list.New(), true // emptied, so deleted
		}
		break
	}
	d.segments = append(d.segments, splitCut(s, cut)...)
	return nil
}

// Long returns up to limit accounts with a section of more than so many entries,
// as far as blocks tell, that come after the given place (blocks, account).
// Index: by_blocks (blocks, and after it the primary key), a range. It asks all
// buckets at once, as CountLong does: long rows are few, wherever they are.
func (s *Store) Long(ctx context.Context, entries int, after LongRow, limit int) ([]LongRow, error) {
	var out []LongRow
	least := (entries + 1) / BlockEntries
	err := s.small.SelectContext(ctx, &out, `SELECT account_id, blocks FROM relation WHERE blocks >= ? AND (blocks > ? OR (blocks = ? AND (bucket > ? OR (bucket = ? AND account_id > ?)))) ORDER BY blocks, bucket, account_id LIMIT ?`,
		least, after.Blocks, after.Blocks, Bucket(after.AccountID), Bucket(after.AccountID), after.AccountID, limit)
	if err != nil {
		return nil, fmt.Errorf("find rows of more than %d entries: %w", entries, db.Wrap(err))
	}
	return out, nil
}

// LongRow is an account and the length of its longest section in blocks.
type LongRow struct {
	AccountID uint64 `db:"account_id"`
	Blocks    uint32 `db:"blocks"`
}
