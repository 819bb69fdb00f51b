package relation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/app/relation"
	"kith/repo/cache"
	"kith/repo/list"
	rows "kith/repo/relation"
)

// edgeSet is the plain twin: who follows whom, and since when.
type edgeSet map[[2]uint64]uint32

func (e edgeSet) counts(id uint64) (c rows.Counts) {
	for k := range e {
		if k[0] == id {
			c.Following++
			if _, ok := e[[2]uint64{k[1], id}]; ok {
				c.Friends++
			}
		}
		if k[1] == id {
			c.Followers++
		}
	}
	return c
}

// list returns a page order to its end, newest first.
func (e edgeSet) list(id uint64, o list.Order) (ids []uint64) {
	var all []list.Cursor
	for k, at := range e {
		back, mutual := e[[2]uint64{k[1], k[0]}]
		switch {
		case o == list.ByFollower && k[1] == id:
			all = append(all, list.Cursor{Time: at, ID: k[0]})
		case o == list.ByFollowing && k[0] == id:
			all = append(all, list.Cursor{Time: at, ID: k[1]})
		case o == list.ByFriend && k[0] == id && mutual:
			all = append(all, list.Cursor{Time: max(at, back), ID: k[1]})
		}
	}
	slices.SortFunc(all, func(a, b list.Cursor) int { return b.Compare(a) })
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids
}

func (e edgeSet) words(a, b uint64) string {
	_, out := e[[2]uint64{a, b}]
	_, in := e[[2]uint64{b, a}]
	return words(relation.Relationship{Following: out, FollowedBy: in})
}

// Random changes with trims in between, on rows that keep very little: states,
// counts and pages are those of the plain twin at every depth.
func TestService_Archive(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			w := newWorld(t, cache.NewNone(), 0)
			p := w.People(24)
			edges := edgeSet{}
			for step := range 300 {
				if step%3 == 0 {
					w.tick()
				}
				a, b := p[r.IntN(len(p))], p[r.IntN(4)] // few are followed by many
				if r.IntN(2) == 0 {
					a, b = b, a
				}
				if a != b {
					w.change(r, edges, a, b)
				}
				if r.IntN(8) == 0 {
					w.trim(p[r.IntN(6)], 2+r.IntN(3))
				}
				if step%75 == 74 {
					w.equals(t, edges, p)
				}
			}
		})
	}
}

func (w *world) change(r *rand.Rand, edges edgeSet, a, b uint64) {
	w.t.Helper()
	ctx, now := w.t.Context(), uint32(w.Clock.Load())
	var got relation.Relationship
	op := r.IntN(10)
	switch op {
	case 0, 1:
		got = w.must(w.Unfollow(ctx, a, b))
		delete(edges, [2]uint64{a, b})
	case 2:
		got = w.must(w.RemoveFollower(ctx, a, b))
		delete(edges, [2]uint64{b, a})
	case 3:
		w.must(w.Block(ctx, a, b))
		got = w.must(w.Unblock(ctx, a, b))
		delete(edges, [2]uint64{a, b})
		delete(edges, [2]uint64{b, a})
	case 4:
		got = w.must(w.SetNote(ctx, a, b, fmt.Sprint(r.IntN(3))))
	default:
		got = w.follow(a, b)
		if _, there := edges[[2]uint64{a, b}]; !there {
			edges[[2]uint64{a, b}] = now
		}
	}
	if want := edges.words(a, b); words(got) != want {
		w.t.Fatalf("answer to change %d about %d to %d: %q, want %q", op, b, a, words(got), want)
	}
}

func (w *world) trim(id uint64, limit int) {
	w.t.Helper()
	before, err := w.Counts(w.t.Context(), []uint64{id})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.Rows.Trim(w.t.Context(), id, limit); err != nil {
		w.t.Fatal(err)
	}
	row, err := w.Rows.Row(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	v, err := row.View()
	if err != nil {
		w.t.Fatal(err)
	}
	if n := max(v.Len(list.Friends), v.Len(list.Followers), v.Len(list.Following)); n > limit {
		w.t.Errorf("a section of %d holds %d entries after a trim to %d", id, n, limit)
	}
	w.wantCounts(id, before[0].Friends, before[0].Followers, before[0].Following)
}

func (w *world) equals(t *testing.T, edges edgeSet, people []uint64) {
	t.Helper()
	for _, id := range people {
		c := edges.counts(id)
		w.wantCounts(id, c.Friends, c.Followers, c.Following)
		for o, pages := range map[list.Order]pager{list.ByFollower: w.Followers, list.ByFollowing: w.Following, list.ByFriend: w.Friends} {
			want := edges.list(id, o)
			if got := w.walk(t, id, pages, 3); !slices.Equal(got, want) {
				t.Fatalf("order %d of %d:\ngot  %v\nwant %v", o, id, got, want)
			}
			if got := w.walkUp(t, id, pages, 4); !slices.Equal(got, want) {
				t.Fatalf("order %d of %d from the oldest on:\ngot  %v\nwant %v", o, id, got, want)
			}
		}
		rels, err := w.Relationships(t.Context(), id, people)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rels {
			if want := edges.words(id, r.ID); words(r) != want && id != r.ID {
				t.Fatalf("%d to %d: %q, want %q", r.ID, id, words(r), want)
			}
		}
	}
}

// walkUp pages from the oldest entry to the newest and returns the newest first.
func (w *world) walkUp(t *testing.T, owner uint64, pages pager, limit int) (ids []uint64) {
	t.Helper()
	after := list.Cursor{Time: 0, ID: 1}
	for range 1000 {
		p, err := pages(context.Background(), 0, owner, relation.Range{After: after, Limit: limit, Oldest: true})
		if err != nil {
			t.Fatal(err)
		}
		page := make([]uint64, 0, limit)
		for _, person := range p.People {
			page = append(page, person.ID)
		}
		ids = append(page, ids...)
		if !p.Full {
			return ids
		}
		after = p.First
	}
	t.Fatal("the pages do not end")
	return nil
}
