package work

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
)

// forgetful is a plain map that acknowledges some changes without making them,
// all of them or those of one side.
type forgetful struct {
	mu sync.Mutex
	*peer.Plain
	n      int
	forget string
}

func (f *forgetful) Follow(ctx context.Context, from, to uint64, at uint32) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n%10 == 0 {
		switch f.forget {
		case "follow":
			return nil
		case "side":
			if f.In[to] == nil {
				f.In[to] = map[uint64]uint32{}
			}
			f.In[to][from] = at
			return nil
		}
	}
	return f.Plain.Follow(ctx, from, to, at)
}

func (f *forgetful) Unfollow(ctx context.Context, from, to uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n%10 == 0 && f.forget == "unfollow" {
		return nil
	}
	return f.Plain.Unfollow(ctx, from, to)
}

// TestAfter has a peer that forgets: the works that change something must find
// it out.
func TestAfter(t *testing.T) {
	t.Parallel()
	g := graph.Make(50_000, 3).Complete(Stars(1)) // so many that clients seldom touch the same edge
	for _, c := range []struct {
		forget, found string // a part of the message
		work          func(*Bench, context.Context, []peer.Peer) error
	}{
		{"", "", (*Bench).hot}, {"", "", (*Bench).spread}, {"", "", (*Bench).one},
		{"follow", "followers more", (*Bench).hot}, {"side", "follow", (*Bench).hot},
		{"follow", "got false, from the other side false, want true", (*Bench).spread},
		{"side", "from the other side true", (*Bench).one},
		{"unfollow", "want false", (*Bench).spread},
	} {
		t.Run(c.forget, func(t *testing.T) {
			t.Parallel()
			p := &forgetful{Plain: peer.NewPlain(g), forget: c.forget}
			b := &Bench{Graph: g, Rounds: 1, Span: 50 * time.Millisecond, Progress: func(string, string, string, int) {}}
			err := c.work(b, t.Context(), []peer.Peer{p})
			if c.forget == "" && err != nil {
				t.Errorf("got %v of a peer that forgets nothing", err)
			}
			if c.forget != "" && (err == nil || !strings.Contains(err.Error(), c.found)) {
				t.Errorf("got %v, want that something is missing: %s", err, c.found)
			}
		})
	}
}

// TestOne_Undoes also looks at what a line of a latency has.
func TestOne_Undoes(t *testing.T) {
	g := graph.Make(3_000, 3)
	g.Date(1)
	p := peer.NewPlain(g)
	b := &Bench{Graph: g, Rounds: 2, Span: time.Millisecond, Progress: func(string, string, string, int) {}}
	if err := b.one(t.Context(), []peer.Peer{&forgetful{Plain: p}}); err != nil {
		t.Fatal(err)
	}
	after := 0
	for _, l := range p.Out {
		after += len(l)
	}
	if after > g.Own {
		t.Errorf("got %d follows, want at most the %d there were", after, g.Own)
	}
	l := b.Lines[0]
	if p50, p99 := l.Quantiles(); len(l.Rounds) != 2 || p99 < p50 || p50 == 0 || l.Median() <= 0 {
		t.Errorf("got %+v, want two rounds with p50 and p99", l)
	}
}

// TestBench_Turns has cases and peers in turns within each round.
func TestBench_Turns(t *testing.T) {
	g := graph.Make(3_000, 3)
	var got []string
	b := &Bench{Rounds: 2, Span: time.Millisecond, Progress: func(_, name, peer string, round int) { got = append(got, name+" "+peer) }}
	nothing := func(context.Context, peer.Peer, *client) error { return nil }
	peers := []peer.Peer{peer.NewPlain(g), liar{peer.NewPlain(g), ""}}
	if err := b.run(t.Context(), rate("x", "a", "", b.asking(peers, 1, nothing)), rate("x", "b", "", b.asking(peers[:1], 1, nothing))); err != nil {
		t.Fatal(err)
	}
	want := []string{"a a plain map", "a liar", "b a plain map"}
	if want = append(want, want...); !slices.Equal(got, want) || len(b.Lines) != 3 || len(b.Lines[2].Rounds) != 2 {
		t.Errorf("got %q and %d lines, want %q and 3", got, len(b.Lines), want)
	}
}

func TestQuantile(t *testing.T) {
	var all []time.Duration
	for i := range 100 {
		all = append(all, time.Duration(i+1)*time.Microsecond)
	}
	for _, c := range []struct {
		n    int
		q    float64
		want float64
	}{{100, 0.99, 99}, {100, 0.5, 50}, {1, 0.99, 1}, {3, 0.5, 2}, {4, 0.5, 2}, {0, 0.5, 0}} {
		if got := quantile(all[:c.n], c.q); got != c.want {
			t.Errorf("%v of %d: got the %v, want the %v", c.q, c.n, got, c.want)
		}
	}
}

// TestDrive_Slow has a span that is over before the first call: calls are longer.
func TestDrive_Slow(t *testing.T) {
	const clients = 8
	r, err := drive(t.Context(), clients, time.Nanosecond, 1, func(context.Context, *client) error { return nil })
	if err != nil || r.Ops < least*clients {
		t.Errorf("got %d calls of %d clients, %v, want %d of each on average", r.Ops, clients, err, least)
	}
}
