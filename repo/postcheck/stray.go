package postcheck

import (
	"context"

	"kith/repo"
	"kith/repo/db"
)

// Table is a table whose rows lie in the bucket of an account or a post.
type Table struct {
	Name   string
	Column string // the account or post
	Named  string // of a table that lies in one bucket, the name that this is of
}

// Tables are all tables with such rows, but for relation and post, whose rows are looked at
// one by one. Rows of names (account names, leases, jobs) and batches of interactions are in
// no such bucket.
var Tables = []Table{
	{Name: `account`, Column: `account_id`},
	{Name: `account_erased`, Column: `account_id`},
	{Name: `relation_archive`, Column: `account_id`},
	{Name: `relation_own`, Column: `account_id`},
	{Name: `note`, Column: `account_id`},
	{Name: `seen`, Column: `account_id`},
	{Name: `affinity`, Column: `account_id`},
	{Name: `suggest`, Column: `account_id`},
	{Name: `author_feed`, Column: `account_id`},
	{Name: `reply`, Column: `post_id`},
	{Name: `reaction`, Column: `post_id`},
	{Name: `mark`, Column: `account_id`},
	{Name: `mark_head`, Column: `account_id`},
	{Name: `task`, Column: `account_id`},
	{Name: `idempotency`, Column: `account_id`},
	{Name: `timeline`, Column: `account_id`},
	{Name: `marker`, Column: `account_id`},
	{Name: `promotion`, Column: `id`, Named: `promotion`},
}

// bucket returns in which bucket a row belongs.
func (t *Table) bucket(id uint64) uint16 {
	if t.Named != "" {
		return repo.NameBucket(t.Named)
	}
	return repo.Bucket(id)
}

// Place is a place in a table: after an account or a post of a bucket.
type Place struct {
	Bucket uint16
	After  uint64
}

// Stray says that a table has rows of an account or a post in a wrong bucket.
type Stray struct {
	ID            uint64
	Bucket, Right uint16
}

// Strays looks at up to limit accounts or posts of a table from a place on, all of one
// bucket. It returns those that are in a wrong bucket, how many it looked at, and where to go
// on, or repo.ErrNotFound at the end. Index: PRIMARY, or another that begins with bucket and
// column, a range of it; task: the whole bucket, which has few.
func (s *Store) Strays(ctx context.Context, t Table, at Place, limit int) (found []Stray, looked int, next Place, err error) {
	var ids []uint64
	err = s.read(ctx, &ids, `SELECT DISTINCT `+t.Column+` AS id FROM `+t.Name+` WHERE bucket = ? AND `+t.Column+` > ? ORDER BY id LIMIT ?`, at.Bucket, at.After, limit)
	if err != nil {
		return nil, 0, at, err
	}
	for _, id := range ids {
		if right := t.bucket(id); right != at.Bucket {
			found = append(found, Stray{id, at.Bucket, right})
		}
	}
	if len(ids) == limit {
		return found, limit, Place{at.Bucket, ids[limit-1]}, nil
	}
	if at.Bucket+1 == repo.Buckets {
		return found, len(ids), at, repo.ErrNotFound
	}
	next.Bucket, err = db.NextBucket(ctx, s.db, t.Name, at.Bucket+1)
	return found, len(ids), next, err
}
