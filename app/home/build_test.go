package home_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"kith/app"
	"kith/app/home"
	"kith/repo/feed"
)

// gate has whoever builds a line wait, after it read the first feeds.
type gate struct {
	home.Feeds
	read  chan struct{} // gets one when they were read
	open  chan struct{}
	fails func() // nil: it does not
}

func newGate(of home.Feeds) *gate {
	return &gate{Feeds: of, read: make(chan struct{}, 100), open: make(chan struct{})}
}

func (g *gate) Cached(ctx context.Context, ids []uint64) ([]feed.Row, []int) {
	rows, err := g.Rows(ctx, ids)
	if g.read <- struct{}{}; g.fails != nil {
		g.fails()
	}
	select {
	case <-g.open:
	case <-ctx.Done():
	}
	if err != nil || ctx.Err() != nil {
		return g.Feeds.Cached(ctx, ids)
	}
	return rows, nil
}

// gated returns homes whose lines are built behind a gate, and somebody who reads one.
func gated(t *testing.T) (w *world, s *home.Service, g *gate, reader, author uint64) {
	w = newWorld(t, config{lines: local(t)})
	g = newGate(w.Feeds)
	s = home.New(home.Config{Relations: w.Rows, Posts: w.Stored, Feeds: g, Lines: w.lines, Now: w.Now, Push: true})
	t.Cleanup(s.Close)
	p := w.People(3)
	w.Follows(p[0], p[1])
	return w, s, g, p[0], p[1]
}

type answer struct {
	ids []uint64
	err error
}

func ask(ctx context.Context, s *home.Service, reader uint64) <-chan answer {
	out := make(chan answer, 1)
	go func() {
		page, err := s.Home(ctx, reader, home.Range{Limit: 20})
		out <- answer{ids(page.Items), err}
	}()
	return out
}

// A request that is given up leaves the line to the next ones, and none of them begins another.
func TestService_Home_GivenUp(t *testing.T) {
	w, s, g, reader, author := gated(t)
	one := w.Post(t, author, "one").ID
	w.pushed()
	ctx, cancel := context.WithCancel(t.Context())
	first := ask(ctx, s, reader)
	<-g.read
	cancel()
	if a := <-first; app.KindOf(a.err) != app.Busy || !errors.Is(a.err, context.Canceled) {
		t.Fatalf("a request that was given up: %v, %v", a.ids, a.err)
	}
	var more []<-chan answer
	for range 5 {
		more = append(more, ask(t.Context(), s, reader))
	}
	close(g.open)
	for _, m := range more {
		if a := <-m; a.err != nil || !slices.Equal(a.ids, []uint64{one}) {
			t.Errorf("got %v, %v, want %d", a.ids, a.err, one)
		}
	}
	if len(g.read) > 0 {
		t.Error("another line was built")
	}
}

// Who waits for a line that another began gets what was posted and followed before it asked.
func TestService_Home_Waits(t *testing.T) {
	w, s, g, reader, author := gated(t)
	want := []uint64{w.Post(t, author, "one").ID}
	w.pushed()
	first := ask(t.Context(), s, reader)
	<-g.read
	other := w.People(1)[0]
	old := w.Post(t, other, "before he was followed").ID
	if got := <-ask(ended(t), s, reader); app.KindOf(got.err) != app.Busy {
		t.Fatalf("got %v, %v, want to wait", got.ids, got.err)
	}
	want = append([]uint64{w.Post(t, author, "pushed meanwhile").ID, old}, want...)
	want = append([]uint64{w.Post(t, reader, "own").ID}, want...)
	w.pushed()
	w.Follows(reader, other)
	var more []<-chan answer
	for range 3 {
		more = append(more, ask(t.Context(), s, reader))
	}
	close(g.open)
	for _, m := range more {
		if a := <-m; a.err != nil || !slices.Equal(a.ids, want) {
			t.Errorf("got %v, %v, want %v", a.ids, a.err, want)
		}
	}
	if a := <-first; a.err != nil {
		t.Error(a.err)
	}
}

// ended returns a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// Close ends what is under way. A panic is an error of who waits.
func TestService_Home_Ends(t *testing.T) {
	_, s, g, reader, author := gated(t)
	waits := ask(t.Context(), s, reader)
	<-g.read
	s.Close()
	for _, a := range []answer{<-waits, <-ask(t.Context(), s, author)} {
		if app.KindOf(a.err) != app.Busy {
			t.Errorf("closed: %v, %v", a.ids, a.err)
		}
	}
	_, s, g, reader, _ = gated(t)
	g.fails = func() { panic("as it happens") }
	if a := <-ask(t.Context(), s, reader); a.err == nil || app.KindOf(a.err) != app.Internal {
		t.Errorf("a panic: %v, %v", a.ids, a.err)
	}
}

// few notes how many feeds are asked for at once.
type few struct {
	home.Feeds
	most int
}

func (f *few) Rows(ctx context.Context, ids []uint64) ([]feed.Row, error) {
	f.most = max(f.most, len(ids))
	return f.Feeds.Rows(ctx, ids)
}

func (f *few) Cached(ctx context.Context, ids []uint64) ([]feed.Row, []int) {
	f.most = max(f.most, len(ids))
	return f.Feeds.Cached(ctx, ids)
}

func (f *few) Lasts(ctx context.Context, ids []uint64) (map[uint64]feed.Last, error) {
	f.most = max(f.most, len(ids))
	return f.Feeds.Lasts(ctx, ids)
}

// However many are followed, few feeds are in memory at once.
func TestService_Home_AtOnce(t *testing.T) {
	for name, c := range map[string]config{"push": {}, "no push": {noPush: true}, "warm": {warm: true}, "short": {cap: 4}} {
		t.Run(name, func(t *testing.T) {
			c.lines = local(t)
			w := newWorld(t, c)
			p := w.People(12)
			w.Follows(p[0], p[1:]...)
			f := &few{Feeds: w.Feeds}
			var warm home.Warm
			if c.warm {
				warm = w.warm
			}
			s := home.New(home.Config{Relations: w.Rows, Posts: w.Stored, Feeds: f, Lines: w.lines, Warm: warm, WarmFrom: 1, Now: w.Now, Push: !c.noPush, Cap: c.cap, AtOnce: 5})
			t.Cleanup(s.Close)
			var want []uint64
			for i := range 30 {
				want = append([]uint64{w.Post(t, p[i%12], "hi").ID}, want...)
			}
			w.pushed()
			for range 3 {
				w.Service = s
				w.want(p[0], want...)
				w.Clock.Add(3600)
			}
			if _, ok := w.lines.Peek(t.Context(), p[0]); !ok || f.most != 5 {
				t.Errorf("a line is held: %t; %d feeds at once, want 5", ok, f.most)
			}
		})
	}
}
