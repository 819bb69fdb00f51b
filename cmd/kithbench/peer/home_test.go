package peer

import (
	"fmt"
	"testing"
	"time"

	"kith/cmd/kithbench/feed"
)

// TestHomes loads each home peer with a small world in which homes of fans are full, and lets
// some authors post.
func TestHomes(t *testing.T) {
	w := feed.Make(feed.Size{Authors: 1_000, Posts: 25, Readers: 2, Fans: 12, Others: 20}, time.Now())
	for _, name := range HomeNames {
		t.Run(name, func(t *testing.T) {
			p, err := OpenHome(t.Context(), servers, name)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := p.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			if err := p.Load(t.Context(), w); err != nil || p.Name() != name {
				t.Fatalf("got the name %s and %v, want %s", p.Name(), err, name)
			}
			c := homeChecker{p, NewPlainHome(w), w.Posts[len(w.Posts)-1].ID}
			t.Run("Loaded", c.same)
			t.Run("Posts", c.posts)
			t.Run("Posted", c.same)
		})
	}
}

// homeChecker compares a home peer with its twin. Peers make the ids of posts after newest.
type homeChecker struct {
	p, twin Home
	newest  uint64
}

// same walks the homes of readers of all kinds, and of one who follows nobody.
func (c homeChecker) same(t *testing.T) {
	readers := []uint64{stranger, feed.Fan(0), feed.Fan(11)}
	for _, n := range feed.Follows {
		readers = append(readers, feed.Reader(n, 0), feed.Reader(n, 1))
	}
	for _, reader := range readers {
		want, err := c.walk(t, c.twin, reader)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.walk(t, c.p, reader)
		equal(t, fmt.Sprintf("home of %d", reader), got, err, want)
	}
}

// walk reads a home by cursors, as far as every peer keeps it. New posts get the id 0.
func (c homeChecker) walk(t *testing.T, p Home, reader uint64) (home []feed.Post, err error) {
	var before uint64
	for len(home) < HomeCap {
		page, err := p.Page(t.Context(), reader, before, 60)
		if err != nil || len(page) == 0 {
			return home, err
		}
		for _, e := range page {
			if before > 0 && e.ID >= before {
				return home, fmt.Errorf("the post %d is not older than the one before, %d", e.ID, before)
			}
			if before = e.ID; e.ID > c.newest {
				e.ID = 0
			}
			home = append(home, e)
		}
	}
	return home[:HomeCap], nil
}

// posts lets the star post until homes are cut, and another author once. Peers that keep homes
// know their space before and after.
func (c homeChecker) posts(t *testing.T) {
	before, entries, err := c.p.HomeSpace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if sum := before.Pages + before.Memory; sum < entries || sum > 1000*entries {
		t.Errorf("got %+v for %d entries", before, entries)
	}
	for i := range trimEvery {
		for _, p := range []Home{c.p, c.twin} {
			if _, err := p.Post(t.Context(), feed.Star, feed.Text(i)+" It's \"new\"."); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, after, err := c.p.HomeSpace(t.Context()); err != nil || after != entries {
		t.Errorf("got %d entries and %v after %d posts into full homes, want %d", after, err, trimEvery, entries)
	}
	for _, p := range []Home{c.p, c.twin} {
		if _, err := p.Post(t.Context(), feed.Author(0), "another"); err != nil {
			t.Fatal(err)
		}
	}
}
