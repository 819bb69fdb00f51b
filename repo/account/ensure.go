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

// Ensure makes the accounts of ids that do not exist yet, created at the given
// unix milliseconds and named after their ids (u12), and tells how many it made.
// It is for imports: many ids at once, safe to repeat and to run beside
// Create. At most MaxRows ids. Where one of them was erased it makes none and
// answers ErrErased.
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
	if err := s.insert(ctx, missing, names, createdAt); err != nil {
		return 0, err
	}
	s.show.Outdate(missing)
	s.rows.Forget(ctx, missing) // marks of absent rows mostly
	return len(missing), s.pass(ctx, largestNarrow(missing))
}

// claim takes the name u<id> for each id, or, where somebody else has it,
// u<id>_2 and so on.
func (s *Store) claim(ctx context.Context, ids []uint64) (map[uint64]string, error) {
	names := make(map[uint64]string, len(ids))
	open := ids
	for try := 1; len(open) > 0; try++ {
		for _, id := range open {
			names[id] = madeName(id, try)
		}
		owners, err := s.claimOnce(ctx, open, names)
		if err != nil {
			return nil, err
		}
		open = slices.DeleteFunc(slices.Clone(open), func(id uint64) bool { return owners[names[id]] == id })
	}
	return names, nil
}

func madeName(id uint64, try int) string {
	name := "u" + strconv.FormatUint(id, 10)
	if try > 1 {
		name += "_" + strconv.Itoa(try)
	}
	return name
}

// claimOnce claims names that are free and returns who owns them afterwards.
// Index: PRIMARY (bucket, name), one range a name.
func (s *Store) claimOnce(ctx context.Context, ids []uint64, names map[uint64]string) (map[string]uint64, error) {
	claims := make([]any, 0, 3*len(ids))
	keys := make([]any, 0, 2*len(ids))
	owners := make(map[string]uint64, len(ids))
	for _, id := range ids {
		n := names[id]
		claims = append(claims, repo.NameBucket(n), n, id)
		keys = append(keys, repo.NameBucket(n), n)
		owners[n] = id
	}
	res, err := s.db.ExecContext(ctx, `INSERT IGNORE INTO username (bucket, name, account_id) VALUES `+db.Repeat("(?,?,?)", len(ids)), claims...)
	if err != nil {
		return nil, fmt.Errorf("claim %d names: %w", len(ids), db.Wrap(err))
	}
	if n, err := res.RowsAffected(); err != nil || n == int64(len(ids)) {
		return owners, err
	}
	var held []struct {
		Name string `db:"name"`
		ID   uint64 `db:"account_id"`
	}
	err = s.db.SelectContext(ctx, &held, `SELECT name, account_id FROM username WHERE (bucket, name) IN (`+db.Repeat("(?,?)", len(ids))+`)`, keys...)
	if err != nil {
		return nil, fmt.Errorf("look up %d names: %w", len(ids), db.Wrap(err))
	}
	for _, h := range held {
		owners[h.Name] = h.ID
	}
	return owners, nil
}

func (s *Store) insert(ctx context.Context, ids []uint64, names map[uint64]string, createdAt uint64) error {
	args := make([]any, 0, 6*len(ids))
	ver := repo.Step()
	for _, id := range ids {
		args = append(args, repo.Bucket(id), id, ver, names[id], names[id], createdAt)
	}
	err := retry(ctx, s.db, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT IGNORE INTO account (bucket, account_id, ver, username, display_name, locked, created_at) VALUES `+db.Repeat("(?,?,?,?,?,0,?)", len(ids)), args...)
		if err != nil {
			return err
		}
		return alive(ctx, tx, ids)
	})
	if err != nil {
		return fmt.Errorf("make %d accounts: %w", len(ids), db.Wrap(err))
	}
	return nil
}

// largestNarrow returns the largest id that fits in 32 bits, or 0.
func largestNarrow(ids []uint64) uint64 {
	most := uint64(0)
	for _, id := range ids {
		if id < 1<<32-1 {
			most = max(most, id)
		}
	}
	return most
}
