package peer

import (
	"sync"
	"testing"
)

// later is after every follow of the small graph.
const later = 1_900_000_000

// follow makes follows of all kinds, each twice: the second changes nothing,
// not even the time.
func (c checker) follow(t *testing.T) {
	for i, e := range [][2]uint64{
		{person(1), stranger},     // to an unknown account
		{stranger + 1, person(2)}, // from an unknown account
		{stranger, person(1)},     // back
		{stranger, person(3)},     // to a large id
		{person(4), person(0)},    // was there
	} {
		at := uint32(later + 2*i)
		for again := range uint32(2) {
			if err := c.p.Follow(t.Context(), e[0], e[1], at+again); err != nil {
				t.Fatalf("follow %d: %v", i, err)
			}
			_ = c.twin.Follow(t.Context(), e[0], e[1], at+again)
			c.sameOf(t, e[0], e[1])
		}
	}
}

// unfollow drops follows, each twice, and one that never was; then one is made
// again, at a new time.
func (c checker) unfollow(t *testing.T) {
	for i, e := range [][2]uint64{
		{person(1), stranger},
		{person(5), person(0)},
		{person(0), person(0) + 1},
		{stranger + 5, stranger + 6},
	} {
		for range 2 {
			if err := c.p.Unfollow(t.Context(), e[0], e[1]); err != nil {
				t.Fatalf("unfollow %d: %v", i, err)
			}
			_ = c.twin.Unfollow(t.Context(), e[0], e[1])
			c.sameOf(t, e[0], e[1])
		}
	}
	if err := c.p.Follow(t.Context(), person(5), person(0), later+50); err != nil {
		t.Fatal(err)
	}
	_ = c.twin.Follow(t.Context(), person(5), person(0), later+50)
	c.sameOf(t, person(5), person(0))
}

// sameOf compares all about two accounts.
func (c checker) sameOf(t *testing.T, a, b uint64) {
	t.Helper()
	for _, id := range []uint64{a, b} {
		c.samePages(t, id)
		c.sameStates(t, id, []uint64{a, b})
		c.sameCounts(t, []uint64{id})
	}
}

// clients is how many change at once in what follows.
const clients = 32

// hot has all clients follow one account, then every second unfollow it.
func (c checker) hot(t *testing.T) {
	const each = 8
	star := uint64(stranger + 100)
	fan := func(client, i int) uint64 { return stranger + 1000 + uint64(client*each+i) }
	atOnce(t, func(client int) error {
		for i := range each {
			if err := c.p.Follow(t.Context(), fan(client, i), star, later+100+uint32(client*each+i)); err != nil {
				return err
			}
		}
		if client%2 == 0 {
			return nil
		}
		return c.p.Unfollow(t.Context(), fan(client, 0), star)
	})
	for client := range clients {
		for i := range each {
			if client%2 == 0 || i > 0 {
				_ = c.twin.Follow(t.Context(), fan(client, i), star, later+100+uint32(client*each+i))
			}
		}
	}
	c.sameOf(t, star, fan(1, 0))
	c.sameOf(t, star, fan(1, 1))
}

// oneEdge has all clients make and drop the same follow, and its opposite: the
// counts are those of what is left.
func (c checker) oneEdge(t *testing.T) {
	a, b := uint64(stranger+200), uint64(stranger+201)
	atOnce(t, func(client int) error {
		from, to := a, b
		if client%2 == 0 {
			from, to = b, a
		}
		for range 4 {
			if err := c.p.Follow(t.Context(), from, to, later+500); err != nil {
				return err
			}
			if err := c.p.Unfollow(t.Context(), from, to); err != nil {
				return err
			}
		}
		return c.p.Follow(t.Context(), a, b, later+500)
	})
	if err := c.p.Follow(t.Context(), a, b, later+500); err != nil {
		t.Fatal(err)
	}
	_ = c.twin.Follow(t.Context(), a, b, later+500)
	c.sameOf(t, a, b)
}

// atOnce runs a function for each client and waits for all.
func atOnce(t *testing.T, do func(client int) error) {
	t.Helper()
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			if err := do(client); err != nil {
				t.Errorf("client %d: %v", client, err)
			}
		})
	}
	all.Wait()
}
