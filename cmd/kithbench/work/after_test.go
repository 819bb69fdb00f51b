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
	*plain
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
			put(f.in, to, from, at)
			return nil
		}
	}
	return f.plain.Follow(ctx, from, to, at)
}

func (f *forgetful) Unfollow(ctx context.Context, from, to uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n%10 == 0 && f.forget == "unfollow" {
		return nil
	}
	return f.plain.Unfollow(ctx, from, to)
}

// TestAfter has a peer that forgets: the works that change something must find
// it out.
func TestAfter(t *testing.T) {
	t.Parallel()
	g := graph.Make(50_000, 3) // so many that clients seldom touch the same edge
	g.AddStars(Stars(1))
	g.Date(1)
	for _, c := range []struct {
		forget, found string // a part of the message
		work          func(*Bench, context.Context) error
	}{
		{"", "", (*Bench).Hot}, {"", "", (*Bench).Spread}, {"", "", (*Bench).One},
		{"follow", "followers more", (*Bench).Hot}, {"side", "follow", (*Bench).Hot},
		{"follow", "got false, from the other side false, want true", (*Bench).Spread},
		{"side", "from the other side true", (*Bench).One},
		{"unfollow", "want false", (*Bench).Spread},
	} {
		t.Run(c.forget, func(t *testing.T) {
			t.Parallel()
			p := &forgetful{plain: newPlain(g), forget: c.forget}
			b := &Bench{Graph: g, Peers: []peer.Peer{p}, Rounds: 1, Span: 50 * time.Millisecond, Progress: func(string, string, string, int) {}}
			err := c.work(b, t.Context())
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
	p := newPlain(g)
	b := &Bench{Graph: g, Peers: []peer.Peer{&forgetful{plain: p}}, Rounds: 2, Span: time.Millisecond, Progress: func(string, string, string, int) {}}
	if err := b.One(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := 0
	for _, l := range p.out {
		after += len(l)
	}
	if after > g.Own {
		t.Errorf("got %d follows, want at most the %d there were", after, g.Own)
	}
	if l := b.Lines[0]; len(l.Rounds) != 2 || l.P99() < l.P50() || l.P50() == 0 || l.Median() <= 0 {
		t.Errorf("got %+v, want two rounds with p50 and p99", l)
	}
}

// TestBench_Turns has cases and peers in turns within each round.
func TestBench_Turns(t *testing.T) {
	g := graph.Make(3_000, 3)
	var got []string
	b := &Bench{Graph: g, Peers: []peer.Peer{newPlain(g), liar{newPlain(g), ""}}, Rounds: 2, Span: time.Millisecond,
		Progress: func(_, name, peer string, round int) { got = append(got, name+" "+peer) }}
	nothing := reads(func(context.Context, peer.Peer, *client) error { return nil })
	if err := b.run(t.Context(), load{name: "a", clients: 1, begin: nothing}, load{name: "b", clients: 1, begin: nothing, skip: without("liar")}); err != nil {
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
		all = append(all, time.Duration(i+1))
	}
	for _, c := range []struct {
		n    int
		q    float64
		want time.Duration
	}{{100, 0.99, 99}, {100, 0.5, 50}, {1, 0.99, 1}, {3, 0.5, 2}, {4, 0.5, 2}, {0, 0.5, 0}} {
		if got := quantile(all[:c.n], c.q); got != c.want {
			t.Errorf("%v of %d: got the %d., want the %d.", c.q, c.n, got, c.want)
		}
	}
}

// TestDrive_Slow has calls that are longer than the span.
func TestDrive_Slow(t *testing.T) {
	const clients = 8
	r, err := drive(t.Context(), clients, time.Nanosecond, 1, func(context.Context, *client) error {
		time.Sleep(time.Millisecond)
		return nil
	})
	if err != nil || r.Ops < least*clients {
		t.Errorf("got %d calls of %d clients, %v, want %d of each on average", r.Ops, clients, err, least)
	}
}
