package work

import (
	"context"
	"slices"
	"strings"
	"testing"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
)

// liar is a peer that is wrong in one way.
type liar struct {
	*peer.Plain
	lie string
}

func (l liar) Name() string { return "liar" }

func (l liar) Counts(ctx context.Context, ids []uint64) ([]peer.Counts, error) {
	c, err := l.Plain.Counts(ctx, ids)
	if l.lie == "counts" {
		c[0].Followers++
	}
	return c, err
}

func (l liar) States(ctx context.Context, viewer uint64, ids []uint64) ([]peer.State, error) {
	s, err := l.Plain.States(ctx, viewer, ids)
	if l.lie == "states" {
		s[len(s)-1].FollowedBy = !s[len(s)-1].FollowedBy
	}
	return s, err
}

func (l liar) Page(ctx context.Context, list peer.List, id uint64, before peer.Entry, limit int) ([]peer.Entry, error) {
	p, err := l.Plain.Page(ctx, list, id, before, limit)
	if l.lie == "pages" && len(p) > 0 {
		p = p[:len(p)-1]
	}
	return p, err
}

func (l liar) Follow(ctx context.Context, from, to uint64, at uint32) error {
	if l.lie == "follow twice" {
		_ = l.Plain.Unfollow(ctx, from, to)
	}
	return l.Plain.Follow(ctx, from, to, at)
}

func (l liar) Unfollow(ctx context.Context, from, to uint64) error {
	if l.lie == "unfollow" {
		return nil
	}
	return l.Plain.Unfollow(ctx, from, to)
}

// TestCheck has a peer that lies among those that do not. Every lie must be found.
func TestCheck(t *testing.T) {
	g := graph.Make(3_000, 3).Complete(0)
	g.Edges = slices.DeleteFunc(g.Edges, func(e graph.Edge) bool { // so that the plain maps have less to sort
		return max(e.From, e.To) == graph.Viewer(20_000)
	})
	for _, lie := range []string{"", "counts", "states", "pages", "unfollow", "follow twice"} {
		b := &Bench{Graph: g, Peers: []peer.Peer{peer.NewPlain(g), liar{peer.NewPlain(g), lie}}}
		err := b.Check(t.Context())
		if lie == "" && err != nil {
			t.Errorf("peers that agree: %v", err)
		}
		if lie != "" && (err == nil || !strings.Contains(err.Error(), "liar answers")) {
			t.Errorf("%s: got %v, want that the liar is named", lie, err)
		}
	}
}

// TestDrive counts what clients do and what they give up.
func TestDrive(t *testing.T) {
	n := 0
	r, err := drive(t.Context(), 1, 20_000_000, 1, func(context.Context, *client) error {
		if n++; n%10 == 0 {
			return peer.ErrGaveUp
		}
		return nil
	})
	if err != nil || r.Ops+r.Failed != int64(n) || r.Failed != int64(n/10) || r.P50 > r.P99 || r.Seconds < 0.02 {
		t.Errorf("got %+v, %v after %d calls", r, err, n)
	}
	if _, err := drive(t.Context(), 4, 20_000_000, 1, func(context.Context, *client) error { return context.Canceled }); err == nil {
		t.Error("an error of a client did not end the run")
	}
}
