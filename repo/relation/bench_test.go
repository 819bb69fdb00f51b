package relation_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/mysqld"
	"kith/repo/relation"
)

// benchWriters commit at once, as many as a committer has workers.
const benchWriters = 3

// BenchmarkSwap is commits of rows of some 200 bytes, on a server that syncs each
// to disk. How many rows a commit has changes from one to the next, as it does at
// work; server-µs/op is what the server's processor spent.
func BenchmarkSwap(b *testing.B) {
	benchCommits(b, func(s *relation.Store, rows []relation.Row) (bool, error) {
		return s.Swap(context.Background(), rows)
	})
}

// BenchmarkLocked is the same for commits that lock their rows first.
func BenchmarkLocked(b *testing.B) {
	benchCommits(b, func(s *relation.Store, rows []relation.Row) (bool, error) {
		ids := make([]uint64, len(rows))
		for i, r := range rows {
			ids[i] = r.ID
		}
		return s.Locked(context.Background(), ids, nil, func(map[uint64]*relation.Draft) ([]relation.Row, error) {
			return rows, nil
		})
	})
}

func benchCommits(b *testing.B, commit func(*relation.Store, []relation.Row) (bool, error)) {
	server := dbtest.Durable(b)
	if err := server.CreateDatabase(b.Context(), "kith"); err != nil {
		b.Fatal(err)
	}
	pool := dbtest.Open(b, db.Config{DSN: server.DSN("kith"), MaxOpen: 10})
	dbtest.Migrate(b, pool)
	s := relation.New(pool, cache.NewNone(), 0, time.Now)
	for _, size := range []struct{ least, most int }{{1, 16}, {30, 48}, {100, 170}, {170, 400}} {
		b.Run(fmt.Sprintf("rows=%d-%d", size.least, size.most), func(b *testing.B) {
			var writers [benchWriters][]relation.Row
			for i := range writers {
				writers[i] = benchRows(b, s, size.most)
			}
			before := processorTime(b, server)
			var wg sync.WaitGroup
			b.ResetTimer()
			for w, rows := range writers {
				wg.Go(func() {
					for n := w; n < b.N; n += benchWriters {
						part := rows[:size.least+n*7919%(size.most-size.least+1)]
						if won, err := commit(s, relation.Repacked(part)); err != nil || !won {
							b.Errorf("got %v, %v; want won", won, err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64((processorTime(b, server)-before).Microseconds())/float64(b.N), "server-µs/op")
		})
	}
}

// benchRows are rows of their own accounts with a list of some 200 bytes each.
func benchRows(b *testing.B, s *relation.Store, n int) []relation.Row {
	ids := dbtest.IDs(b, n)
	absent, err := s.Fresh(b.Context(), ids)
	if err != nil {
		b.Fatal(err)
	}
	rows := make([]relation.Row, n)
	for i, id := range ids {
		d, err := relation.Open(absent[id])
		if err != nil {
			b.Fatal(err)
		}
		for k := range uint64(30) {
			d.AddFollower(1<<32+k*k*1009+id, uint32(1e9+k*1000))
		}
		if rows[i], err = d.Pack(1000, 0, 2); err != nil {
			b.Fatal(err)
		}
	}
	return rows
}

// processorTime is what the server has spent so far; 0 where there is no /proc.
func processorTime(b *testing.B, server *mysqld.Server) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", server.Pid()))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		b.Fatal(err)
	}
	system, err := strconv.Atoi(fields[12])
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond // 100 ticks a second, on every Linux
}
