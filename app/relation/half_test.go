package relation_test

import (
	"testing"

	"kith/repo/cache"
	"kith/repo/list"
	rows "kith/repo/relation"
)

// plant gives one row an edge that the other lacks.
func (w *world) plant(id uint64, edit func(*rows.Draft)) {
	w.t.Helper()
	d := w.draft(id)
	edit(d)
	r, err := d.Pack(1, 0, 2)
	if err != nil {
		w.t.Fatal(err)
	}
	if won, err := w.Rows.Swap(w.t.Context(), []rows.Row{r}); !won || err != nil {
		w.t.Fatal(won, err)
	}
}

// A change that meets a half edge leaves a whole one, with the time that was
// there, or none.
func TestService_HalfEdge(t *testing.T) {
	w := newWorld(t, cache.NewNone(), 0)
	for name, plant := range map[string]func(a, b uint64){
		"follower's side": func(a, b uint64) { w.plant(a, func(d *rows.Draft) { d.AddFollowing(b, 77) }) },
		"followee's side": func(a, b uint64) { w.plant(b, func(d *rows.Draft) { d.AddFollower(a, 77) }) },
	} {
		t.Run("follow, "+name, func(t *testing.T) {
			p := w.People(2)
			plant(p[0], p[1])
			before := []uint64{w.ver(p[0]), w.ver(p[1])}
			w.follow(p[0], p[1])
			consistent(t, w.Rows, p)
			w.want(p[0], p[1], "following")
			all, err := w.Rows.Fresh(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			v, err := all[p[0]].View()
			if err != nil {
				t.Fatal(err)
			}
			if mine, _, _ := entry(v, list.Following, p[1]); mine != 77 {
				t.Errorf("time %d, want the 77 that was there", mine)
			}
			if all[p[0]].Ver == before[0] || all[p[1]].Ver == before[1] {
				t.Errorf("vers %d and %d, and %d before: a repair must swap both rows", all[p[0]].Ver, all[p[1]].Ver, before)
			}
		})
		t.Run("unfollow, "+name, func(t *testing.T) {
			p := w.People(2)
			plant(p[0], p[1])
			w.must(w.Unfollow(t.Context(), p[0], p[1]))
			consistent(t, w.Rows, p)
			w.want(p[1], p[0], "")
			w.wantCounts(p[0], 0, 0, 0)
			w.wantCounts(p[1], 0, 0, 0)
		})
	}
}
