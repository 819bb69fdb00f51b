package relation

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
	"kith/repo/list"
)

// Recount makes the counts those of the list plus those of the archive. It
// reports false where the archive has not been counted yet; the caller then
// answers ErrRecall.
func (d *Draft) Recount() bool {
	d.recount = true
	return d.counted
}

// countAnew makes what a draft that was just opened says of the archive true, before
// anybody is recalled.
func (d *Draft) countAnew(ctx context.Context, q sqlx.QueryerContext) error {
	a, err := countArchive(ctx, q, d.AccountID())
	if err != nil {
		return err
	}
	was := d.archive
	a.stamp = was.stamp
	d.archive, d.counted = a, true
	d.touch(a != was || d.Counts() != d.row.Counts)
	return nil
}

// countArchive returns what an archive holds. Index: PRIMARY of both tables, a range
// each.
func countArchive(ctx context.Context, q sqlx.QueryerContext, id uint64) (a Archive, err error) {
	all, err := headers(ctx, q, id)
	if err != nil {
		return a, err
	}
	for _, h := range all {
		if received(h.Section) {
			a.add(h.Section, int(h.N), h.Newest())
		}
	}
	var own []struct {
		Section list.Section `db:"section"`
		N       int          `db:"n"`
		Latest  uint32       `db:"latest"`
	}
	err = sqlx.SelectContext(ctx, q, &own, `SELECT section, COUNT(*) AS n, MAX(latest) AS latest FROM relation_own WHERE bucket = ? AND account_id = ? GROUP BY section`, Bucket(id), id)
	if err != nil {
		return a, fmt.Errorf("count archived entries of %d: %w", id, db.Wrap(err))
	}
	for _, o := range own {
		if o.Section <= list.Options {
			a.add(o.Section, o.N, list.Cursor{Time: o.Latest, ID: list.MaxID})
		}
	}
	return a, nil
}
