package home_test

import (
	"context"
	"slices"
	"testing"

	"kith/app/home"
	"kith/repo/event"
	"kith/repo/relation"
	"kith/repo/task"
	"kith/repo/timeline"
)

// noted are lines that note what is pushed.
type noted struct {
	timeline.None
	events []event.Event
	to     []uint64
}

func (n *noted) Push(_ context.Context, events []event.Event, ids []uint64) error {
	n.events, n.to = append(n.events, events...), append(n.to, ids...)
	return nil
}

// slow hands out followers in parts, which take some time each.
type slow struct {
	home.Followers
	parts int
	part  func()
}

func (s slow) EachFollowers(_ context.Context, _ relation.Row, fn func([]uint64) error) error {
	for range s.parts {
		if err := fn([]uint64{1}); err != nil {
			return err
		}
		s.part()
	}
	return nil
}

// A push that takes long keeps its claim.
func TestPusher_Push_Renews(t *testing.T) {
	for _, c := range []struct{ parts, want int }{{1, 0}, {2, 1}, {7, 3}} {
		w := newWorld(t, config{noPush: true})
		p := w.People(1)
		of := w.Post(t, p[0], "to many")
		renewed := 0
		pusher := home.NewPusher(home.PushConfig{Followers: slow{w.Rows, c.parts, func() { w.Clock.Add(20) }}, Authors: w.Feeds, Posts: w.Stored, Lines: &noted{}, Limit: 10, Now: w.Now,
			Renew: func(_ context.Context, of task.Task) error {
				if of.Account != p[0] {
					t.Errorf("renews %+v", of)
				}
				renewed++
				return nil
			}})
		if err := pusher.Push(t.Context(), task.Task{Kind: task.Push, Account: p[0], Post: of.ID}); err != nil {
			t.Fatal(err)
		}
		if renewed != c.want {
			t.Errorf("a push in %d parts of 20 s: renewed %d times, want %d", c.parts, renewed, c.want)
		}
	}
}

// What was deleted before it could be pushed is pushed as it is in feeds: else homes read
// from lines and from feeds would differ in what lies between two reposts.
func TestPusher_Push_Deleted(t *testing.T) {
	w := newWorld(t, config{})
	p := w.People(3)
	w.Follows(p[1], p[0])
	w.Follows(p[2], p[0])
	of := w.Post(t, p[0], "goes")
	if _, err := w.Posts.Delete(t.Context(), p[0], of.ID); err != nil {
		t.Fatal(err)
	}
	lines := &noted{}
	pusher := home.NewPusher(home.PushConfig{Followers: w.Rows, Authors: w.Feeds, Posts: w.Stored, Lines: lines, Limit: 10, Now: w.Now})
	if err := pusher.Push(t.Context(), task.Task{Kind: task.Push, Account: p[0], Post: of.ID}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines.to)
	want := slices.Sorted(slices.Values(p[1:]))
	if !slices.Equal(lines.to, want) || !slices.Equal(lines.events, []event.Event{of.Event()}) {
		t.Errorf("pushed %+v to %d, want %+v to %d", lines.events, lines.to, of.Event(), want)
	}
}

// The push of a post that was never there ends, whoever should have written it.
func TestPusher_Push_OfNobody(t *testing.T) {
	w := newWorld(t, config{})
	lines := &noted{}
	pusher := home.NewPusher(home.PushConfig{Followers: w.Rows, Authors: w.Feeds, Posts: w.Stored, Lines: lines, Limit: 10, Now: w.Now})
	err := pusher.Push(t.Context(), task.Task{Kind: task.Push, Account: 1<<40 + 5, Post: 1<<50 + 5})
	if err != nil || len(lines.to) > 0 {
		t.Errorf("pushed to %v, %v; want that it ends and nobody gets anything", lines.to, err)
	}
}
