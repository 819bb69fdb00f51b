package relation_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kith/app"
	"kith/app/audit"
	"kith/app/relation"
	"kith/app/relation/relationtest"
	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/list"
)

// twin is the plain slow version of the service: what one account is to another.
type twin struct {
	p       []uint64
	locked  map[uint64]bool
	follow  map[[2]uint64]uint32
	block   map[[2]uint64]uint32
	request map[[2]uint64]uint32
	mute    map[[2]uint64]uint32
	until   map[[2]uint64]uint32
	notify  map[[2]uint64]bool
	note    map[[2]uint64]string
}

func newTwin(p []uint64) *twin {
	m := func() map[[2]uint64]uint32 { return map[[2]uint64]uint32{} }
	return &twin{p: p, locked: map[uint64]bool{}, follow: m(), block: m(), request: m(), mute: m(), until: m(), notify: map[[2]uint64]bool{}, note: map[[2]uint64]string{}}
}

func has[T any](m map[[2]uint64]T, a, b uint64) bool {
	_, ok := m[[2]uint64{a, b}]
	return ok
}

// part ends a's follow of b and its wish for one.
func (w *twin) part(a, b uint64) {
	k := [2]uint64{a, b}
	delete(w.follow, k)
	delete(w.request, k)
	delete(w.notify, k)
}

// is what b is to a.
func (w *twin) is(a, b uint64, now uint32) relation.Relationship {
	k := [2]uint64{a, b}
	r := relation.Relationship{ID: b, Following: has(w.follow, a, b), FollowedBy: has(w.follow, b, a), Blocking: has(w.block, a, b), BlockedBy: has(w.block, b, a),
		Requested: has(w.request, a, b), RequestedBy: has(w.request, b, a), Note: w.note[k]}
	if has(w.mute, a, b) && (w.until[k] == 0 || w.until[k] > now) {
		r.Muting, r.MutingNotifications, r.MutedUntil = true, true, w.until[k]
	}
	if r.Following || r.Requested {
		r.ShowingReposts, r.Notify = true, w.notify[k]
	}
	return r
}

// order returns those who stand in m at one side of id, newest first.
func order(m map[[2]uint64]uint32, id uint64, side int) (ids []uint64) {
	var all []list.Cursor
	for k, at := range m {
		if k[side] == id {
			all = append(all, list.Cursor{Time: at, ID: k[1-side]})
		}
	}
	slices.SortFunc(all, func(a, b list.Cursor) int { return b.Compare(a) })
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids
}

// friends returns those who follow id and are followed, the newest friendship first.
func (w *twin) friends(id uint64) []uint64 {
	both := map[[2]uint64]uint32{}
	for k, at := range w.follow {
		if back, ok := w.follow[[2]uint64{k[1], k[0]}]; ok {
			both[k] = max(at, back)
		}
	}
	return order(both, id, 0)
}

// Every change that an account holder can make, on rows that keep two entries of a
// section: what is asked afterwards is what the twin says, wherever it stands.
func TestService_Twin(t *testing.T) {
	for name, c := range map[string]func() cache.Cache{"NoCache": func() cache.Cache { return cache.NewNone() }, "Cache": func() cache.Cache { return cachetest.Local(t) }} {
		t.Run(name, func(t *testing.T) {
			w := &world{t: t, World: relationtest.New(t, relationtest.Config{DB: pool(t), Cache: c(), ListCap: 2})}
			twinRun(t, w, rand.New(rand.NewPCG(uint64(len(name)), 7)))
		})
	}
}

func twinRun(t *testing.T, w *world, r *rand.Rand) {
	plain := newTwin(w.People(16))
	for _, id := range plain.p[:2] {
		w.lock(id)
		plain.locked[id] = true
	}
	for step := range 500 {
		if r.IntN(3) == 0 {
			w.tick()
		}
		a, b := plain.p[r.IntN(len(plain.p))], plain.p[r.IntN(3)] // few meet many
		if r.IntN(3) == 0 {
			a, b = b, a
		}
		if a == b {
			continue
		}
		got, err := w.random(r, plain, a, b)
		if want := plain.is(a, b, uint32(w.Clock.Load())); err == nil && !equal(got, want) {
			t.Fatalf("step %d, answer about %d to %d: %+v, want %+v", step, b, a, got, want)
		}
		if r.IntN(40) == 0 {
			if _, err := w.Rows.Trim(t.Context(), plain.p[r.IntN(len(plain.p))], 1); err != nil {
				t.Fatal(err)
			}
		}
		if step%100 == 99 {
			w.equalsTwin(t, plain)
		}
	}
	sum, err := audit.Run(t.Context(), audit.Config{Rows: w.Rows, Now: w.Now, Report: func(f audit.Fault) {
		if slices.Contains(plain.p, f.Account) {
			t.Errorf("audit: %v", f)
		}
	}})
	if err != nil {
		t.Fatal(sum, err)
	}
}

func equal(a, b relation.Relationship) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) }

// random makes one change on both. What the rules refuse is refused, and changes
// nothing.
func (w *world) random(r *rand.Rand, plain *twin, a, b uint64) (got relation.Relationship, err error) {
	w.t.Helper()
	ctx, now, k, back := w.t.Context(), uint32(w.Clock.Load()), [2]uint64{a, b}, [2]uint64{b, a}
	refused := func(want bool, kind app.Kind) {
		w.t.Helper()
		if want {
			w.wantKind(err, kind, "")
		} else if err != nil {
			w.t.Fatal(err)
		}
	}
	switch r.IntN(16) {
	case 0:
		got, err = w.Unfollow(ctx, a, b)
		plain.part(a, b)
	case 1:
		got, err = w.RemoveFollower(ctx, a, b)
		delete(plain.follow, back)
		delete(plain.notify, back)
	case 2:
		got, err = w.Block(ctx, a, b)
		plain.part(a, b)
		plain.part(b, a)
		plain.block[k] = cmp.Or(plain.block[k], now)
	case 3, 4:
		got, err = w.Unblock(ctx, a, b)
		delete(plain.block, k)
	case 5, 6:
		length := time.Duration(r.IntN(2)) * time.Minute
		got, err = w.Mute(ctx, a, b, true, length)
		if plain.mute[k] = cmp.Or(plain.mute[k], now); length > 0 {
			plain.until[k] = now + 60
		} else {
			delete(plain.until, k)
		}
	case 7:
		got, err = w.Unmute(ctx, a, b)
		delete(plain.mute, k)
		delete(plain.until, k)
	case 8:
		note := fmt.Sprint(r.IntN(3))
		if note == "0" {
			note = ""
		}
		got, err = w.SetNote(ctx, a, b, note)
		plain.note[k] = note
	case 9, 10:
		got, err = w.Authorize(ctx, a, b)
		if refused(!has(plain.request, b, a), app.NotFound); err == nil {
			delete(plain.request, back)
			plain.follow[back] = now
		}
		return got, err
	case 11:
		got, err = w.Reject(ctx, a, b)
		if refused(!has(plain.request, b, a), app.NotFound); err == nil {
			plain.part(b, a)
		}
		return got, err
	default:
		notify := r.IntN(2) == 0
		got, err = w.Follow(ctx, a, b, relation.FollowOptions{Notify: &notify})
		if refused(has(plain.block, a, b) || has(plain.block, b, a), app.Forbidden); err == nil {
			plain.notify[k] = notify
			switch {
			case has(plain.follow, a, b):
			case plain.locked[b]:
				plain.request[k] = cmp.Or(plain.request[k], now)
			default:
				delete(plain.request, k)
				plain.follow[k] = now
			}
		}
		return got, err
	}
	refused(false, 0)
	return got, err
}

// equalsTwin asks everything that there is to ask.
func (w *world) equalsTwin(t *testing.T, plain *twin) {
	t.Helper()
	own := func(list func(context.Context, uint64, relation.Range) (relation.Page, error)) pager {
		return func(ctx context.Context, _, owner uint64, r relation.Range) (relation.Page, error) {
			return list(ctx, owner, r)
		}
	}
	now := uint32(w.Clock.Load())
	for _, id := range plain.p {
		followers, following := order(plain.follow, id, 1), order(plain.follow, id, 0)
		w.wantCounts(id, uint32(len(plain.friends(id))), uint32(len(followers)), uint32(len(following)))
		muted := slices.DeleteFunc(order(plain.mute, id, 0), func(o uint64) bool { return !plain.is(id, o, now).Muting })
		for name, l := range map[string]struct {
			pages pager
			want  []uint64
		}{
			"followers": {w.Followers, followers}, "following": {w.Following, following}, "friends": {w.Friends, plain.friends(id)},
			"blocks": {own(w.Blocks), order(plain.block, id, 0)}, "mutes": {own(w.Mutes), muted}, "requests": {own(w.Requests), order(plain.request, id, 1)},
		} {
			if got := w.walk(t, id, l.pages, 3); !slices.Equal(got, l.want) {
				t.Fatalf("%s of %d: got %v, want %v", name, id, got, l.want)
			}
			if name == "mutes" {
				continue // a page up from below may be empty where mutes have ended
			}
			if got := w.walkUp(t, id, l.pages, 2); !slices.Equal(got, l.want) {
				t.Fatalf("%s of %d from the oldest on: got %v, want %v", name, id, got, l.want)
			}
		}
		if n, err := w.RequestCount(t.Context(), id); err != nil || n != len(order(plain.request, id, 1)) {
			t.Fatalf("requests of %d: %d, %v", id, n, err)
		}
		rels, err := w.Relationships(t.Context(), id, plain.p)
		if err != nil || len(rels) != len(plain.p) {
			t.Fatal(rels, err)
		}
		for _, r := range rels {
			if want := plain.is(id, r.ID, now); !equal(r, want) {
				t.Fatalf("%d to %d: %+v, want %+v", r.ID, id, r, want)
			}
			w.seenBy(t, plain, id, r.ID)
		}
	}
}

// seenBy compares the followers of one account as another sees them.
func (w *world) seenBy(t *testing.T, plain *twin, viewer, owner uint64) {
	t.Helper()
	want := slices.DeleteFunc(order(plain.follow, owner, 1), func(o uint64) bool {
		return viewer != owner && (has(plain.block, viewer, o) || has(plain.block, o, viewer))
	})
	if viewer != owner && has(plain.block, owner, viewer) {
		want = nil
	}
	if got := w.walkAs(t, viewer, owner, w.Followers, 3); !slices.Equal(got, want) {
		t.Fatalf("followers of %d as %d sees them: got %v, want %v", owner, viewer, got, want)
	}
}
