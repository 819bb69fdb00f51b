package relation_test

import (
	"slices"
	"testing"

	"kith/app/relation"
	"kith/app/relation/relationtest"
	"kith/repo/cache"
	"kith/repo/list"
	rows "kith/repo/relation"
)

// planted is something that the test puts into one of two rows, a's or b's.
type planted func(w *world, a, b uint64)

// follows and followed are the two halves of a's follow of b.
func follows(at uint32) planted {
	return func(w *world, a, b uint64) { w.plant(a, func(d *rows.Draft) { d.AddFollowing(b, at) }) }
}

func followed(at uint32) planted {
	return func(w *world, a, b uint64) { w.plant(b, func(d *rows.Draft) { d.AddFollower(a, at) }) }
}

// mine puts b into a section of a's row, theirs a into one of b's.
func mine(s list.Section) planted {
	return func(w *world, a, b uint64) { w.plant(a, func(d *rows.Draft) { d.Put(s, b, 5) }) }
}

func theirs(s list.Section) planted {
	return func(w *world, a, b uint64) { mine(s)(w, b, a) }
}

func friends(w *world, a, b uint64) {
	for _, p := range [][2]uint64{{a, b}, {b, a}} {
		follows(5)(w, p[0], p[1])
		followed(5)(w, p[0], p[1])
	}
}

// Each of two rows that do not agree is put right by the side that knows, and both are
// swapped, since what changes in one rests on what the other says.
func TestService_Repair(t *testing.T) {
	const friend = list.IsFollowing | list.IsFollower
	var given []relation.Change
	w := &world{t: t, World: relationtest.New(t, relationtest.Config{DB: pool(t), Cache: cache.NewNone(),
		Listeners: []func(relation.Change){func(c relation.Change) { given = append(given, c) }}})}
	for name, tt := range map[string]struct {
		plant        []planted
		repairs      bool
		isToA, isToB list.Rel
		at           uint32          // since when a follows b
		given        []relation.Kind // of what a is to b
	}{
		"nothing":                 {nil, false, 0, 0, 0, nil},
		"follow":                  {[]planted{follows(5), followed(5)}, false, list.IsFollowing, list.IsFollower, 5, nil},
		"follower's":              {[]planted{follows(5)}, true, list.IsFollowing, list.IsFollower, 5, nil},
		"followee's":              {[]planted{followed(5)}, true, 0, 0, 0, nil},
		"other time":              {[]planted{follows(5), followed(6)}, true, list.IsFollowing, list.IsFollower, 5, nil},
		"follow of a follower":    {[]planted{func(w *world, a, b uint64) { follows(9)(w, b, a); followed(9)(w, b, a) }, follows(5)}, true, friend, friend, 5, nil},
		"friends":                 {[]planted{friends}, false, friend, friend, 5, nil},
		"block":                   {[]planted{mine(list.Blocking), theirs(list.BlockedBy)}, false, list.IsBlocking, list.IsBlockedBy, 0, nil},
		"blocker's":               {[]planted{mine(list.Blocking)}, true, list.IsBlocking, list.IsBlockedBy, 0, nil},
		"blocked's":               {[]planted{theirs(list.BlockedBy)}, true, 0, 0, 0, nil},
		"blocked's of friends":    {[]planted{friends, theirs(list.BlockedBy)}, true, friend, friend, 5, nil},
		"blocker's of friends":    {[]planted{friends, mine(list.Blocking)}, true, list.IsBlocking, list.IsBlockedBy, 0, []relation.Kind{relation.Unfollowed}},
		"block of a follow":       {[]planted{follows(5), mine(list.Blocking), theirs(list.BlockedBy)}, true, list.IsBlocking, list.IsBlockedBy, 0, []relation.Kind{relation.Unfollowed}},
		"their block of a follow": {[]planted{follows(5), followed(5), theirs(list.Blocking)}, true, list.IsBlockedBy, list.IsBlocking, 0, []relation.Kind{relation.Unfollowed}},
		"request":                 {[]planted{mine(list.Requested), theirs(list.Requests)}, false, list.IsRequested, list.HasRequest, 0, nil},
		"asker's":                 {[]planted{mine(list.Requested)}, true, list.IsRequested, list.HasRequest, 0, nil},
		"asked's":                 {[]planted{theirs(list.Requests)}, true, 0, 0, 0, nil},
		"request of friends":      {[]planted{friends, mine(list.Requested), theirs(list.Requests)}, true, friend, friend, 5, []relation.Kind{relation.RequestEnded}},
		"request and block":       {[]planted{mine(list.Requested), theirs(list.Blocking)}, true, list.IsBlockedBy, list.IsBlocking, 0, []relation.Kind{relation.RequestEnded}},
		"muted":                   {[]planted{friends, mine(list.Muting)}, false, friend | list.IsMuting, friend, 5, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := w.People(2)
			a, b := p[0], p[1]
			for _, plant := range tt.plant {
				plant(w, a, b)
			}
			before := []uint64{w.ver(a), w.ver(b)}
			given = nil
			for n, want := range []bool{tt.repairs, false} {
				if got, err := w.Repair(t.Context(), a, b, rows.Settle); err != nil || got != want {
					t.Errorf("repair %d: got %v, %v, want %v", n, got, err, want)
				}
			}
			if got := []bool{w.ver(a) != before[0], w.ver(b) != before[1]}; got[0] != tt.repairs || got[1] != tt.repairs {
				t.Errorf("swapped: got %v, want %v of both", got, tt.repairs)
			}
			rowA, rowB := w.draft(a), w.draft(b)
			outAt, _ := rowA.Times(b)
			_, inAt := rowB.Times(a)
			if rowA.Rel(b) != tt.isToA || rowB.Rel(a) != tt.isToB || outAt != tt.at || inAt != tt.at {
				t.Errorf("got %b since %d and %b since %d, want %b and %b since %d", rowA.Rel(b), outAt, rowB.Rel(a), inAt, tt.isToA, tt.isToB, tt.at)
			}
			var kinds []relation.Kind
			for _, c := range given {
				if c.Act != relation.ActRepair || c.By != 0 {
					t.Errorf("given %+v, want a repair", c)
				}
				if c.Actor == a {
					kinds = append(kinds, c.Kind)
				}
			}
			if !slices.Equal(kinds, tt.given) {
				t.Errorf("given %v, want %v", kinds, tt.given)
			}
		})
	}
}

func (w *world) draft(id uint64) *rows.Draft {
	w.t.Helper()
	all, err := w.Rows.Fresh(w.t.Context(), []uint64{id})
	if err != nil {
		w.t.Fatal(err)
	}
	d, err := rows.Open(all[id])
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}
