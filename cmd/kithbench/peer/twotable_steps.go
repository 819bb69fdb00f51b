package peer

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// steps runs statements one after the other in a transaction. Where the first
// changes no row there is nothing to do.
func (t *TwoTable) steps(ctx context.Context, all ...step) error {
	tx, err := t.pool.BeginTxx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() // does nothing after Commit
	for i, s := range all {
		changed, err := s.run(ctx, tx)
		if err != nil {
			return err
		}
		if i == 0 && !changed {
			return nil
		}
	}
	return tx.Commit()
}

// step is one statement.
type step struct {
	sql  string
	args []any
}

func (s step) run(ctx context.Context, tx *sqlx.Tx) (changed bool, err error) {
	done, err := tx.ExecContext(ctx, s.sql, s.args...)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n > 0, err
}

// followSteps is followSQL, a statement at a time.
func (t *TwoTable) followSteps(ctx context.Context, from, to uint64, at uint32) error {
	up := from < to
	return t.steps(ctx,
		step{`INSERT IGNORE INTO follows (account_id, target_id, created_at) VALUES (?, ?, ?)`, []any{from, to, at}},
		step{`INSERT IGNORE INTO fans (account_id, fan_id, created_at) VALUES (?, ?, ?)`, []any{to, from, at}},
		step{`INSERT INTO counts (account_id, following, followers) VALUES (?, ?, ?), (?, ?, ?)
			ON DUPLICATE KEY UPDATE following = following + VALUES(following), followers = followers + VALUES(followers)`,
			[]any{min(from, to), up, !up, max(from, to), !up, up}})
}

// unfollowSteps is unfollowSQL, a statement at a time.
func (t *TwoTable) unfollowSteps(ctx context.Context, from, to uint64) error {
	return t.steps(ctx,
		step{`DELETE FROM follows WHERE account_id = ? AND target_id = ?`, []any{from, to}},
		step{`DELETE FROM fans WHERE account_id = ? AND fan_id = ?`, []any{to, from}},
		step{`UPDATE counts SET following = following - (account_id = ?), followers = followers - (account_id = ?) WHERE account_id IN (?, ?)`,
			[]any{from, to, from, to}})
}
