package peer

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/server"
	"kith/repo/cache"
)

// servers are those of all tests.
var servers *server.Servers

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kithbench-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if servers, err = server.Start(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer servers.Stop()
	return m.Run()
}

// peers opens each peer on an empty store, once in a run of the tests.
var peers = map[string]func(t *testing.T) (Peer, error){
	TwoTableName: func(t *testing.T) (Peer, error) {
		return NewTwoTable(t.Context(), TwoTableName, database(t, "twotable"), false)
	},
	PackedName: func(t *testing.T) (Peer, error) {
		return NewTwoTable(t.Context(), PackedName, database(t, "packed"), true)
	},
	KithName: func(t *testing.T) (Peer, error) {
		c, err := OnMemcached(servers.Memcached(), 0)
		if err != nil {
			return nil, err
		}
		return newKith(t, KithName, "kith", c)
	},
	AloneName: func(t *testing.T) (Peer, error) {
		c, err := InProcess()
		if err != nil {
			return nil, err
		}
		return newKith(t, AloneName, "kith_alone", c)
	},
	NaiveName: func(t *testing.T) (Peer, error) {
		k, err := newKith(t, NaiveName, "naive", cache.NewNone())
		return &Naive{Kith: k}, err
	},
	RedisName:  func(*testing.T) (Peer, error) { return NewRedis(RedisName, servers.Redis()) },
	SyncedName: func(*testing.T) (Peer, error) { return NewRedis(SyncedName, servers.RedisSynced()) },
}

func newKith(t *testing.T, name, base string, c cache.Cache) (*Kith, error) {
	t.Helper()
	dsn := database(t, base)
	if err := Migrate(t.Context(), dsn); err != nil {
		return nil, err
	}
	return NewKith(t.Context(), name, dsn, c)
}

func database(t *testing.T, name string) (dsn string) {
	t.Helper()
	if err := servers.CreateDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	return servers.MySQLDSN(name)
}

func TestPeers(t *testing.T) {
	for name, open := range peers {
		t.Run(name, func(t *testing.T) {
			p, err := open(t)
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

// check is what every peer must do. It begins with an empty one.
func check(t *testing.T, p Peer) {
	c := checker{p, newTwin()}
	g := small()
	if err := p.Load(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	for _, e := range g.Edges {
		c.twin.follow(e.From, e.To, e.At)
	}
	t.Run("Loaded", c.same)
	t.Run("Absent", c.absent)
	t.Run("Space", c.space)
	t.Run("Follow", c.follow)
	t.Run("Unfollow", c.unfollow)
	t.Run("Hot", c.hot)
	t.Run("OneEdge", c.oneEdge)
	t.Run("Changed", c.same)
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
	twin *twin
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
	got, err := c.p.Counts(t.Context(), ids)
	want := make([]Counts, len(ids))
	for i, id := range ids {
		want[i] = c.twin.counts(id)
	}
	equal(t, "counts", got, err, want)
}

func (c checker) sameStates(t *testing.T, viewer uint64, ids []uint64) {
	t.Helper()
	got, err := c.p.States(t.Context(), viewer, ids)
	want := make([]State, len(ids))
	for i, id := range ids {
		want[i] = c.twin.state(viewer, id)
	}
	equal(t, fmt.Sprintf("states for %d", viewer), got, err, want)
}

// samePages reads both lists of an account from the top down.
func (c checker) samePages(t *testing.T, id uint64) {
	t.Helper()
	got, err := walk(t.Context(), id, c.p.Followers)
	equal(t, fmt.Sprintf("followers of %d", id), got, err, newestFirst(c.twin.followers[id]))
	got, err = walk(t.Context(), id, c.p.Following)
	equal(t, fmt.Sprintf("following of %d", id), got, err, newestFirst(c.twin.following[id]))
	if s, ok := c.p.(Skipper); ok {
		got, err = walkBySkip(t.Context(), id, s.FollowersAfter)
		equal(t, fmt.Sprintf("followers of %d by skips", id), got, err, newestFirst(c.twin.followers[id]))
	}
}

// pageSize does not divide the lengths of lists, but for some.
const pageSize = 7

// walk reads a list by cursors.
func walk(ctx context.Context, id uint64, read func(context.Context, uint64, Entry, int) ([]Entry, error)) (whole []Entry, err error) {
	var before Entry
	for {
		page, err := read(ctx, id, before, pageSize)
		if err != nil || len(page) == 0 {
			return whole, err
		}
		if len(page) > pageSize {
			return whole, fmt.Errorf("a page of %d entries, want at most %d", len(page), pageSize)
		}
		whole, before = append(whole, page...), page[len(page)-1]
	}
}

func walkBySkip(ctx context.Context, id uint64, read func(context.Context, uint64, int, int) ([]Entry, error)) (whole []Entry, err error) {
	for {
		page, err := read(ctx, id, len(whole), pageSize)
		if err != nil || len(page) == 0 {
			return whole, err
		}
		whole = append(whole, page...)
	}
}

// absent asks about those who are not there, and about nobody.
func (c checker) absent(t *testing.T) {
	states, err := c.p.States(t.Context(), stranger, []uint64{stranger + 1, 1})
	equal(t, "states for a stranger", states, err, []State{{}, {}})
	counts, err := c.p.Counts(t.Context(), []uint64{stranger, stranger})
	equal(t, "counts of strangers", counts, err, []Counts{{}, {}})
	page, err := c.p.Followers(t.Context(), 1, Entry{ID: 1, At: 1}, 10)
	equal(t, "a page before all", page, err, []Entry(nil))
	states, err = c.p.States(t.Context(), 1, nil)
	equal(t, "states of nobody", states, err, []State(nil))
	counts, err = c.p.Counts(t.Context(), nil)
	equal(t, "counts of nobody", counts, err, []Counts(nil))
}

// space checks that the peer knows what it takes: some bytes a follow, and not
// a megabyte each.
func (c checker) space(t *testing.T) {
	got, err := c.p.Space(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := int64(c.twin.size())
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
