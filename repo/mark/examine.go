package mark

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/row"
)

// Unpack reads the list of a head as it is stored, newest first.
func Unpack(list []byte) ([]Mark, error) {
	var h head
	err := h.unpack(list)
	return h.marks, err
}

// Examine compares the head of an account with its marks, under the lock of the head, and
// returns what is wrong, in words; empty where nothing is. With repair the head is made
// anew. It reads 101 marks of each kind at most.
func (s *Store) Examine(ctx context.Context, account uint64, repair bool) (wrong string, err error) {
	err = db.Retry(ctx, tries, func(ctx context.Context) error {
		return db.WithTx(ctx, s.db, func(tx *sqlx.Tx) (err error) {
			wrong, err = s.examine(ctx, tx, account, repair)
			return err
		})
	})
	if repair && wrong != "" {
		s.heads.Drop(ctx, []head{{Meta: row.Meta{ID: account}}})
	}
	if err != nil {
		return "", fmt.Errorf("examine the marks of %d: %w", account, db.Wrap(err))
	}
	return wrong, nil
}

// examine is Examine in a transaction. A head that is missing cannot be locked: where another
// makes it meanwhile, the insert fails. Index: PRIMARY, one row.
func (s *Store) examine(ctx context.Context, tx *sqlx.Tx, account uint64, repair bool) (wrong string, err error) {
	var is []struct {
		List  []byte `db:"list"`
		Floor uint64 `db:"floor_id"`
	}
	if err := tx.SelectContext(ctx, &is, `SELECT list, floor_id FROM mark_head WHERE bucket = ? AND account_id = ? FOR UPDATE`, repo.Bucket(account), account); err != nil {
		return "", err
	}
	want, err := newest(ctx, tx, account)
	if err != nil {
		return "", err
	}
	switch {
	case len(is) == 0 && len(want.marks) == 0:
	case len(is) == 0:
		wrong = "there is no head of its marks"
	default:
		wrong = differ(is[0].List, is[0].Floor, want)
	}
	switch now := uint32(s.now().Unix()); {
	case wrong == "" || !repair:
	case len(is) == 0:
		_, err = tx.ExecContext(ctx, `INSERT INTO mark_head (bucket, account_id, ver, list, floor_id, updated_at) VALUES (?,?,?,?,?,?)`,
			repo.Bucket(account), account, repo.Step(), want.pack(), want.floor, now)
	default:
		_, err = tx.ExecContext(ctx, `UPDATE mark_head SET ver = ver + ?, list = ?, floor_id = ?, updated_at = ? WHERE bucket = ? AND account_id = ?`,
			repo.Step(), want.pack(), want.floor, now, repo.Bucket(account), account)
	}
	return wrong, err
}

// newest makes a head of the marks of an account. Index: by_id (bucket, account_id, kind,
// id), a range of each kind.
func newest(ctx context.Context, tx *sqlx.Tx, account uint64) (h head, err error) {
	for _, k := range []Kind{Favourite, Bookmark, Pin} {
		var found []Mark
		err := tx.SelectContext(ctx, &found, `SELECT id, kind, post_id FROM mark WHERE bucket = ? AND account_id = ? AND kind = ? ORDER BY id DESC LIMIT ?`, repo.Bucket(account), account, k, headMarks+1)
		if err != nil {
			return h, err
		}
		h.marks = append(h.marks, found...)
	}
	slices.SortFunc(h.marks, newestFirst)
	if len(h.marks) > headMarks {
		h.marks = h.marks[:headMarks]
		h.floor = h.marks[headMarks-1].ID
	}
	return h, nil
}

// differ says what is wrong with a head: it has not all marks above its floor, or others. Two
// marks may have the same id, so of those at the floor it may have some. It may have fewer
// than there is room for.
func differ(list []byte, floor uint64, want head) string {
	have, err := Unpack(list)
	if err != nil {
		return err.Error()
	}
	if floor < want.floor {
		return fmt.Sprintf("its head says that it has all marks from %d on, which are more than it holds", floor)
	}
	for _, m := range want.marks {
		if m.ID > floor && !slices.Contains(have, m) {
			return fmt.Sprintf("its head misses mark %d of kind %d on post %d", m.ID, m.Kind, m.Post)
		}
	}
	for _, m := range have {
		if m.ID > floor && !slices.Contains(want.marks, m) {
			return fmt.Sprintf("its head has mark %d of kind %d on post %d, which is not there", m.ID, m.Kind, m.Post)
		}
	}
	return ""
}
