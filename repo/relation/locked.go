package relation

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
)

// Load opens the rows of ids, from the database if fresh, else through the
// cache. Whoever is answered from fresh rows is not to read older ones
// afterwards, so the cache gets them too.
func (s *Store) Load(ctx context.Context, ids []uint64, fresh bool) (map[uint64]*Draft, error) {
	if !fresh {
		rows, err := s.Rows(ctx, ids)
		if err != nil {
			return nil, err
		}
		drafts, err := openAll(slices.Values(rows))
		if err == nil {
			return drafts, nil
		}
		s.forget(ctx, rows) // the database decides whether its row is bad
	}
	rows, err := s.Fresh(ctx, ids)
	if err != nil {
		return nil, err
	}
	s.Put(ctx, slices.Collect(maps.Values(rows)))
	return openAll(maps.Values(rows))
}

func openAll(rows iter.Seq[Row]) (map[uint64]*Draft, error) {
	drafts := map[uint64]*Draft{}
	for r := range rows {
		d, err := Open(r)
		if err != nil {
			return nil, err
		}
		drafts[r.AccountID] = d
	}
	return drafts, nil
}

// Locked opens the rows of ids while it holds their locks, lets edit work on
// them and swaps what edit returns. Where Swap would lose again and again to
// other processes, this waits its turn instead. While the locks are held the
// segments stand still too, so this is where drafts get what they lack: edit then
// runs again. The long list of a draft that was loaded before is not sent again
// where its ver is the same.
func (s *Store) Locked(ctx context.Context, ids []uint64, loaded map[uint64]*Draft, edit func(map[uint64]*Draft) ([]Row, error)) (won bool, err error) {
	return s.locked(ctx, ids, loaded, func(tx *sqlx.Tx, rows map[uint64]Row) ([]Row, error) {
		drafts, err := openAll(maps.Values(rows))
		if err != nil {
			return nil, err
		}
		for {
			out, err := edit(drafts)
			if err != nil || !lacking(drafts) {
				return out, err
			}
			if drafts, err = recallAll(ctx, tx, drafts); err != nil {
				return nil, err
			}
		}
	})
}

func lacking(drafts map[uint64]*Draft) bool {
	for _, d := range drafts {
		if d.Lacks() {
			return true
		}
	}
	return false
}

// locked reads the rows of ids under their locks, hands them to edit as they are
// stored, and swaps what edit returns, with what that brings for the archive, all in
// one transaction, in which edit may read more. The rows that edit returned have their
// next ver afterwards. The cache gets them and those that were read only: whoever is
// answered from them is not to read older ones afterwards. edit may run twice. Not
// won, without an error, means that nothing was changed and that all may be done again.
func (s *Store) locked(ctx context.Context, ids []uint64, loaded map[uint64]*Draft, edit func(tx *sqlx.Tx, rows map[uint64]Row) ([]Row, error)) (won bool, err error) {
	var sent []Row
	var read map[uint64]Row
	err = db.WithTx(ctx, s.db, func(tx *sqlx.Tx) (err error) {
		sent = nil
		if read, err = s.lockRows(ctx, tx, ids, loaded); err != nil {
			return err
		}
		if sent, err = edit(tx, read); err != nil {
			return err
		}
		return s.swapAll(ctx, tx, sent)
	})
	if won, err = s.resolve(ctx, sent, err); !won {
		return won, err
	}
	for _, r := range sent {
		read[r.AccountID] = r
	}
	s.Put(ctx, slices.Collect(maps.Values(read)))
	return true, nil
}
