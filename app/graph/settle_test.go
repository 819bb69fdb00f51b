package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"kith/app/graph"
	apprelation "kith/app/relation"
	"kith/repo"
	"kith/repo/committer"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

// TestImport_Between makes one change after the first rows are written and
// before the others are.
func TestImport_Between(t *testing.T) {
	follow := func(me, them *relation.Draft) {
		me.AddFollowing(them.AccountID(), 77)
		them.AddFollower(me.AccountID(), 77)
	}
	unfollow := func(me, them *relation.Draft) {
		me.DropFollowing(them.AccountID())
		them.DropFollower(me.AccountID())
	}
	block := func(me, them *relation.Draft) {
		unfollow(me, them)
		unfollow(them, me)
		me.Put(list.Blocking, them.AccountID(), 9)
		them.Put(list.BlockedBy, me.AccountID(), 9)
	}
	unblock := func(me, them *relation.Draft) {
		me.Drop(list.Blocking, them.AccountID())
		them.Drop(list.BlockedBy, me.AccountID())
	}
	nothing := func(_, _ *relation.Draft) {}
	half := func(me, them *relation.Draft) { me.AddFollowing(them.AccountID(), 66) }
	otherHalf := func(me, them *relation.Draft) { them.AddFollower(me.AccountID(), 66) }
	tests := []struct {
		name            string
		before, between func(me, them *relation.Draft)
		// Since when the account written first follows the other, and the other
		// it; -1: it does not.
		first, second int
	}{
		{"Nothing", nothing, nothing, 5, 5},
		{"Unfollow", nothing, unfollow, -1, 5},
		{"UnfollowHeld", follow, unfollow, -1, 5},
		{"Block", nothing, block, -1, -1},
		{"BlockUnblock", nothing, func(a, b *relation.Draft) { block(a, b); unblock(a, b) }, -1, 5},
		{"Unblock", block, unblock, -1, 5},
		{"Refollow", nothing, func(a, b *relation.Draft) { unfollow(a, b); follow(a, b) }, 77, 5},
		{"Half", half, nothing, 66, 5},
		{"OtherHalf", otherHalf, nothing, 5, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, dbtest.DB(t))
			ids := dbtest.IDs(t, 3)
			slices.SortFunc(ids, func(a, b uint64) int { return int(repo.Bucket(a)) - int(repo.Bucket(b)) })
			a, b, c := ids[0], ids[1], ids[2]
			w.edit(t, a, b, tt.before)
			cfg := w.config(strings.NewReader(fmt.Sprintf("%d %d 5\n%d %d 5\n%d %d 5\n%d %d 5\n", a, b, b, a, a, c, b, c)))
			cfg.Writers = 1
			// The first swap, of all rows, is lost; then a goes, then the others.
			cfg.Rows = &hookRows{Store: w.rows,
				lose: func(n int, _ []relation.Row) bool { return n == 1 },
				beforeSwap: func(n int) {
					if n == 3 {
						w.edit(t, a, b, tt.between)
					}
				}}
			mustImport(t, cfg)
			w.whole(t, ids)
			for _, c := range w.changes { // what the file brings is no act of an account
				if c.Act != apprelation.ActRepair || tt.name == "Nothing" {
					t.Errorf("listeners are given %+v", c)
				}
			}
			for _, e := range []struct {
				from, to uint64
				want     int
			}{{a, b, tt.first}, {b, a, tt.second}} {
				if got := w.since(t, e.from, e.to); got != e.want {
					t.Errorf("%d follows %d: got %d, want %d", e.from, e.to, got, e.want)
				}
			}
		})
	}
}

// since returns when a followed b, or -1.
func (w *world) since(t *testing.T, a, b uint64) int {
	t.Helper()
	rows, err := w.rows.Fresh(t.Context(), []uint64{a})
	if err != nil {
		t.Fatal(err)
	}
	d, err := relation.Open(rows[a])
	if err != nil {
		t.Fatal(err)
	}
	if d.Rel(b)&list.IsFollowing == 0 {
		return -1
	}
	at, _ := d.Times(b)
	return int(at)
}

// TestImport_WhileServing imports some thousand edges in small chunks while
// another process, which has a committer of its own, follows, unfollows, blocks
// and unblocks the same people, and a second import runs.
func TestImport_WhileServing(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 120)
	text, _ := randomGraph(ids, 5000, 8)
	other, _ := randomGraph(ids, 5000, 9)
	other = strings.ReplaceAll(other, " 10", " 20") // the same people at other times
	server := committer.New(w.rows, committer.Config{})
	defer server.Close(t.Context())
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() { serve(ctx, t, server, ids, uint64(i)) })
	}
	var imports sync.WaitGroup
	var settled int64
	var mu sync.Mutex
	for _, file := range []string{text, other} {
		imports.Go(func() {
			for range 2 {
				cfg := w.config(strings.NewReader(file))
				cfg.Memory = 1 // the smallest chunks there are
				cfg.Rows = smallSwaps{w.rows}
				sum, err := graph.Import(t.Context(), cfg)
				if err != nil {
					t.Errorf("import: %v", err)
				}
				mu.Lock()
				settled += sum.Settled
				mu.Unlock()
			}
		})
	}
	imports.Wait()
	stop()
	clients.Wait()
	n := w.whole(t, ids)
	t.Logf("%d edges, %d settled", n, settled)
	if n == 0 || settled == 0 {
		t.Errorf("got %d edges and %d settled, want some of both: the test tests nothing", n, settled)
	}
}

// smallSwaps loses every swap of more than three rows, so that chunks get small.
type smallSwaps struct{ *relation.Store }

func (s smallSwaps) Swap(ctx context.Context, rows []relation.Row) (bool, error) {
	if len(rows) > 3 {
		return false, nil
	}
	return s.Store.Swap(ctx, rows)
}

// serve edits pairs at random until ctx ends, as the service does.
func serve(ctx context.Context, t *testing.T, c *committer.Committer[*relation.Draft, relation.Row], ids []uint64, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	for ctx.Err() == nil {
		a, b := ids[rng.IntN(len(ids))], ids[rng.IntN(len(ids))]
		if a == b {
			continue
		}
		what, now := rng.IntN(10), rng.Uint32N(1000)
		err := c.Do(ctx, []uint64{a, b}, func(rows map[uint64]*relation.Draft) error {
			change(rows[a], rows[b], what, 5000+now)
			return nil
		})
		if err != nil && ctx.Err() == nil {
			t.Errorf("edit: %v", err)
		}
	}
}

func change(me, them *relation.Draft, what int, now uint32) {
	a, b := me.AccountID(), them.AccountID()
	rel := me.Rel(b)
	switch {
	case what < 4:
		if rel&(list.IsBlocking|list.IsBlockedBy) != 0 {
			return
		}
		if rel&list.IsFollowing != 0 {
			now, _ = me.Times(b)
		} else if them.Rel(a)&list.IsFollower != 0 {
			_, now = them.Times(a)
		}
		me.AddFollowing(b, now)
		them.AddFollower(a, now)
	case what < 8:
		me.DropFollowing(b)
		them.DropFollower(a)
	case what == 8:
		for _, d := range []*relation.Draft{me, them} {
			other := a + b - d.AccountID()
			d.DropFollowing(other)
			d.DropFollower(other)
		}
		me.Put(list.Blocking, b, now)
		them.Put(list.BlockedBy, a, now)
	default:
		me.Drop(list.Blocking, b)
		them.Drop(list.BlockedBy, a)
	}
}
