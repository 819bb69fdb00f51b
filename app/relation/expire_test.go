package relation_test

import (
	"testing"
	"time"

	"kith/app/relation"
	"kith/repo/cache"
)

// expire runs Expire on an account's row as it now is.
func (w *world) expire(id uint64, e relation.Expiry) relation.Expired {
	w.t.Helper()
	all, err := w.Rows.Fresh(w.t.Context(), []uint64{id})
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := w.Expire(w.t.Context(), all[id], e)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

func TestService_Expire_Mutes(t *testing.T) {
	w := newWorld(t, cache.NewNone(), 0)
	p := w.People(4)
	me, short, long, ever := p[0], p[1], p[2], p[3]
	w.follow(me, short)
	w.must(w.Mute(t.Context(), me, short, true, time.Minute))
	w.must(w.SetNote(t.Context(), me, short, "kept"))
	w.must(w.Mute(t.Context(), me, long, true, time.Hour))
	w.must(w.Mute(t.Context(), me, ever, true, 0))
	if got := w.expire(me, relation.Expiry{}); got != (relation.Expired{}) {
		t.Errorf("before any end %+v expired", got)
	}
	w.Clock.Add(60)
	stale, err := w.Rows.Fresh(t.Context(), []uint64{me})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.expire(me, relation.Expiry{Dry: true}); got.Mutes != 1 {
		t.Errorf("a dry run finds %+v, want one mute", got)
	}
	if got := w.expire(me, relation.Expiry{}); got != (relation.Expired{Mutes: 1}) {
		t.Errorf("expired %+v, want one mute", got)
	}
	if got := w.expire(me, relation.Expiry{}); got != (relation.Expired{}) {
		t.Errorf("a second time %+v expired", got)
	}
	r := w.must(w.one(me, short))
	if r.Muting || !r.Following || r.Note != "kept" {
		t.Errorf("after the mute ended: %+v, want following with the note", r)
	}
	if r := w.must(w.one(me, long)); !r.Muting || !r.MutingNotifications {
		t.Errorf("the mute that goes on: %+v", r)
	}
	w.want(me, ever, "muting")
	// What an old row says does not end a mute that was made anew.
	w.must(w.Mute(t.Context(), me, short, false, time.Hour))
	if got, err := w.Expire(t.Context(), stale[me], relation.Expiry{}); err != nil || got.Mutes != 0 {
		t.Errorf("by an old row %+v expired, %v", got, err)
	}
	w.want(me, short, "following muting")
	consistent(t, w.Rows, p)
}

func (w *world) one(a, b uint64) (relation.Relationship, error) {
	rels, err := w.Relationships(w.t.Context(), a, []uint64{b})
	if err != nil {
		return relation.Relationship{}, err
	}
	return rels[0], nil
}

func TestService_Expire_Requests(t *testing.T) {
	const day = 24 * time.Hour
	w := newWorld(t, cache.NewNone(), 0)
	p := w.People(4)
	locked, old, young, other := p[0], p[1], p[2], p[3]
	w.lock(locked)
	w.lock(other)
	w.follow(old, locked)
	w.follow(locked, other)
	w.Clock.Add(int64(day / time.Second))
	w.follow(young, locked)
	w.Clock.Add(10)
	limit := relation.Expiry{Requests: day}
	if got := w.expire(locked, relation.Expiry{}); got.Requests != 0 {
		t.Errorf("without a limit %+v expired", got)
	}
	if got := w.expire(locked, relation.Expiry{Requests: day, Dry: true}); got.Requests != 2 {
		t.Errorf("a dry run finds %+v, want the request to it and that of it", got)
	}
	w.want(locked, old, "requested_by")
	// From the side of the one who asked, then from that of the asked.
	if got := w.expire(old, limit); got.Requests != 1 {
		t.Errorf("expired %+v, want one request", got)
	}
	w.want(locked, old, "")
	w.want(old, locked, "")
	if got := w.expire(other, limit); got.Requests != 1 {
		t.Errorf("expired %+v, want one request", got)
	}
	w.want(locked, other, "")
	w.want(locked, young, "requested_by")
	if got := w.expire(locked, limit); got.Requests != 0 {
		t.Errorf("the young request: %+v expired", got)
	}
	// An old row does not end a request that was made anew.
	w.Clock.Add(int64(day / time.Second))
	stale, err := w.Rows.Fresh(t.Context(), []uint64{locked})
	if err != nil {
		t.Fatal(err)
	}
	w.must(w.Unfollow(t.Context(), young, locked))
	w.follow(young, locked)
	if got, err := w.Expire(t.Context(), stale[locked], limit); err != nil || got.Requests != 0 {
		t.Errorf("by an old row %+v expired, %v", got, err)
	}
	w.want(young, locked, "requested")
	consistent(t, w.Rows, p)
}
