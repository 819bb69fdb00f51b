package feed

import (
	"slices"
	"testing"
	"time"

	"kith/repo"
)

// TestMake checks that a world is what peers and works rest on.
func TestMake(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := Make(Small, now)
	follows, fans := map[uint64]int{}, 0
	for _, e := range w.Graph.Edges {
		if follows[e.From]++; e.To == Star {
			fans++
		}
	}
	for _, n := range Follows {
		if got := follows[Reader(n, Small.Readers-1)]; got != n {
			t.Errorf("a reader follows %d authors, want %d", got, n)
		}
	}
	if fans != Small.Fans || follows[Fan(0)] != Small.Others+1 {
		t.Errorf("the star has %d followers who follow %d, want %d and %d", fans, follows[Fan(0)], Small.Fans, Small.Others+1)
	}
	posts := map[uint64]int{}
	for i, p := range w.Posts {
		if i > 0 && p.ID <= w.Posts[i-1].ID {
			t.Fatalf("the post %d follows %d", p.ID, w.Posts[i-1].ID)
		}
		if repo.Bucket(p.ID) != repo.Bucket(p.Author) {
			t.Fatalf("the post %d is not in the bucket of its author %d", p.ID, p.Author)
		}
		posts[p.Author]++
	}
	for author, n := range posts {
		if n != Small.Posts {
			t.Errorf("%d has %d posts, want %d", author, n, Small.Posts)
		}
	}
	if len(posts) != Small.Authors+1 {
		t.Errorf("got %d authors, want %d and the star", len(posts), Small.Authors)
	}
}

func TestWorld_Homes(t *testing.T) {
	w := Make(Size{Authors: 1_000, Posts: 2, Readers: 1, Fans: 1, Others: 3}, time.Now())
	homes := w.Homes(15)
	for reader, want := range map[uint64]int{Fan(0): 8, Reader(10, 0): 15} {
		home := homes[reader]
		if len(home) != want || !slices.IsSortedFunc(home, func(a, b uint64) int { return int(b>>32) - int(a>>32) }) {
			t.Errorf("got %d posts in the home of %d, want %d, the newest first", len(home), reader, want)
		}
	}
	newest := w.Posts[len(w.Posts)-1].ID
	if got := homes[Reader(1_000, 0)][0]; got != newest && w.Posts[len(w.Posts)-1].Author != Star {
		t.Errorf("the home of all authors begins with %d, want the newest post %d", got, newest)
	}
}
