package audit_test

import (
	"testing"

	app "kith/app/relation"
	"kith/repo/list"
	"kith/repo/relation"
)

// What the repair of a pair takes from the row of the one who follows or asks is given
// to the listeners of app/relation; a row that is rebuilt is not.
func TestRun_Changes(t *testing.T) {
	w := newWorld(t, 0)
	p := w.people(6)
	for _, other := range p[1:] {
		w.follow(other, p[0])
	}
	w.follow(p[4], p[3])
	w.follow(p[5], p[3])
	w.plant(p[1], func(d *relation.Draft) { d.Put(list.Requested, p[0], 5) })
	w.plant(p[0], func(d *relation.Draft) { d.Put(list.Requests, p[1], 5) })
	w.dropRow(p[3])
	w.changes = nil
	sum, faults := w.audit(true)
	if sum.Repaired != 1 || sum.Remain() != 1 {
		t.Errorf("got %+v, want a pair repaired and a row to rebuild", sum)
	}
	w.rebuildReported(faults)
	want := app.Change{Kind: app.RequestEnded, Actor: p[1], Target: p[0], Act: app.ActRepair, At: uint32(w.now.Unix())}
	if len(w.changes) != 1 || w.changes[0] != want {
		t.Errorf("given %+v, want %+v", w.changes, want)
	}
	w.clean()
}
