package peer

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/server"
)

// servers are those of all tests.
var servers *server.Servers

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if servers, err = server.StartAll(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer servers.Stop()
	return m.Run()
}

// TestPeers opens each peer on an empty store, once in a run of the tests.
func TestPeers(t *testing.T) {
	for _, name := range Names {
		t.Run(name, func(t *testing.T) {
			p, err := Open(t.Context(), servers, name)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := p.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			if p.Name() != name {
				t.Errorf("got the name %s, want %s", p.Name(), name)
			}
			check(t, p)
		})
	}
}

// fresh checks that the variant of kith is on the same data.
func (c checker) fresh(t *testing.T) {
	fresh, err := Open(t.Context(), servers, FreshName)
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	checker{fresh, c.twin}.same(t)
}

// check is what every peer must do. It begins with an empty one.
func check(t *testing.T, p Peer) {
	g := small()
	c := checker{p, NewPlain(g)}
	if err := p.Load(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	t.Run("Loaded", c.same)
	t.Run("Absent", c.absent)
	t.Run("Space", func(t *testing.T) { c.space(t, len(g.Edges)) })
	t.Run("Follow", c.follow)
	t.Run("Unfollow", c.unfollow)
	t.Run("Hot", c.hot)
	t.Run("OneEdge", c.oneEdge)
	t.Run("Changed", c.same)
	if p.Name() == KithName {
		t.Run("Fresh", c.fresh)
	}
}

// Accounts of the small graph: a star that all others follow, its ids small and
// large, and strangers who are in no follow.
const (
	people   = 150
	stranger = 1 << 40
	big      = 1<<63 - 1000 // the first id of some that need all bits
)

// person returns the id of the i-th account.
func person(i int) uint64 {
	if i%10 == 3 {
		return big + uint64(i)
	}
	return uint64(i + 1)
}

// small is a graph of which the first account is followed by everybody.
func small() *graph.Graph {
	g := &graph.Graph{Name: "small"}
	for from := range people {
		for to := range people {
			if from != to && (to == 0 || (from*7+to*13)%11 < 2) {
				g.Edges = append(g.Edges, graph.Edge{From: person(from), To: person(to)})
			}
		}
	}
	g.Date(7)
	return g
}

// checker compares a peer with its twin.
type checker struct {
	p    Peer
	twin Peer
}

// all are the accounts and a stranger.
func all() []uint64 {
	ids := []uint64{stranger}
	for i := range people {
		ids = append(ids, person(i))
	}
	return ids
}

// same compares all that can be asked.
func (c checker) same(t *testing.T) {
	ids := all()
	for _, id := range ids {
		c.sameStates(t, id, ids)
		c.samePages(t, id)
	}
	c.sameCounts(t, ids)
}

func (c checker) sameStates(t *testing.T, viewer uint64, ids []uint64) {
	t.Helper()
	want, _ := c.twin.States(t.Context(), viewer, ids)
	got, err := c.p.States(t.Context(), viewer, ids)
	equal(t, fmt.Sprintf("states for %d", viewer), got, err, want)
}

func (c checker) sameCounts(t *testing.T, ids []uint64) {
	t.Helper()
	want, _ := c.twin.Counts(t.Context(), ids)
	got, err := c.p.Counts(t.Context(), ids)
	equal(t, "counts", got, err, want)
}

// samePages reads both lists of an account from the top down.
func (c checker) samePages(t *testing.T, id uint64) {
	t.Helper()
	for _, l := range []List{Followers, Following} {
		want, _ := c.twin.Page(t.Context(), l, id, Entry{}, 1<<20)
		got, err := walk(t.Context(), c.p, l, id)
		equal(t, fmt.Sprintf("%s of %d", l, id), got, err, want)
	}
}

// pageSize does not divide the lengths of lists, but for some.
const pageSize = 7

// walk reads a list by cursors.
func walk(ctx context.Context, p Peer, l List, id uint64) (whole []Entry, err error) {
	var before Entry
	for {
		page, err := p.Page(ctx, l, id, before, pageSize)
		if err != nil || len(page) == 0 {
			return whole, err
		}
		if len(page) > pageSize {
			return whole, fmt.Errorf("a page of %d entries, want at most %d", len(page), pageSize)
		}
		whole, before = append(whole, page...), page[len(page)-1]
	}
}

// absent asks about unknown accounts, and about none.
func (c checker) absent(t *testing.T) {
	states, err := c.p.States(t.Context(), stranger, []uint64{stranger + 1, 1})
	equal(t, "states for a stranger", states, err, []State{{}, {}})
	counts, err := c.p.Counts(t.Context(), []uint64{stranger, stranger})
	equal(t, "counts of strangers", counts, err, []Counts{{}, {}})
	page, err := c.p.Page(t.Context(), Followers, 1, Entry{ID: 1, At: 1}, 10)
	equal(t, "a page before all", page, err, []Entry(nil))
	states, err = c.p.States(t.Context(), 1, nil)
	equal(t, "states of none", states, err, []State(nil))
	counts, err = c.p.Counts(t.Context(), nil)
	equal(t, "counts of none", counts, err, []Counts(nil))
}

// space checks that the peer knows what it takes: some bytes a follow, and not
// a megabyte each.
func (c checker) space(t *testing.T, follows int) {
	got, err := c.p.Space(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := int64(follows)
	if sum := got.Files + got.Memory; sum < n || sum > n<<12 {
		t.Errorf("got %+v for %d follows", got, n)
	}
	if got.Pages > got.Files {
		t.Errorf("got %d bytes of pages in %d of files", got.Pages, got.Files)
	}
}

// equal compares, with nil and empty alike.
func equal[T any](t *testing.T, what string, got []T, err error, want []T) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: got the + and want the -\n%s", what, diff)
	}
}
