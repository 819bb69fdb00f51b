package work

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/cmd/kithbench/feed"
	"kith/cmd/kithbench/peer"
)

// falseHome is a home peer that is wrong in one way.
type falseHome struct {
	mu sync.Mutex
	*peer.PlainHome
	name, lie string
	tier      peer.Tier
}

func (f *falseHome) Name() string { return f.name }

func (f *falseHome) Cool(_ context.Context, t peer.Tier, _ []uint64) error {
	f.tier = t
	return nil
}

func (f *falseHome) Post(ctx context.Context, author uint64, text string) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lie == "post" {
		return 1 << 62, nil
	}
	return f.PlainHome.Post(ctx, author, text)
}

func (f *falseHome) Page(ctx context.Context, reader, before uint64, limit int) ([]feed.Post, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	page, err := f.PlainHome.Page(ctx, reader, before, limit)
	switch {
	case f.lie == "short":
		page = page[1:]
	case f.lie == "text":
		page[0].Text += "."
	case f.lie == "name":
		page[0].Name = "u0"
	case f.lie == "order":
		page[0], page[1] = page[1], page[0]
	case f.lie == "cold" && f.tier == peer.Cold:
		page = page[:1]
	}
	return page, err
}

// TestHomes_Check has a peer that lies among those that do not. Every lie must be found.
func TestHomes_Check(t *testing.T) {
	t.Parallel()
	for lie, found := range map[string]string{"": "", "short": "want", "text": "want", "name": "want", "order": "no older than", "cold": "cold", "post": "want"} {
		h := testHomes()
		for _, name := range []string{"honest", "liar"} {
			p := &falseHome{PlainHome: peer.NewPlainHome(h.world), name: name}
			if name == "liar" {
				p.lie = lie
			}
			h.peers = append(h.peers, p)
		}
		err := h.check(t.Context())
		if lie == "" && err != nil {
			t.Errorf("peers that agree: %v", err)
		}
		if lie != "" && (err == nil || !strings.Contains(err.Error(), "liar") || !strings.Contains(err.Error(), found)) {
			t.Errorf("%s: got %v, want that the liar is named, and %q", lie, err, found)
		}
	}
}

func testHomes() *homes {
	b := &Bench{World: feed.Size{Authors: 1_000, Posts: 3, Readers: 2, Fans: 40, Others: 20}, Rounds: 1, Span: 20 * time.Millisecond,
		Progress: func(string, string, string, int) {}}
	return b.newHomes()
}

// TestHomes_Posts has a peer that forgets posts: the works that post must find it out.
func TestHomes_Posts(t *testing.T) {
	t.Parallel()
	for _, lie := range []string{"", "post"} {
		for name, work := range map[string]func(*homes, context.Context) error{"FanOut": (*homes).fanOut, "Mix": (*homes).mix} {
			t.Run(name+lie, func(t *testing.T) {
				h := testHomes()
				h.peers = []peer.Home{&falseHome{PlainHome: peer.NewPlainHome(h.world), name: peer.KithName, lie: lie}}
				err := work(h, t.Context())
				if lie == "" && err != nil {
					t.Errorf("got %v of a peer that forgets nothing", err)
				}
				if lie != "" && (err == nil || !strings.Contains(err.Error(), "lacks the post")) {
					t.Errorf("got %v, want that a post is missing", err)
				}
			})
		}
	}
}

// Pages have a line for each tier and size, with the peers that it is for.
func TestHomes_Pages(t *testing.T) {
	h := testHomes()
	for _, name := range []string{peer.KithName, peer.PullName, peer.PushName} {
		h.peers = append(h.peers, &falseHome{PlainHome: peer.NewPlainHome(h.world), name: name})
	}
	if err := h.pages(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range h.Lines {
		if strings.HasSuffix(l.Case, " 100 authors") {
			got = append(got, l.Case[len("first page, "):]+" "+l.Peer)
		}
		if l.Median() <= 0 {
			t.Errorf("%s, %s: nothing was done", l.Case, l.Peer)
		}
	}
	if want := []string{"hot, 100 authors kith", "hot, 100 authors sql-push",
		"cold, 100 authors kith", "cold, 100 authors sql-pull"}; !slices.Equal(got, want) {
		t.Errorf("got the lines %q, want %q", got, want)
	}
}
