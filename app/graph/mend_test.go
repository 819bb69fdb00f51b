package graph

import (
	"testing"

	"kith/repo/list"
	"kith/repo/relation"
)

// TestMendPair: both rows are swapped wherever one of them has to change, since
// the change rests on what the other says.
func TestMendPair(t *testing.T) {
	const a, b = 1, 2
	type draft = *relation.Draft
	follows := func(at uint32) func(a, b draft) { return func(d, _ draft) { d.AddFollowing(b, at) } }
	followed := func(at uint32) func(a, b draft) { return func(_, d draft) { d.AddFollower(a, at) } }
	tests := map[string]struct {
		edits []func(a, b draft)
		mends bool
		want  uint32 // since when the edge stands in both, 0: in none
	}{
		"none":         {nil, false, 0},
		"whole":        {[]func(a, b draft){follows(5), followed(5)}, false, 5},
		"follower's":   {[]func(a, b draft){follows(5)}, true, 5},
		"followee's":   {[]func(a, b draft){followed(5)}, true, 0},
		"other time":   {[]func(a, b draft){follows(5), followed(6)}, true, 5},
		"friends":      {[]func(a, b draft){follows(5), func(a, b draft) { b.AddFollowing(1, 9); a.AddFollower(2, 9) }}, true, 5},
		"blocked":      {[]func(a, b draft){follows(5), func(a, b draft) { a.Put(list.Blocking, 2, 1); b.Put(list.BlockedBy, 1, 1) }}, true, 0},
		"half blocked": {[]func(a, b draft){follows(5), followed(5), func(_, b draft) { b.Put(list.Blocking, 1, 1) }}, true, 0},
		"block alone":  {[]func(a, b draft){func(a, b draft) { a.Put(list.Blocking, 2, 1) }}, false, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rowA, rowB := open(t, relation.Absent(a)), open(t, relation.Absent(b))
			for _, edit := range tt.edits {
				edit(rowA, rowB)
			}
			rowA, rowB = repacked(t, rowA), repacked(t, rowB)
			if got := mendPair(rowA, rowB); got != tt.mends || rowA.Changed() != tt.mends || rowB.Changed() != tt.mends {
				t.Errorf("got mended %v, changed %v and %v; want %v", got, rowA.Changed(), rowB.Changed(), tt.mends)
			}
			outAt, _ := rowA.Times(b)
			_, inAt := rowB.Times(a)
			if outAt != tt.want || inAt != tt.want {
				t.Errorf("got times %d and %d, want %d", outAt, inAt, tt.want)
			}
			if mendPair(repacked(t, rowA), repacked(t, rowB)) {
				t.Error("got mended twice")
			}
		})
	}
}

func open(t *testing.T, r relation.Row) *relation.Draft {
	t.Helper()
	d, err := relation.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// repacked is a draft as it is read back.
func repacked(t *testing.T, d *relation.Draft) *relation.Draft {
	t.Helper()
	r, err := d.Pack(1)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, r)
}
