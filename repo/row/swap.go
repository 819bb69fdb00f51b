package row

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// swapRows is the most rows of one statement; a swap of more is a transaction of
// several. A connection keeps its statements (see package db), each number of rows
// being one, in 9 MB of the server's memory for all of these on relations. For 96 it
// would be some four times as much, and large commits cost the server about a tenth
// less; with 24 they cost more (repo/relation, BenchmarkSwap).
const swapRows = 48

// Swap stores rows, each only where its ver is still the one that was read, all or none,
// and then in the cache. It gives them their next ver and reports whether they won.
func (s *Store[R]) Swap(ctx context.Context, rows []R) (won bool, err error) {
	if len(rows) == 0 {
		return true, nil
	}
	s.kind.raise(rows)
	if len(rows) <= swapRows && !slices.ContainsFunc(rows, s.attached) {
		err = s.statement(ctx, s.db, s.inKeyOrder(rows)) // its own transaction
	} else {
		err = db.WithTx(ctx, s.db, func(tx *sqlx.Tx) error { return s.swap(ctx, tx, rows) })
	}
	if won, err = s.resolve(ctx, rows, err); won {
		s.Put(ctx, rows)
	}
	return won, err
}

func (s *Store[R]) attached(r R) bool { return s.kind.Attached != nil && s.kind.Attached(&r) }

// Locked reads the rows of ids under their locks, hands them to edit and swaps the rows
// that it returns, with what is attached to them, all in one transaction, in which edit
// may do more. Where Swap would lose again and again to other processes, this waits its
// turn instead. Of held, up to MaxHeld rows, those that are current are not read again.
//
// The returned rows have their next ver afterwards. The cache gets them and those that
// were only read: who is answered from them must not read older ones later. Not won,
// without an error, means that nothing was changed and all may be done again. An error of
// edit is returned.
func (s *Store[R]) Locked(ctx context.Context, ids []uint64, held []R, edit func(tx *sqlx.Tx, rows map[uint64]R) ([]R, error)) (won bool, err error) {
	var sent []R
	var read map[uint64]R
	err = db.WithTx(ctx, s.db, func(tx *sqlx.Tx) (err error) {
		sent = nil
		if read, err = s.lock(ctx, tx, ids, held); err != nil {
			return err
		}
		if sent, err = edit(tx, read); err != nil {
			sent = nil
			return err
		}
		s.kind.raise(sent)
		return s.swap(ctx, tx, sent)
	})
	if won, err = s.resolve(ctx, sent, err); !won {
		return false, err
	}
	for i, id := range s.kind.ids(sent) {
		read[id] = sent[i]
	}
	s.Put(ctx, slices.Collect(maps.Values(read)))
	return true, nil
}

// swap sends the swap inside a transaction, and what is attached to the rows.
func (s *Store[R]) swap(ctx context.Context, tx *sqlx.Tx, rows []R) error {
	for part := range slices.Chunk(s.inKeyOrder(rows), swapRows) {
		if err := s.statement(ctx, tx, part); err != nil {
			return err
		}
	}
	var bring []*R
	for i := range rows {
		if s.attached(rows[i]) {
			bring = append(bring, &rows[i])
		}
	}
	if len(bring) == 0 {
		return nil
	}
	return s.kind.Attach(ctx, tx, bring)
}

// errNoBase says that a row which was read, or was in the cache, is not there.
var errNoBase = fmt.Errorf("a row that is to be changed is not there: %w", repo.ErrConflict)

// statement sends the guarded bulk statement. Index: PRIMARY (bucket, id). Where
// the ver of a row is not one step behind it underflows, which is an error and undoes the
// statement. The server counts an inserted row once and an updated one twice: where it
// inserted more than the new rows the error is errNoBase.
func (s *Store[R]) statement(ctx context.Context, x sqlx.ExecerContext, rows []*R) error {
	args, want := make([]any, 0, (4+len(s.kind.Columns))*len(rows)+2), int64(len(rows))
	for _, r := range rows {
		m := s.kind.Meta(r)
		args = append(args, repo.Bucket(m.ID), m.ID, m.Ver)
		var err error
		if args, err = s.kind.Values(args, r); err != nil {
			return err
		}
		if m.Ver == m.step { // there is no row yet
			args = append(args, m.UpdatedAt)
		} else {
			args = append(args, uint32(neverUpdated))
			want++
		}
	}
	first := s.kind.Meta(rows[0])
	args = append(args, first.step, first.UpdatedAt)
	done, err := x.ExecContext(ctx, s.insert+db.Repeat(s.group, len(rows))+
		` ON DUPLICATE KEY UPDATE ver=IF(ver+?=VALUES(ver),VALUES(ver),ver-ver-1), `+s.update+`updated_at=?`, args...)
	if err != nil {
		return err
	}
	n, err := done.RowsAffected()
	if err == nil && n < want {
		err = errNoBase
	}
	return err
}

// raise gives rows their next ver, by a step that is the same for all, and the same
// date. Rows that have theirs already keep it.
func (k *Kind[R]) raise(rows []R) {
	step, now := repo.Step(), uint32(neverUpdated+1)
	for i := range rows {
		m := k.Meta(&rows[i])
		if m.step > 0 {
			return
		}
		step = max(step, m.past+step)
		now = max(now, m.UpdatedAt)
	}
	for i := range rows {
		m := k.Meta(&rows[i])
		m.Ver += step
		m.step, m.UpdatedAt = step, now
	}
}

// inKeyOrder sorts rows so that two processes lock them in the same order.
func (s *Store[R]) inKeyOrder(rows []R) []*R {
	out := make([]*R, len(rows))
	for i := range rows {
		out[i] = &rows[i]
	}
	slices.SortFunc(out, func(a, b *R) int {
		return repo.CompareKeys(s.kind.Meta(a).ID, s.kind.Meta(b).ID)
	})
	return out
}

// resolve turns what became of a swap into won, lost or an error.
func (s *Store[R]) resolve(ctx context.Context, rows []R, err error) (won bool, _ error) {
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, errNoBase):
		return false, s.disown(ctx, rows)
	case db.Lost(err), len(rows) == 0 && db.OutcomeUnknown(err) && ctx.Err() == nil: // nothing was sent
		return false, nil
	case len(rows) == 0: // of an edit, or there is no time left
		return false, db.Wrap(err)
	case db.OutcomeUnknown(err):
		return s.readBack(ctx, rows, err)
	default:
		s.Drop(ctx, rows) // an engine that shards may have stored some
		return false, fmt.Errorf("swap %d rows of %s: %w", len(rows), s.kind.Table, db.Wrap(err))
	}
}

// disown drops rows, of which the database has lost some, and has the cache say so.
func (s *Store[R]) disown(ctx context.Context, rows []R) error {
	s.Drop(ctx, rows)
	now, err := s.stored(ctx, s.kind.ids(rows), `''`, "")
	if err != nil {
		return fmt.Errorf("find out which rows of %s are lost: %w", s.kind.Table, err)
	}
	var lost []uint64
	for i := range rows {
		if m := s.kind.Meta(&rows[i]); m.Ver > m.step && now[m.ID].UpdatedAt == neverUpdated {
			lost = append(lost, m.ID)
		}
	}
	s.rows.Disown(ctx, lost)
	return nil
}

// readBackTime bounds a read after an unknown outcome, whatever is left of the
// caller's own time.
const readBackTime = 5 * time.Second

// readBack finds out whether a swap with an unknown outcome took effect. A row that holds
// exactly what was sent proves that all did, since rows are swapped all or none. One that
// is as before proves that it did not, or on an engine that shards not everywhere: the
// edits are redone. Where others have changed every row since, there is no proof, and the
// edits must not be redone: others may have seen and undone them. The caller gets an error
// and may ask again. Where edits can be redone (Kind.Redo), they are, unless every row holds
// what was sent: rows of several shards prove nothing for each other. The read waits for
// locks: the statement may still run, though its connection is gone.
//
// Unless the swap was won the cache drops the rows, which may have been replaced.
func (s *Store[R]) readBack(ctx context.Context, rows []R, cause error) (won bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTime)
	defer cancel()
	now, err := s.stored(ctx, s.kind.ids(rows), s.long, ` FOR UPDATE`)
	sent, before := 0, 0
	for i := range rows {
		values, valuesErr := s.kind.Values(nil, &rows[i])
		if err = errors.Join(err, valuesErr); err != nil {
			s.Drop(ctx, rows)
			return false, fmt.Errorf("read back after a lost connection: %w (after %w)", err, cause)
		}
		m := s.kind.Meta(&rows[i])
		switch have := now[m.ID]; {
		case have.Ver == m.Ver-m.step, have.Ver == m.Ver && have.UpdatedAt == neverUpdated:
			before++
		case have.Ver == m.Ver && bytes.Equal(have.Content, values[0].([]byte)):
			sent++
		}
	}
	if sent == len(rows) || sent > 0 && before == 0 && !s.kind.Redo {
		return true, nil
	}
	s.Drop(ctx, rows)
	if before > 0 || s.kind.Redo {
		return false, nil
	}
	return false, fmt.Errorf("swap %d rows of %s, all of which were changed since, so that nobody knows whether it took effect: %w: %w", len(rows), s.kind.Table, repo.ErrUnavailable, cause)
}
