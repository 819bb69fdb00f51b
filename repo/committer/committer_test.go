package committer_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kith/repo"
	"kith/repo/committer"
)

type edits = committer.Committer[*draft, row]

func start(t *testing.T, f *fake, cfg committer.Config) *edits {
	t.Helper()
	cfg.Pause = func(context.Context, int) {}
	c := committer.New[*draft, row](f, cfg)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

// add is the edit "append n to every row".
func add(n int, ids ...uint64) func(map[uint64]*draft) error {
	return func(rows map[uint64]*draft) error {
		for _, id := range ids {
			rows[id].add(n)
		}
		return nil
	}
}

// doAll starts count edits on ids and returns their answers when all are in.
func doAll(c *edits, count int, ids ...uint64) func() []error {
	var wg sync.WaitGroup
	errs := make([]error, count)
	for i := range count {
		wg.Go(func() { errs[i] = c.Do(context.Background(), ids, add(i, ids...)) })
	}
	return func() []error { wg.Wait(); return errs }
}

// bubble runs a sub-test in which all that wait are known to wait, and where a wait for
// what never comes is a failure.
func bubble(t *testing.T, name string, f func(*testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// wantWaiting lets everything go on until it waits, and counts the edits that wait for a
// commit then.
func wantWaiting(t *testing.T, c *edits, want int) {
	t.Helper()
	synctest.Wait()
	if n := c.Waiting(); n != want {
		t.Fatalf("%d edits wait, want %d", n, want)
	}
}

func TestCommitter_Do(t *testing.T) {
	bubble(t, "one edit", func(t *testing.T) {
		f := newFake()
		c := start(t, f, committer.Config{})
		if err := c.Do(t.Context(), []uint64{1, 2}, add(7, 1, 2)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(f.log(1), []int{7}) || !slices.Equal(f.log(2), []int{7}) {
			t.Errorf("rows %v %v; want 7 in both", f.log(1), f.log(2))
		}
	})
	bubble(t, "what waits goes in one commit", func(t *testing.T) {
		f := newFake()
		f.gate, f.begun = make(chan struct{}), make(chan []uint64, 10)
		c := start(t, f, committer.Config{})
		first := doAll(c, 1, 1)
		<-f.begun
		rest := doAll(c, 100, 1)
		wantWaiting(t, c, 100)
		f.gate <- struct{}{}
		<-f.begun
		f.gate <- struct{}{}
		for _, err := range append(first(), rest()...) {
			if err != nil {
				t.Error(err)
			}
		}
		if len(f.swaps) != 2 || len(f.log(1)) != 101 {
			t.Errorf("%d commits, %d edits; want 2, 101", len(f.swaps), len(f.log(1)))
		}
	})
	bubble(t, "disjoint rows go at once", func(t *testing.T) {
		f := newFake()
		f.gate, f.begun = make(chan struct{}), make(chan []uint64, 10)
		c := start(t, f, committer.Config{Workers: 2})
		a := doAll(c, 1, 1, 2)
		<-f.begun // before the other is there, or both may go in one commit
		b := doAll(c, 1, 3, 4)
		<-f.begun // both are under way though none has returned
		close(f.gate)
		if err := errors.Join(append(a(), b()...)...); err != nil {
			t.Error(err)
		}
	})
	bubble(t, "an edit that fails fails alone", func(t *testing.T) {
		f := newFake()
		c := start(t, f, committer.Config{})
		no := errors.New("no")
		bad := c.Do(t.Context(), []uint64{1}, func(map[uint64]*draft) error { return no })
		good := c.Do(t.Context(), []uint64{1}, add(1, 1))
		if !errors.Is(bad, no) || good != nil {
			t.Errorf("got %v and %v; want no and nil", bad, good)
		}
	})
	bubble(t, "a bad row fails its own edits only", func(t *testing.T) {
		f := newFake()
		f.gate, f.begun = make(chan struct{}, 100), make(chan []uint64, 100)
		f.bad[9] = true
		c := start(t, f, committer.Config{Workers: 1})
		first := doAll(c, 1, 5)
		<-f.begun
		bad, good := doAll(c, 3, 1, 9), doAll(c, 5, 1, 2)
		wantWaiting(t, c, 8)
		for range 20 {
			f.gate <- struct{}{}
		}
		for _, err := range bad() {
			if !errors.Is(err, errBad) {
				t.Errorf("edit of a bad row: got %v", err)
			}
		}
		if err := errors.Join(append(first(), good()...)...); err != nil {
			t.Errorf("edits of good rows: %v", err)
		}
		if len(f.log(1)) != 5 {
			t.Errorf("row 1 has %d edits, want 5", len(f.log(1)))
		}
	})
	bubble(t, "a row that outgrew itself refuses, others go on", func(t *testing.T) {
		f := newFake()
		f.limit = 200
		f.rows[1] = row{id: 1, ver: 1, log: make([]int, 13)}
		c := start(t, f, committer.Config{})
		if err := c.Do(t.Context(), []uint64{1, 2}, add(1, 1, 2)); !errors.Is(err, repo.ErrTooLarge) {
			t.Errorf("got %v, want too large", err)
		}
		if f.rows[2].ver != 0 {
			t.Error("the other side of a refused edit was written")
		}
	})
}

func TestCommitter_Swap(t *testing.T) {
	bubble(t, "Lost", func(t *testing.T) {
		f := newFake()
		f.lose = 3
		c := start(t, f, committer.Config{})
		if err := c.Do(t.Context(), []uint64{1}, add(1, 1)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(f.log(1), []int{1}) || f.locked != 3 {
			t.Errorf("row %v after %d locked tries; want one edit after 3", f.log(1), f.locked)
		}
	})
	bubble(t, "LostTooOften", func(t *testing.T) {
		f := newFake()
		f.lose = 1000
		c := start(t, f, committer.Config{Tries: 4})
		if err := c.Do(t.Context(), []uint64{1}, add(1, 1)); !errors.Is(err, repo.ErrConflict) {
			t.Errorf("got %v, want conflict", err)
		}
		if f.lose != 996 {
			t.Errorf("%d swaps were tried, want 4", 1000-f.lose)
		}
	})
	bubble(t, "StaleCache", func(t *testing.T) {
		f := newFake()
		f.rows[1] = row{id: 1, ver: 5, log: []int{1}}
		f.stale[1] = row{id: 1, ver: 4}
		c := start(t, f, committer.Config{})
		if err := c.Do(t.Context(), []uint64{1}, add(2, 1)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(f.log(1), []int{1, 2}) {
			t.Errorf("row %v, want [1 2]", f.log(1))
		}
	})
	bubble(t, "NoChangeOnStaleCache", func(t *testing.T) {
		f := newFake()
		f.rows[1] = row{id: 1, ver: 5, log: []int{1}}
		f.stale[1] = row{id: 1, ver: 4}
		c := start(t, f, committer.Config{})
		var seen int
		err := c.Do(t.Context(), []uint64{1}, func(rows map[uint64]*draft) error { seen = len(rows[1].log); return nil })
		if err != nil || seen != 1 {
			t.Errorf("an answer came from a stale row: saw %d, %v; want 1, nil", seen, err)
		}
	})
	bubble(t, "Unavailable", func(t *testing.T) {
		f := newFake()
		f.away = true
		c := start(t, f, committer.Config{})
		if err := c.Do(t.Context(), []uint64{1}, add(1, 1)); !errors.Is(err, repo.ErrUnavailable) {
			t.Errorf("got %v, want unavailable", err)
		}
	})
}

// An edit that needs more than Load brings is run on locked rows, and so are
// those that share its commit.
func TestCommitter_Lacks(t *testing.T) {
	f := newFake()
	c := start(t, f, committer.Config{})
	needy := func(rows map[uint64]*draft) error {
		if d := rows[1]; !d.whole {
			d.lacks = true
			return errors.New("run me again")
		}
		return add(5, 1)(rows)
	}
	if err := c.Do(t.Context(), []uint64{1}, needy); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.log(1), []int{5}) || f.locked != 1 {
		t.Errorf("row %v after %d locked tries; want [5] after one", f.log(1), f.locked)
	}
}

func TestCommitter_Bounds(t *testing.T) {
	bubble(t, "queue is full", func(t *testing.T) {
		f := newFake()
		f.gate, f.begun = make(chan struct{}), make(chan []uint64, 10)
		c := start(t, f, committer.Config{MaxQueue: 3})
		all := doAll(c, 1, 1)
		<-f.begun
		waiting := doAll(c, 3, 1)
		wantWaiting(t, c, 3)
		if err := c.Do(t.Context(), []uint64{1}, add(9, 1)); !errors.Is(err, repo.ErrUnavailable) {
			t.Errorf("got %v, want unavailable", err)
		}
		close(f.gate)
		if err := errors.Join(append(all(), waiting()...)...); err != nil {
			t.Error(err)
		}
	})
	bubble(t, "a commit has at most MaxEdits", func(t *testing.T) {
		f := newFake()
		f.gate, f.begun = make(chan struct{}, 100), make(chan []uint64, 100)
		c := start(t, f, committer.Config{MaxEdits: 10})
		all := doAll(c, 1, 1)
		<-f.begun
		rest := doAll(c, 35, 1)
		wantWaiting(t, c, 35)
		close(f.gate)
		if err := errors.Join(append(all(), rest()...)...); err != nil {
			t.Error(err)
		}
		if len(f.swaps) != 5 {
			t.Errorf("%d commits, want 1 and then 35 edits in 4", len(f.swaps))
		}
	})
	bubble(t, "heavy commits are split", func(t *testing.T) {
		f := newFake()
		f.gate, f.begun = make(chan struct{}, 100), make(chan []uint64, 100)
		c := start(t, f, committer.Config{Workers: 1, MaxBytes: 250})
		all := doAll(c, 1, 99)
		<-f.begun
		var answers []func() []error
		for id := range uint64(8) {
			answers = append(answers, doAll(c, 1, id))
		}
		wantWaiting(t, c, 8)
		close(f.gate)
		errs := all()
		for _, a := range answers {
			errs = append(errs, a()...)
		}
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
		for _, ids := range f.swaps {
			if len(ids) > 2 {
				t.Errorf("a commit of %d rows of 100 bytes under a bound of 250", len(ids))
			}
		}
	})
}

func TestCommitter_Cancel(t *testing.T) { synctest.Test(t, testCommitter_Cancel) }

func testCommitter_Cancel(t *testing.T) {
	f := newFake()
	f.gate, f.begun = make(chan struct{}), make(chan []uint64, 10)
	c := start(t, f, committer.Config{})
	underWay, cancelUnderWay := context.WithCancel(t.Context())
	waiting, cancelWaiting := context.WithCancel(t.Context())
	errs := make(chan error, 2)
	go func() { errs <- c.Do(underWay, []uint64{1}, add(1, 1)) }()
	<-f.begun
	go func() { errs <- c.Do(waiting, []uint64{1}, add(2, 1)) }()
	wantWaiting(t, c, 1)
	cancelUnderWay()
	cancelWaiting()
	for range 2 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want canceled", err)
		}
	}
	close(f.gate)
	if err := c.Do(t.Context(), []uint64{1}, add(3, 1)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.log(1), []int{1, 3}) {
		t.Errorf("row %v; want [1 3]: what was on its way goes through, what waited does not", f.log(1))
	}
}

// What follows from an edit is done once, when it is committed, in the order of the
// commits, also where its caller is gone; never for one that was not.
func TestCommitter_DoThen(t *testing.T) { synctest.Test(t, testCommitter_DoThen) }

func testCommitter_DoThen(t *testing.T) {
	var order []int // which only the one worker adds to
	then := func(n int) func() { return func() { order = append(order, n) } }
	f := newFake()
	f.gate, f.begun = make(chan struct{}), make(chan []uint64, 10)
	f.lose, f.bad[9] = 2, true
	c := committer.New[*draft, row](f, committer.Config{Workers: 1, Pause: func(context.Context, int) {}})
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { gone <- c.DoThen(ctx, []uint64{1}, add(1, 1), then(1)) }()
	<-f.begun
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want canceled", err)
	}
	go func() { gone <- c.DoThen(ctx, []uint64{1}, add(2, 1), then(2)) }() // waits, and is taken out
	<-gone
	close(f.gate)
	no := errors.New("no")
	for n, e := range []struct {
		id    uint64
		apply func(map[uint64]*draft) error
		want  error
	}{{1, add(3, 1), nil}, {9, add(4, 9), errBad}, {1, func(map[uint64]*draft) error { return no }, no}, {1, add(6, 1), nil}} {
		if err := c.DoThen(t.Context(), []uint64{e.id}, e.apply, then(n+3)); !errors.Is(err, e.want) {
			t.Errorf("edit %d: got %v, want %v", n+3, err, e.want)
		}
	}
	f.mu.Lock()
	f.away = true
	f.mu.Unlock()
	if err := c.DoThen(t.Context(), []uint64{1}, add(7, 1), then(7)); !errors.Is(err, repo.ErrUnavailable) {
		t.Errorf("edit 7: got %v, want unavailable", err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 3, 6}; !slices.Equal(order, want) || !slices.Equal(f.log(1), want) || f.lose > 0 {
		t.Errorf("done %v, row %v, want %v; %d swaps were to be lost yet", order, f.log(1), want, f.lose)
	}
}

func TestCommitter_Close(t *testing.T) { synctest.Test(t, testCommitter_Close) }

func testCommitter_Close(t *testing.T) {
	f := newFake()
	f.gate, f.begun = make(chan struct{}), make(chan []uint64, 10)
	c := committer.New[*draft, row](f, committer.Config{})
	all := doAll(c, 1, 1)
	<-f.begun
	rest := doAll(c, 20, 1)
	wantWaiting(t, c, 20)
	closed := make(chan error)
	go func() { closed <- c.Close(context.Background()) }()
	synctest.Wait()
	if err := c.Do(t.Context(), []uint64{2}, add(1, 2)); !errors.Is(err, repo.ErrUnavailable) {
		t.Errorf("after Close: got %v, want unavailable", err)
	}
	close(f.gate)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(append(all(), rest()...)...); err != nil {
		t.Errorf("edits that waited at Close: %v", err)
	}
	if len(f.log(1)) != 21 {
		t.Errorf("%d edits, want 21", len(f.log(1)))
	}
}

// Two hot rows in other hands all the time must not starve an edit of both.
func TestCommitter_Fair(t *testing.T) {
	f := newFake()
	c := start(t, f, committer.Config{Workers: 2, MaxEdits: 4})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 32 {
		id := uint64(1 + i%2)
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if err := c.Do(context.Background(), []uint64{id, uint64(100 + i)}, add(0, id, uint64(100+i))); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for n := range 50 {
		if err := c.Do(ctx, []uint64{1, 2}, add(n+1, 1, 2)); err != nil {
			t.Errorf("edit %d of both rows: %v", n, err)
			break
		}
	}
	close(stop)
	wg.Wait()
}

// Random edits of random pairs with lost swaps and cancelled callers: every
// acknowledged edit stands exactly once in both rows, in the same order.
func TestCommitter_NothingLost(t *testing.T) {
	f := newFake()
	c := start(t, f, committer.Config{Workers: 3, MaxEdits: 8})
	var wg sync.WaitGroup
	var mu sync.Mutex
	acked := map[int][2]uint64{}
	for w := range 16 {
		wg.Go(func() {
			for k := range 200 {
				n := w*1000 + k
				a, b := uint64(n%7), uint64(7+n%5)
				ctx, cancel := context.WithCancel(context.Background())
				if k%10 == 0 {
					cancel()
				}
				err := c.Do(ctx, []uint64{a, b}, add(n, a, b))
				cancel()
				if err == nil {
					mu.Lock()
					acked[n] = [2]uint64{a, b}
					mu.Unlock()
				}
				if k%50 == 0 {
					f.mu.Lock()
					f.lose++
					f.mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	for n, ids := range acked {
		for _, id := range ids {
			if times := count(f.log(id), n); times != 1 {
				t.Fatalf("edit %d stands %d times in row %d", n, times, id)
			}
		}
	}
}

func count(log []int, n int) (times int) {
	for _, v := range log {
		if v == n {
			times++
		}
	}
	return times
}

// TestCommitter_Contended lets a row lose once. The commits that follow take its
// lock first, for a while, and those of other rows do not.
func TestCommitter_Contended(t *testing.T) {
	f := newFake()
	c := start(t, f, committer.Config{Workers: 1})
	do := func(id uint64) int {
		t.Helper()
		before := f.locked
		if err := c.Do(t.Context(), []uint64{id}, func(r map[uint64]*draft) error { r[id].add(1); return nil }); err != nil {
			t.Fatal(err)
		}
		return f.locked - before
	}
	if n := do(1); n != 0 {
		t.Fatalf("%d locked tries before anything was lost, want 0", n)
	}
	f.lose = 1
	if n := do(1); n != 1 {
		t.Fatalf("%d locked tries after a lost swap, want 1", n)
	}
	if n := do(2); n != 0 {
		t.Errorf("%d locked tries for another row, want 0", n)
	}
	sum := 0
	for range 40 {
		sum += do(1)
	}
	if sum != 16 {
		t.Errorf("%d of 40 commits after the loss began with the lock, want the first 16", sum)
	}
	if got := len(f.log(1)); got != 42 {
		t.Errorf("got %d edits, want 42", got)
	}
}
