package audit_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"kith/app/audit"
	app "kith/app/relation"
	"kith/repo"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/list"
	"kith/repo/relation"
)

// While clients follow, unfollow, block and trim, an audit suspects and
// finds nothing, unless something is planted.
func TestRun_Traffic(t *testing.T) {
	w := newWorld(t, 0)
	p := w.people(300)
	w.now = time.Now()
	planted := []uint64{2001, 2002}
	w.exist(planted...)
	w.plant(planted[0], func(d *relation.Draft) { d.AddFollowing(planted[1], 77) })
	w.plant(planted[1], func(d *relation.Draft) { d.Put(list.Muting, planted[0], 1) })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var clients sync.WaitGroup
	changes := make(chan struct{})
	for i := range 8 {
		clients.Go(func() { w.client(ctx, p, uint64(i), changes) })
	}
	var suspects, passes int64
	for i := range 9 {
		if i == 7 {
			stop() // what is left is to be clean
			clients.Wait()
		}
		cfg := w.config()
		cfg.Now = time.Now
		cfg.Repair = i >= 4
		cfg.Step = func(_ context.Context, at audit.Progress) error {
			if at.Phase == "verify" {
				return nil // many steps, each with its own reads that the clients come between
			}
			for range 4 { // between any two steps something happens
				select {
				case <-changes:
				case <-ctx.Done():
				}
			}
			return nil
		}
		sum, faults := w.run(cfg)
		suspects, passes = suspects+sum.Suspects, passes+sum.Passes
		var got []uint64
		for _, f := range faults {
			got = append(got, f.Account, f.Other)
		}
		slices.Sort(got)
		var want []uint64
		if i <= 4 {
			want = planted
		}
		if !slices.Equal(got, want) {
			t.Fatalf("audit %d: got faults about %v, want %v: %v", i, got, want, faults)
		}
	}
	t.Logf("%d suspects, %d passes", suspects, passes)
	if suspects < 10 { // a hundred on a quick server, fewer where commits are slow
		t.Error("the traffic made no suspects")
	}
}

// client changes the graph as another process would until ctx ends. Its clock
// runs behind that of the audit for some, so that not every new follow is known
// by its time.
func (w *world) client(ctx context.Context, p []uint64, seed uint64, changes chan<- struct{}) {
	now := func() time.Time { return time.Now().Add(-time.Duration(seed%2) * time.Hour) }
	store := relation.New(w.pool, cache.NewNone(), 0, now)
	commits := committer.New(store, committer.Config{})
	defer commits.Close(context.Background())
	service := app.New(app.Config{Rows: store, Committer: commits, Accounts: w.accounts, Now: now})
	r := rand.New(rand.NewPCG(seed, 3))
	for ctx.Err() == nil {
		a, b := p[r.IntN(len(p))], p[r.IntN(10)]
		if r.IntN(2) == 0 {
			a, b = b, a
		}
		if a == b {
			continue
		}
		var err error
		switch r.IntN(16) {
		case 0:
			_, err = service.Block(ctx, a, b)
		case 1:
			_, err = service.Unblock(ctx, a, b)
		case 2:
			_, err = store.Trim(ctx, b, 4)
		case 3, 4, 5, 6, 7:
			_, err = service.Unfollow(ctx, a, b)
		case 8:
			_, err = service.RemoveFollower(ctx, a, b)
		default:
			_, _ = service.Follow(ctx, a, b, app.FollowOptions{}) // refused where one blocks
		}
		if err != nil && ctx.Err() == nil {
			w.Errorf("client: %v", err)
		}
		select {
		case changes <- struct{}{}:
		default:
		}
	}
}

// A step that fails ends an audit before the next write.
func TestRun_Stopped(t *testing.T) {
	s := newScene(t)
	s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(s.b, 77) })
	s.exec(`UPDATE relation SET followers = 9 WHERE bucket = ? AND account_id = ?`, repo.Bucket(s.star), s.star)
	s.rewriteList(s.fans[12], func(b []byte) []byte { return b[:6] })
	for stopAt := 1; ; stopAt++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		cfg := s.config()
		cfg.Repair = true
		steps, before := 0, ""
		cfg.Step = func(ctx context.Context, _ audit.Progress) error {
			if steps++; steps == stopAt {
				cancel(context.Canceled)
				before = s.dump()
			}
			return ctx.Err()
		}
		sum, err := audit.Run(ctx, cfg)
		cancel(nil)
		if err == nil {
			if stopAt < 5 || sum.Remain() != 0 {
				t.Errorf("got %d steps, %+v", stopAt, sum)
			}
			break
		}
		if s.dump() != before {
			t.Fatalf("step %d: something was written after the step failed", stopAt)
		}
	}
	s.clean()
}

// One account is audited with those whom it names.
func TestRun_Account(t *testing.T) {
	s := newScene(t)
	s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(s.b, 77) })
	s.exec(`UPDATE relation SET followers = 9 WHERE bucket = ? AND account_id = ?`, repo.Bucket(s.star), s.star)
	for _, tt := range []struct {
		id    uint64
		kinds string
	}{{s.a, "edge"}, {s.star, "count"}, {s.fans[0], ""}, {9_999_999, ""}} {
		cfg := s.config()
		cfg.Account = tt.id
		sum, faults := s.run(cfg)
		if got := kinds(faults); got != tt.kinds || sum.Passes != 0 {
			t.Errorf("account %d: got %v in %d passes, want %q in none", tt.id, faults, sum.Passes, tt.kinds)
		}
		cfg.Repair = true
		if sum, _ := s.run(cfg); sum.Remain() != 0 {
			t.Errorf("account %d: %d faults remain", tt.id, sum.Remain())
		}
	}
	s.clean()
	s.rewriteList(s.star, func(b []byte) []byte { return b[:6] })
	cfg := s.config()
	cfg.Account, cfg.Repair = s.star, true
	if sum, faults := s.run(cfg); sum.Remain() != 0 || kinds(faults) != "bytes" {
		t.Errorf("got %v, want a cut list that is repaired", faults)
	}
	s.clean()
}

// What does not fit into memory is gathered in groups.
func TestRun_Groups(t *testing.T) {
	s := newScene(t)
	for _, f := range s.fans[4:12] {
		s.plant(f, func(d *relation.Draft) { d.AddFollowing(s.b, 77) })
	}
	cfg := s.config()
	cfg.Collect = 2
	cfg.Slices = 512
	sum, faults := s.run(cfg)
	if sum.Passes < 4 || kinds(faults) != "edge edge edge edge edge edge edge edge" {
		t.Errorf("got %d passes and %v, want some passes and eight edges", sum.Passes, faults)
	}
	cfg.Collect, cfg.Repair = 1, true
	for range 3 { // more groups than passes
		sum, _ = s.run(cfg)
	}
	if sum.Remain() != 0 {
		t.Errorf("got %+v left after three repairs", sum)
	}
	s.clean()
}

// An account that ends its follows while its row and those of the others are read has
// not lost its row.
func TestRun_UnfollowsMeanwhile(t *testing.T) {
	w := newWorld(t, 0)
	p := w.people(100)
	last, first := p[0], p[23:25] // in the order of the rows, which are read in batches
	for i := range p[1:] {
		w.follow(p[i+1], p[(i+7)%99+1])
	}
	w.follow(last, first[0])
	w.follow(last, first[1])
	w.plant(p[50], func(d *relation.Draft) { d.AddFollowing(p[60], 77) })
	cfg := w.config()
	cfg.Slices = 1 // all follows are read again
	done := false
	cfg.Step = func(ctx context.Context, at audit.Progress) error {
		if at.Phase == "differing" && !done {
			done = true
			w.must(w.Unfollow(ctx, last, first[0]))
			w.must(w.Unfollow(ctx, last, first[1]))
		}
		return nil
	}
	if _, faults := w.run(cfg); kinds(faults) != "edge" || !done {
		t.Errorf("got %v, want only the edge that was planted", faults)
	}
}
