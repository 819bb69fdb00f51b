package relation

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/list"
	"kith/repo/row"
)

// ownRow is an archived entry of what an account did itself. Of a friend there are
// two times, and the order is by the later; options have none.
type ownRow struct {
	AccountID uint64       `db:"account_id"`
	OtherID   uint64       `db:"other_id"`
	Section   list.Section `db:"section"`
	Mine      uint32       `db:"mine"`
	Theirs    uint32       `db:"theirs"`
	Choice    []byte       `db:"choice"` // of options, packed
}

// put adds the entry to a list, unless it is there. Errors wrap list.ErrFormat.
func (o *ownRow) put(l *list.List) error {
	bad := o.OtherID == 0 || o.OtherID > list.MaxID || received(o.Section)
	switch o.Section {
	case list.Friends:
		l.AddFollowing(o.OtherID, o.Mine)
		l.AddFollower(o.OtherID, o.Theirs)
	case list.Following:
		l.AddFollowing(o.OtherID, o.Mine)
	case list.Options:
		if l.Packed(o.OtherID) == nil {
			bad = bad || l.SetPacked(o.OtherID, o.Choice) != nil
		}
	default:
		bad = bad || o.Section > list.Options
		l.Put(o.Section, o.OtherID, o.Mine)
	}
	if bad {
		return fmt.Errorf("%w: archived entry of %s about %d", list.ErrFormat, o.Section, o.OtherID)
	}
	return nil
}

// ownKey names what an account did to one other.
type ownKey struct{ account, other uint64 }

// ownOf returns the archived entries of some keys. Index: PRIMARY (bucket,
// account_id, other_id, section), one range a key. The index is named, since MariaDB
// takes half a second to compare the indexes for 320 keys.
func ownOf(ctx context.Context, q sqlx.QueryerContext, keys []ownKey) (out []ownRow, err error) {
	for part := range slices.Chunk(keys, row.MaxRows*2/3) { // three values a key
		args := make([]any, 0, 3*len(part))
		for _, k := range part {
			args = append(args, repo.Bucket(k.account), k.account, k.other)
		}
		var rows []ownRow
		err := sqlx.SelectContext(ctx, q, &rows, `SELECT account_id, other_id, section, mine, theirs, choice FROM relation_own FORCE INDEX (PRIMARY) WHERE (bucket, account_id, other_id) IN (`+db.Repeat(`(?,?,?)`, len(part))+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("load %d archived entries: %w", len(part), db.Wrap(err))
		}
		out = append(out, rows...)
	}
	return out, nil
}

// keysOf are the keys of an account and each of others.
func keysOf(account uint64, others []uint64) []ownKey {
	keys := make([]ownKey, len(others))
	for i, o := range others {
		keys[i] = ownKey{account, o}
	}
	return keys
}

// ownPage returns a page of one section by one of its orders, newest first. column
// is latest, or of friends mine or theirs. Index: by_ and the column (bucket,
// account_id, section, the column, other_id), a range.
func ownPage(ctx context.Context, q sqlx.QueryerContext, id uint64, s list.Section, column string, r list.Range) ([]list.Entry, error) {
	where, args := ``, []any{repo.Bucket(id), id, s}
	if c := r.Before; c.ID != 0 {
		where += ` AND (` + column + ` < ? OR (` + column + ` = ? AND other_id < ?))`
		args = append(args, c.Time, c.Time, c.ID)
	}
	if c := r.After; c.ID != 0 {
		where += ` AND (` + column + ` > ? OR (` + column + ` = ? AND other_id > ?))`
		args = append(args, c.Time, c.Time, c.ID)
	}
	way := ` DESC`
	if r.Oldest {
		way = ``
	}
	var page []list.Entry
	err := sqlx.SelectContext(ctx, q, &page, `SELECT other_id AS id, `+column+` AS time FROM relation_own WHERE bucket = ? AND account_id = ? AND section = ?`+where+
		` ORDER BY `+column+way+`, other_id`+way+` LIMIT ?`, append(args, r.Limit)...)
	if err != nil {
		return nil, fmt.Errorf("page archived %s of %d: %w", s, id, db.Wrap(err))
	}
	if r.Oldest {
		slices.Reverse(page)
	}
	return page, nil
}

// eachOwn hands the archived entries of what an account did itself to fn, in lists
// of up to SegmentEntries accounts. Index: PRIMARY, a range.
func eachOwn(ctx context.Context, q sqlx.QueryerContext, id uint64, fn func(*list.List) error) error {
	after := uint64(0)
	for {
		var rows []ownRow
		err := sqlx.SelectContext(ctx, q, &rows, `SELECT account_id, other_id, section, mine, theirs, choice FROM relation_own WHERE bucket = ? AND account_id = ? AND other_id > ? ORDER BY other_id, section LIMIT ?`,
			repo.Bucket(id), id, after, SegmentEntries)
		if err != nil {
			return fmt.Errorf("load archived entries of %d: %w", id, db.Wrap(err))
		}
		more := len(rows) == SegmentEntries
		if more { // the last account may have more entries
			last := rows[len(rows)-1].OtherID
			for len(rows) > 0 && rows[len(rows)-1].OtherID == last {
				rows = rows[:len(rows)-1]
			}
		}
		if len(rows) == 0 {
			return nil
		}
		l := list.New()
		for i := range rows {
			if err := rows[i].put(l); err != nil {
				return fmt.Errorf("archive of %d: %w", id, err)
			}
		}
		if err := fn(l); err != nil || !more {
			return err
		}
		after = rows[len(rows)-1].OtherID
	}
}

// storeOwn deletes and inserts entries. Index: PRIMARY, a row each.
func storeOwn(ctx context.Context, x sqlx.ExecerContext, id uint64, gone, added []ownRow) error {
	for _, o := range gone {
		if _, err := x.ExecContext(ctx, `DELETE FROM relation_own WHERE bucket = ? AND account_id = ? AND other_id = ? AND section = ?`, repo.Bucket(id), id, o.OtherID, o.Section); err != nil {
			return err
		}
	}
	const rows = 64 // in one statement, so that a connection keeps it
	for part := range slices.Chunk(added, rows) {
		args := make([]any, 0, 8*len(part))
		for _, o := range part {
			choice := o.Choice
			if choice == nil {
				choice = []byte{}
			}
			args = append(args, repo.Bucket(id), id, o.OtherID, o.Section, o.Mine, o.Theirs, max(o.Mine, o.Theirs), choice)
		}
		_, err := x.ExecContext(ctx, `INSERT INTO relation_own (bucket, account_id, other_id, section, mine, theirs, latest, choice) VALUES `+db.Repeat(`(?,?,?,?,?,?,?,?)`, len(part))+`
	ON DUPLICATE KEY UPDATE mine=VALUES(mine), theirs=VALUES(theirs), latest=VALUES(latest), choice=VALUES(choice)`, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// ownRows are the entries of a section that was cut off.
func ownRows(s list.Section, cut *list.List) []ownRow {
	out := make([]ownRow, 0, cut.Len(s))
	cut.Each(s, func(id uint64, mine, theirs uint32) {
		o := ownRow{OtherID: id, Section: s, Mine: mine, Theirs: theirs}
		if s == list.Options {
			o.Choice = cut.Packed(id)
		}
		out = append(out, o)
	})
	return out
}
