package relation_test

import (
	"testing"

	"kith/app/relation"
	"kith/repo/list"
	rows "kith/repo/relation"
)

// TestMendEdge: both rows are swapped wherever one of them has to change, since
// the change rests on what the other says.
func TestMendEdge(t *testing.T) {
	const a, b = 1, 2
	type draft = *rows.Draft
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
			rowA, rowB := open(t, rows.Absent(a)), open(t, rows.Absent(b))
			for _, edit := range tt.edits {
				edit(rowA, rowB)
			}
			rowA, rowB = repacked(t, rowA), repacked(t, rowB)
			if got := relation.MendEdge(rowA, rowB); got != tt.mends || rowA.Changed() != tt.mends || rowB.Changed() != tt.mends {
				t.Errorf("got mended %v, changed %v and %v; want %v", got, rowA.Changed(), rowB.Changed(), tt.mends)
			}
			outAt, _ := rowA.Times(b)
			_, inAt := rowB.Times(a)
			if outAt != tt.want || inAt != tt.want {
				t.Errorf("got times %d and %d, want %d", outAt, inAt, tt.want)
			}
			if relation.MendEdge(repacked(t, rowA), repacked(t, rowB)) {
				t.Error("got mended twice")
			}
		})
	}
}

// TestMend: blocks, follows and requests, each with the side that knows.
func TestMend(t *testing.T) {
	const a, b = 1, 2
	type draft = *rows.Draft
	type edits []func(a, b draft)
	put := func(mine bool, s list.Section) func(a, b draft) {
		return func(rowA, rowB draft) {
			if mine {
				rowA.Put(s, b, 5)
			} else {
				rowB.Put(s, a, 5)
			}
		}
	}
	friends := func(rowA, rowB draft) {
		rowA.AddFollowing(b, 5)
		rowA.AddFollower(b, 6)
		rowB.AddFollowing(a, 6)
		rowB.AddFollower(a, 5)
	}
	const friend = list.IsFollowing | list.IsFollower
	tests := map[string]struct {
		edits edits
		mends bool
		isToA list.Rel
		isToB list.Rel
	}{
		"none":                 {nil, false, 0, 0},
		"friends":              {edits{friends}, false, friend, friend},
		"block":                {edits{put(true, list.Blocking), put(false, list.BlockedBy)}, false, list.IsBlocking, list.IsBlockedBy},
		"blocker's":            {edits{put(true, list.Blocking)}, true, list.IsBlocking, list.IsBlockedBy},
		"blocked's":            {edits{put(false, list.BlockedBy)}, true, 0, 0},
		"blocked's of friends": {edits{friends, put(false, list.BlockedBy)}, true, friend, friend},
		"blocker's of friends": {edits{friends, put(true, list.Blocking)}, true, list.IsBlocking, list.IsBlockedBy},
		"request":              {edits{put(true, list.Requested), put(false, list.Requests)}, false, list.IsRequested, list.HasRequest},
		"asker's":              {edits{put(true, list.Requested)}, true, list.IsRequested, list.HasRequest},
		"asked's":              {edits{put(false, list.Requests)}, true, 0, 0},
		"request of friends":   {edits{friends, put(true, list.Requested), put(false, list.Requests)}, true, friend, friend},
		"request and block":    {edits{put(true, list.Requested), put(false, list.Blocking)}, true, list.IsBlockedBy, list.IsBlocking},
		"muted":                {edits{friends, put(true, list.Muting)}, false, friend | list.IsMuting, friend},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rowA, rowB := open(t, rows.Absent(a)), open(t, rows.Absent(b))
			for _, edit := range tt.edits {
				edit(rowA, rowB)
			}
			rowA, rowB = repacked(t, rowA), repacked(t, rowB)
			if got := relation.Mend(rowA, rowB); got != tt.mends || rowA.Changed() != tt.mends || rowB.Changed() != tt.mends {
				t.Errorf("got mended %v, changed %v and %v; want %v", got, rowA.Changed(), rowB.Changed(), tt.mends)
			}
			if rowA.Rel(b) != tt.isToA || rowB.Rel(a) != tt.isToB {
				t.Errorf("got %b and %b, want %b and %b", rowA.Rel(b), rowB.Rel(a), tt.isToA, tt.isToB)
			}
			if relation.Mend(repacked(t, rowA), repacked(t, rowB)) {
				t.Error("got mended twice")
			}
		})
	}
}

func open(t *testing.T, r rows.Row) *rows.Draft {
	t.Helper()
	d, err := rows.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// repacked is a draft as it is read back.
func repacked(t *testing.T, d *rows.Draft) *rows.Draft {
	t.Helper()
	r, err := d.Pack(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, r)
}
