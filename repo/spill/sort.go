package spill

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Record is what is sorted: by Hi, then Lo, then Val.
type Record struct {
	Hi, Lo uint64
	Val    uint32
}

// memoryBytes and diskBytes are the sizes of a record.
const (
	memoryBytes = 24
	diskBytes   = 20
)

// Compare orders records by Hi, Lo and Val.
func Compare(a, b Record) int {
	if a.Hi != b.Hi {
		return cmp.Compare(a.Hi, b.Hi)
	}
	return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Val, b.Val))
}

func (r Record) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, r.Hi)
	b = binary.LittleEndian.AppendUint64(b, r.Lo)
	return binary.LittleEndian.AppendUint32(b, r.Val)
}

func readRecord(b []byte) Record {
	_ = b[diskBytes-1]
	return Record{
		Hi:  binary.LittleEndian.Uint64(b),
		Lo:  binary.LittleEndian.Uint64(b[8:]),
		Val: binary.LittleEndian.Uint32(b[16:]),
	}
}

// splitBits is how many leading bits a buffer is split by.
const splitBits = 11

// smallSort is the length up to which splitting does not pay.
const smallSort = 4096

// sortRecords sorts in place with all processors. It stops early when ctx
// ends, and then returns its error.
func sortRecords(ctx context.Context, rs []Record) error {
	if len(rs) <= smallSort {
		slices.SortFunc(rs, Compare)
		return ctx.Err()
	}
	ends := split(rs)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(ends)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(ends) {
					return
				}
				from := 0
				if i > 0 {
					from = ends[i-1]
				}
				slices.SortFunc(rs[from:ends[i]], Compare)
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// split moves records so that those with lower leading bits come first, and returns
// where each part ends. A record is exchanged with the one where it belongs, until one
// comes that belongs here: each moves once.
func split(rs []Record) (ends []int) {
	low, high := rs[0].Hi, rs[0].Hi
	for i := range rs {
		low, high = min(low, rs[i].Hi), max(high, rs[i].Hi)
	}
	shift := max(0, bits.Len64(low^high)-splitBits)
	base := low >> shift
	parts := int(high>>shift-base) + 1
	ends = make([]int, parts)
	for i := range rs {
		ends[rs[i].Hi>>shift-base]++
	}
	heads := make([]int, parts)
	at := 0
	for p, n := range ends {
		heads[p] = at
		at += n
		ends[p] = at
	}
	for p := range parts {
		for heads[p] < ends[p] {
			r := rs[heads[p]]
			for {
				to := r.Hi>>shift - base
				if int(to) == p {
					break
				}
				r, rs[heads[to]] = rs[heads[to]], r
				heads[to]++
			}
			rs[heads[p]] = r
			heads[p]++
		}
	}
	return ends
}
