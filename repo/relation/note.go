package relation

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
)

// MaxNote is how many bytes a note has at most.
const MaxNote = 8192

// Note is what an account keeps in private about another. Its row's list says that
// there is one; the text is a row of a table of its own, written together with it.
type Note struct {
	OtherID uint64 `db:"other_id"`
	Body    string `db:"body"`
}

// SetNote keeps a note about id, or, where it is empty, none. Like any edit it
// takes effect with the swap of the row.
func (d *Draft) SetNote(id uint64, body string) (bool, error) {
	o := d.list.Option(id)
	if !o.Note && body == "" {
		return false, nil
	}
	o.Note = body != ""
	if _, err := d.list.SetOption(id, o); err != nil {
		return false, err
	}
	d.notes = append(d.notes, Note{id, body})
	return d.touch(true), nil
}

// Noted returns the notes that edits have set so far, the last of one account last.
func (d *Draft) Noted() []Note { return d.notes }

// Notes returns the notes of an account about those of others of whom it keeps one.
// Index: PRIMARY (bucket, account_id, other_id), one row each.
func (s *Store) Notes(ctx context.Context, id uint64, others []uint64) (map[uint64]string, error) {
	out := make(map[uint64]string, len(others))
	for part := range slices.Chunk(others, MaxRows) {
		args := []any{Bucket(id), id}
		for _, o := range part {
			args = append(args, o)
		}
		var notes []Note
		err := s.db.SelectContext(ctx, &notes, `SELECT other_id, body FROM note WHERE bucket = ? AND account_id = ? AND other_id IN (`+db.Repeat(`?`, len(part))+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("load notes of %d: %w", id, db.Wrap(err))
		}
		for _, n := range notes {
			out[n.OtherID] = n.Body
		}
	}
	return out, nil
}

// storeNotes writes the notes of a row inside the transaction that swaps it. Index:
// PRIMARY, one row each, or a range.
func storeNotes(ctx context.Context, x sqlx.ExecerContext, r *Row) error {
	id := r.AccountID
	if r.attached.noteless {
		_, err := x.ExecContext(ctx, `DELETE FROM note WHERE bucket = ? AND account_id = ?`, Bucket(id), id)
		return err
	}
	for _, n := range r.attached.notes {
		var err error
		if n.Body == "" {
			_, err = x.ExecContext(ctx, `DELETE FROM note WHERE bucket = ? AND account_id = ? AND other_id = ?`, Bucket(id), id, n.OtherID)
		} else {
			_, err = x.ExecContext(ctx, `INSERT INTO note (bucket, account_id, other_id, body, updated_at) VALUES (?,?,?,?,?) ON DUPLICATE KEY UPDATE body=VALUES(body), updated_at=VALUES(updated_at)`,
				Bucket(id), id, n.OtherID, []byte(n.Body), r.UpdatedAt)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
