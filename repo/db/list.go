package db

import (
	"strings"

	"kith/repo"
)

// Repeat writes a group of placeholders n times with commas between: the rows of
// an INSERT, or what an IN list holds.
func Repeat(group string, n int) string {
	return strings.TrimSuffix(strings.Repeat(group+",", n), ",")
}

// Keys writes accounts for the list of WHERE (bucket, account_id) IN (…), with
// the arguments that go with it. The caller bounds how many.
func Keys(ids []uint64) (in string, args []any) {
	args = make([]any, 0, 2*len(ids))
	for _, id := range ids {
		args = append(args, repo.Bucket(id), id)
	}
	return Repeat("(?,?)", len(ids)), args
}
