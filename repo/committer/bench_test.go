package committer_test

import (
	"context"
	"sync/atomic"
	"testing"

	"kith/repo/committer"
)

// instant is a store whose commits take no time, so that what is measured is the
// committer's own part.
type instant struct{ *fake }

func (instant) Load(_ context.Context, ids []uint64, _ bool) (map[uint64]*draft, error) {
	out := make(map[uint64]*draft, len(ids))
	for _, id := range ids {
		out[id] = &draft{row: row{id: id}}
	}
	return out, nil
}

func (instant) Swap(context.Context, []row) (bool, error) { return true, nil }

// benchDo lets 256 clients edit two rows each, of which one is everybody's if hot.
func benchDo(b *testing.B, hot bool) {
	c := committer.New[*draft, row](instant{newFake()}, committer.Config{})
	defer c.Close(context.Background())
	var next atomic.Uint64
	b.SetParallelism(128)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n := next.Add(2)
			ids := []uint64{n, n + 1}
			if hot {
				ids[1] = 1
			}
			err := c.Do(context.Background(), ids, func(r map[uint64]*draft) error {
				r[ids[0]].changed, r[ids[1]].changed = true, true
				return nil
			})
			if err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkDoSpread(b *testing.B) { benchDo(b, false) }
func BenchmarkDoHot(b *testing.B)    { benchDo(b, true) }
