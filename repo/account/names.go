package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// Name is a row of username: a name in lower case and the account that claimed it.
type Name struct {
	Bucket uint16 `db:"bucket"`
	Name   string `db:"name"`
	ID     uint64 `db:"account_id"`
}

// nameOf is the row that an account must have.
func nameOf(a Account) Name {
	name := strings.ToLower(a.Username)
	return Name{Bucket: repo.NameBucket(name), Name: name, ID: a.ID}
}

// Good reports whether a name row is the one that an account must have. It is not where
// a.Ver is 0.
func (n Name) Good(a Account) bool { return a.Ver > 0 && n == nameOf(a) }

// Names returns up to limit name rows, MaxRows at most, after one in key order, (bucket,
// name); the zero Name comes before all. Index: PRIMARY (bucket, name), a range in each
// bucket.
func (s *Store) Names(ctx context.Context, after Name, limit int) (out []Name, err error) {
	err = db.WalkBuckets(ctx, s.db, `username`, after.Bucket, repo.Buckets-1, min(limit, MaxRows), func(bucket uint16, limit int) (int, error) {
		above := ""
		if bucket == after.Bucket {
			above = after.Name
		}
		var page []Name
		err := s.db.SelectContext(ctx, &page, `SELECT bucket, name, account_id FROM username WHERE bucket = ? AND name > ? ORDER BY name LIMIT ?`, bucket, above, limit)
		out = append(out, page...)
		return len(page), err
	})
	if err != nil {
		return nil, fmt.Errorf("walk names after %q: %w", after.Name, db.Wrap(err))
	}
	return out, nil
}

// Stored returns the accounts of ids that exist, past the cache.
func (s *Store) Stored(ctx context.Context, ids []uint64) (map[uint64]Account, error) {
	out, err := s.load(ctx, ids)
	for id, a := range out {
		if a.Ver == 0 {
			delete(out, id)
		}
	}
	return out, err
}

// Nameless returns those of accounts that have no name row, or whose name another
// account has claimed.
func (s *Store) Nameless(ctx context.Context, accounts []Account) (out []Account, err error) {
	for part := range slices.Chunk(accounts, MaxRows) {
		wanted := make([]Name, len(part))
		for i, a := range part {
			wanted[i] = nameOf(a)
		}
		ids, err := s.unclaimed(ctx, wanted)
		if err != nil {
			return nil, err
		}
		for _, a := range part {
			if slices.Contains(ids, a.ID) {
				out = append(out, a)
			}
		}
	}
	return out, nil
}

// DropName deletes a name row unless it is Good, and reports whether it did or, with
// dry, would. It checks under the lock of the row: Create writes the name before the
// account. Index: PRIMARY in all.
func (s *Store) DropName(ctx context.Context, n Name, dry bool) (dropped bool, err error) {
	err = retry(ctx, s.db, func(tx *sqlx.Tx) error {
		dropped = false
		now := n
		lock := ` FOR UPDATE`
		if dry {
			lock = ""
		}
		err := tx.GetContext(ctx, &now.ID, `SELECT account_id FROM username WHERE bucket = ? AND name = ?`+lock, n.Bucket, n.Name)
		if errors.Is(db.Wrap(err), repo.ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		var a Account
		err = tx.GetContext(ctx, &a, `SELECT account_id, ver, username, display_name, locked, no_promotions, created_at FROM account WHERE bucket = ? AND account_id = ?`, repo.Bucket(now.ID), now.ID)
		if gone := errors.Is(db.Wrap(err), repo.ErrNotFound); err != nil && !gone || now.Good(a) {
			return err
		}
		if dropped = true; dry {
			return nil
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM username WHERE bucket = ? AND name = ?`, n.Bucket, n.Name)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("drop the name %q: %w", n.Name, db.Wrap(err))
	}
	return dropped, nil
}

// GiveName writes the name row that an account lacks, and reports whether it did or,
// with dry, would. It returns ErrTaken where another account has the name. It locks the
// name before it checks the account: Bury deletes the name last. Index: PRIMARY in all.
func (s *Store) GiveName(ctx context.Context, id uint64, dry bool) (given bool, err error) {
	stored, err := s.Stored(ctx, []uint64{id})
	if err != nil || len(stored) == 0 {
		return false, err
	}
	lacking, err := s.Nameless(ctx, []Account{stored[id]})
	if err != nil || len(lacking) == 0 || dry {
		return len(lacking) > 0, err
	}
	err = retry(ctx, s.db, func(tx *sqlx.Tx) error {
		if err := claimName(ctx, tx, stored[id]); err != nil {
			return err
		}
		missing, err := Missing(ctx, tx, []uint64{id})
		if err == nil && missing[id] {
			err = repo.ErrNotFound
		}
		return err
	})
	switch {
	case errors.Is(err, repo.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("give account %d its name %q: %w", id, stored[id].Username, db.Wrap(err))
	}
	return true, nil
}
