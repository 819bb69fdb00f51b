package home_test

import (
	"context"
	"slices"
	"testing"

	"kith/app/home"
	"kith/repo/event"
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
