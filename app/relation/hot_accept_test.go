package relation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kith/repo/accepttest"
	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/committer"
	"kith/repo/dbtest"
	"kith/repo/list"
	rows "kith/repo/relation"
)

// durable is a store on a server that syncs every commit to disk.
func durable(t *testing.T) (*rows.Store, string) {
	t.Helper()
	dsn := dbtest.DurableDSN(t)
	dbtest.Migrate(t, poolOn(t, dsn))
	return storeOn(t, dsn, cachetest.Local(t)), dsn
}

func storeOn(t *testing.T, dsn string, c cache.Cache) *rows.Store {
	t.Helper()
	return rows.New(poolOn(t, dsn), c, 0, time.Now)
}

const (
	hotClients = 256
	hotList    = 10_000
	hotSpan    = 4 * time.Second
)

// 256 clients follow one account with a full list: through the committer, and
// each with a read-swap loop of its own. Afterwards everything agrees exactly.
func TestAccept_HotAccount(t *testing.T) {
	accepttest.Long(t)
	store, _ := durable(t)
	edits := committer.New(store, committer.Config{})
	t.Cleanup(func() { edits.Close(context.Background()) })

	naive := hotRun(t, store, 1, naiveFollow(store))
	kith := hotRun(t, store, 2, func(ctx context.Context, follower, star uint64) error {
		return edits.Do(ctx, []uint64{follower, star}, func(r map[uint64]*rows.Draft) error {
			r[follower].AddFollowing(star, 1000)
			r[star].AddFollower(follower, 1000)
			return nil
		})
	})
	t.Logf("%d clients, list of %d, %v each: committer %.0f follows/s (%d given up), own loops %.0f follows/s (%d given up), ratio %.0f",
		hotClients, hotList, hotSpan, kith.rate, kith.failed, naive.rate, naive.failed, kith.rate/naive.rate)
	if kith.failed > 0 {
		t.Errorf("%d follows were given up through the committer", kith.failed)
	}
	if kith.rate < 100*naive.rate {
		t.Errorf("ratio %.0f, want at least 100", kith.rate/naive.rate)
	}
}

type hotResult struct {
	rate   float64
	failed int64
}

func hotRun(t *testing.T, store *rows.Store, star uint64, follow func(ctx context.Context, follower, star uint64) error) hotResult {
	t.Helper()
	fill(t, store, star)
	var next atomic.Uint64
	next.Store(star * 10_000_000)
	var failed atomic.Int64
	done := make([][]uint64, hotClients)
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range hotClients {
		wg.Go(func() {
			for time.Since(begin) < hotSpan {
				id := next.Add(1)
				if err := follow(context.Background(), id, star); err != nil {
					failed.Add(1)
					continue
				}
				done[i] = append(done[i], id)
			}
		})
	}
	wg.Wait()
	took := time.Since(begin)
	followers := slices.Concat(done...)
	agree(t, store, star, followers)
	return hotResult{rate: float64(len(followers)) / took.Seconds(), failed: failed.Load()}
}

// fill gives star its full list.
func fill(t *testing.T, store *rows.Store, star uint64) {
	t.Helper()
	d, err := rows.Open(rows.Absent(star))
	if err != nil {
		t.Fatal(err)
	}
	for i := range hotList {
		d.AddFollower(uint64(100+i), uint32(1+i/20))
	}
	r, err := d.Pack(1, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	if won, err := store.Swap(t.Context(), []rows.Row{r}); !won || err != nil {
		t.Fatal(won, err)
	}
}

// naiveFollow reads both rows, edits and swaps them, again and again until it wins.
func naiveFollow(store *rows.Store) func(ctx context.Context, follower, star uint64) error {
	return func(ctx context.Context, follower, star uint64) error {
		for try := range 1000 {
			both, err := store.Fresh(ctx, []uint64{follower, star})
			if err != nil {
				return err
			}
			packed, err := followOnce(both, follower, star)
			if err != nil {
				return err
			}
			won, err := store.Swap(ctx, packed)
			if err != nil || won {
				return err
			}
			time.Sleep(rand.N(time.Millisecond << min(try, 7)))
		}
		return fmt.Errorf("1000 swaps lost")
	}
}

func followOnce(both map[uint64]rows.Row, follower, star uint64) ([]rows.Row, error) {
	me, err := rows.Open(both[follower])
	if err != nil {
		return nil, err
	}
	them, err := rows.Open(both[star])
	if err != nil {
		return nil, err
	}
	me.AddFollowing(star, 1000)
	them.AddFollower(follower, 1000)
	a, err := me.Pack(1, 0, 2)
	if err != nil {
		return nil, err
	}
	b, err := them.Pack(1, 0, 2)
	return []rows.Row{a, b}, err
}

// agree checks that star's count and list hold exactly the followers that were
// acknowledged beside those it was filled with, and each follower's row the star.
func agree(t *testing.T, store *rows.Store, star uint64, followers []uint64) {
	t.Helper()
	all, err := store.Fresh(t.Context(), append(slices.Clone(followers), star))
	if err != nil {
		t.Fatal(err)
	}
	v, err := all[star].View()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Check(); err != nil {
		t.Error(err)
	}
	want := hotList + len(followers)
	if got := all[star]; int(got.Followers) != want || v.Len(list.Followers) != want {
		t.Errorf("star has count %d and a list of %d, want %d", got.Followers, v.Len(list.Followers), want)
	}
	rels := make([]list.Rel, len(followers))
	v.Rels(followers, rels)
	for i, id := range followers {
		own, err := all[id].View()
		if err != nil {
			t.Fatal(err)
		}
		if rels[i] != list.IsFollower || own.Rel(star) != list.IsFollowing || all[id].Following != 1 || own.Len(list.Following) != 1 {
			t.Fatalf("follower %d: %v in the star's row, %v in its own, count %d", id, rels[i], own.Rel(star), all[id].Following)
		}
	}
}
