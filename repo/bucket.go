package repo

import (
	"cmp"
	"hash/fnv"
	"slices"
)

// The lowest BucketBits of an account's id say which of the Buckets it is in.
const (
	BucketBits = 10
	Buckets    = 1 << BucketBits
)

// Bucket returns the route of an account, the first key column of its rows.
func Bucket(accountID uint64) uint16 { return uint16(accountID & (Buckets - 1)) }

// NameBucket returns the route of what is kept under a name and belongs to no
// account: 10 bits of its FNV-1a.
func NameBucket(name string) uint16 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return uint16(h.Sum32() & (Buckets - 1))
}

// CompareKeys compares accounts in the order of primary keys: by bucket, then by
// id. Whoever writes many rows does so in this order, and cannot deadlock with
// others who do.
func CompareKeys(a, b uint64) int {
	return cmp.Or(cmp.Compare(Bucket(a), Bucket(b)), cmp.Compare(a, b))
}

// InOrder returns ids in that order, each once.
func InOrder(ids []uint64) []uint64 {
	return slices.Compact(slices.SortedFunc(slices.Values(ids), CompareKeys))
}
