package account

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// Ensure makes the accounts of ids that do not exist yet, created at the given unix
// milliseconds and named after their ids (u12), and returns how many it made. It is for
// imports: at most MaxRows ids at once, safe to repeat and to run beside Create. Where
// one of them was erased it makes none and returns ErrErased.
func (s *Store) Ensure(ctx context.Context, ids []uint64, createdAt uint64) (int, error) {
	have, err := s.load(ctx, ids)
	if err != nil {
		return 0, err
	}
	missing := slices.DeleteFunc(slices.Clone(ids), func(id uint64) bool { return have[id].Ver > 0 })
	if len(missing) == 0 {
		return 0, nil
	}
	names, err := s.claim(ctx, missing)
	if err != nil {
		return 0, err
	}
	args := make([]any, 0, 6*len(missing))
	ver := repo.Step()
	for _, id := range missing {
		args = append(args, repo.Bucket(id), id, ver, names[id], names[id], createdAt)
	}
	err = retry(ctx, s.db, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT IGNORE INTO account (bucket, account_id, ver, username, display_name, locked, created_at) VALUES `+db.Repeat("(?,?,?,?,?,0,?)", len(missing)), args...)
		if err != nil {
			return err
		}
		return alive(ctx, tx, missing)
	})
	if err != nil {
		return 0, fmt.Errorf("make %d accounts: %w", len(missing), db.Wrap(err))
	}
	s.rows.Forget(ctx, missing) // mostly marks of absent rows
	narrow := slices.DeleteFunc(slices.Clone(missing), func(id uint64) bool { return id >= maxMade })
	return len(missing), s.pass(ctx, slices.Max(append(narrow, 0)))
}

// claim claims the name u<id> for each id, or, where another account has it, u<id>_2 and
// so on. Index: PRIMARY (bucket, name), one range a name.
func (s *Store) claim(ctx context.Context, ids []uint64) (map[uint64]string, error) {
	names := make(map[uint64]string, len(ids))
	for open, try := ids, 1; len(open) > 0; try++ {
		var wanted []Name
		var args []any
		for _, id := range open {
			name := "u" + strconv.FormatUint(id, 10)
			if try > 1 {
				name += "_" + strconv.Itoa(try)
			}
			names[id] = name
			wanted = append(wanted, Name{repo.NameBucket(name), name, id})
			args = append(args, repo.NameBucket(name), name, id)
		}
		res, err := s.db.ExecContext(ctx, `INSERT IGNORE INTO username (bucket, name, account_id) VALUES `+db.Repeat("(?,?,?)", len(open)), args...)
		if err != nil {
			return nil, fmt.Errorf("claim %d names: %w", len(open), db.Wrap(err))
		}
		if n, err := res.RowsAffected(); err != nil || n == int64(len(open)) {
			return names, err
		}
		if open, err = s.unclaimed(ctx, wanted); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// unclaimed returns the ids of those name rows that do not exist. Index: PRIMARY
// (bucket, name), one range a name.
func (s *Store) unclaimed(ctx context.Context, wanted []Name) (ids []uint64, err error) {
	args := make([]any, 0, 2*len(wanted))
	for _, n := range wanted {
		args = append(args, n.Bucket, n.Name)
	}
	var held []Name
	err = s.db.SelectContext(ctx, &held, `SELECT bucket, name, account_id FROM username WHERE (bucket, name) IN (`+db.Repeat("(?,?)", len(wanted))+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("look up %d names: %w", len(wanted), db.Wrap(err))
	}
	for _, n := range wanted {
		if !slices.Contains(held, n) {
			ids = append(ids, n.ID)
		}
	}
	return ids, nil
}
