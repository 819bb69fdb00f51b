package repo

import "testing"

// Steps lie in their range, do not repeat, and have the mean that they say.
func TestStep(t *testing.T) {
	const n = 20_000
	seen := make(map[uint64]bool, n)
	sum := uint64(0)
	for range n {
		s := Step()
		if s < MinStep || s >= MinStep+stepRange {
			t.Fatalf("step %d is not in [%d, %d)", s, MinStep, MinStep+stepRange)
		}
		seen[s] = true
		sum += s
	}
	// Two of n are the same about 0.4 times. Twenty times is no chance.
	if len(seen) < n-20 {
		t.Errorf("%d different of %d steps", len(seen), n)
	}
	// The mean of n steps strays by 0.4 %; five times that is no chance.
	if mean := float64(sum) / n; mean < 0.98*StepMean || mean > 1.02*StepMean {
		t.Errorf("the mean is %.0f, want about %d", mean, StepMean)
	}
}
