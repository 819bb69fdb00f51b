package db

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"kith/repo"
)

// LastKey is the account that comes last in key order (repo.CompareKeys), to end a
// walk at.
const LastKey uint64 = math.MaxUint64

// Part is what one statement of a walk reads: up to Limit rows of a bucket whose
// accounts come after After, up to Last.
type Part struct {
	Bucket      uint16
	After, Last uint64
	Limit       int
}

// Walk reads up to limit rows of a table in key order (bucket, account_id): those
// of accounts that come after one, up to another. Each statement is page's and
// reads one bucket,
//
//	WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?
//
// so that an engine that shards by bucket asks one shard. page returns how many
// rows it found, and its errors come as they are.
func Walk(ctx context.Context, q sqlx.QueryerContext, table string, after, last uint64, limit int, page func(Part) (int, error)) error {
	first, end := repo.Bucket(after), repo.Bucket(last)
	return WalkBuckets(ctx, q, table, first, end, limit, func(bucket uint16, limit int) (int, error) {
		p := Part{Bucket: bucket, Last: LastKey, Limit: limit}
		if bucket == first {
			p.After = after
		}
		if bucket == end {
			p.Last = last
		}
		return page(p)
	})
}

// WalkBuckets is Walk over a table of another key (bucket, …), from bucket to bucket.
// Where buckets are empty NextBucket finds the next, so that a walk of few rows takes at
// most three statements a row.
func WalkBuckets(ctx context.Context, q sqlx.QueryerContext, table string, first, last uint16, limit int, page func(bucket uint16, limit int) (int, error)) error {
	for bucket := first; limit > 0 && bucket <= last; {
		n, err := page(bucket, limit)
		if err != nil || bucket == last {
			return err
		}
		limit, bucket = limit-n, bucket+1
		if n == 0 {
			if bucket, err = NextBucket(ctx, q, table, bucket); errors.Is(err, repo.ErrNotFound) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// WalkRows is Walk for a query that takes as its last arguments the bucket, After,
// Last and Limit of a part; args come before them.
func WalkRows[T any](ctx context.Context, q sqlx.QueryerContext, table string, after, last uint64, limit int, query string, args ...any) (out []T, err error) {
	err = Walk(ctx, q, table, after, last, limit, func(p Part) (int, error) {
		var page []T
		err := sqlx.SelectContext(ctx, q, &page, query, append(slices.Clip(args), p.Bucket, p.After, p.Last, p.Limit)...)
		out = append(out, page...)
		return len(page), Wrap(err)
	})
	return out, err
}

// NextBucket returns the first bucket from the given one on in which a table has
// rows, or repo.ErrNotFound. It is the one statement of a walk that asks all
// shards, each for one row. Index: PRIMARY (bucket, …), or another that begins with
// the bucket; the first row of a range.
func NextBucket(ctx context.Context, q sqlx.QueryerContext, table string, from uint16) (uint16, error) {
	var bucket uint16
	err := sqlx.GetContext(ctx, q, &bucket, `SELECT bucket FROM `+table+` WHERE bucket >= ? ORDER BY bucket LIMIT 1`, from)
	if err != nil {
		return 0, fmt.Errorf("find rows of %s from bucket %d on: %w", table, from, Wrap(err))
	}
	return bucket, nil
}

// Repeat writes a group of placeholders n times with commas between: the rows of
// an INSERT, or what an IN list holds.
func Repeat(group string, n int) string {
	return strings.TrimSuffix(strings.Repeat(group+",", n), ",")
}

// MaxKeys is how many keys one statement names at most. MariaDB turns an IN list of 1,000
// values, two for each key, into a temporary table.
const MaxKeys = 480

// Keys writes accounts for the list of WHERE (bucket, account_id) IN (…), with
// the arguments that go with it. The caller bounds how many.
func Keys(ids []uint64) (in string, args []any) {
	args = make([]any, 0, 2*len(ids))
	for _, id := range ids {
		args = append(args, repo.Bucket(id), id)
	}
	return Repeat("(?,?)", len(ids)), args
}
