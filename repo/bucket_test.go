package repo_test

import (
	"slices"
	"testing"

	"kith/repo"
)

// Rows that were written under a bucket are only found under the same.
func TestBucket(t *testing.T) {
	for id, want := range map[uint64]uint16{1: 1, 1023: 1023, 1024: 0, 1<<40 + 5: 5, 1<<63 - 1: 1023} {
		if got := repo.Bucket(id); got != want {
			t.Errorf("%d: got %d, want %d", id, got, want)
		}
	}
	for name, want := range map[string]uint16{"": 453, "trim": 969, "affinity": 601, "u1001": 174} {
		if got := repo.NameBucket(name); got != want {
			t.Errorf("%q: got %d, want %d", name, got, want)
		}
	}
}

func TestCompareKeys(t *testing.T) {
	ids := []uint64{5, 1024, 1<<63 - 1, 1 << 20, 1029, 5}
	slices.SortFunc(ids, repo.CompareKeys)
	if want := []uint64{1024, 1 << 20, 5, 5, 1029, 1<<63 - 1}; !slices.Equal(ids, want) {
		t.Errorf("got %v, want %v", ids, want)
	}
}
