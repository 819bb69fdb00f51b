package committer_test

import (
	"testing"

	"kith/repo/committer"
)

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
