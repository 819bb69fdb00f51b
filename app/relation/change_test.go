package relation_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/app/relation"
	"kith/app/relation/relationtest"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/dbtest"
	"kith/repo/list"
	rows "kith/repo/relation"
)

// stream takes the changes that listeners are given.
type stream struct {
	mu  sync.Mutex
	all []relation.Change
}

func (s *stream) take(c relation.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, c)
}

// drain returns what has come since the last call.
func (s *stream) drain() []relation.Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.all = nil }()
	return s.all
}

// newStreamWorld is a world whose service gives its changes to a stream.
func newStreamWorld(t *testing.T, listCap int) (*world, *stream) {
	t.Helper()
	s := &stream{}
	return &world{t: t, World: relationtest.New(t, relationtest.Config{DB: pool(t), Cache: cache.NewNone(),
		ListCap: listCap, Listeners: []func(relation.Change){s.take}})}, s
}

// fact is something that one account is to another: it follows, asks, blocks or mutes.
type fact struct {
	kind          relation.Kind // which begins it
	actor, target uint64
}

// begins names for each end what it ends.
var begins = map[relation.Kind]relation.Kind{relation.Unfollowed: relation.Followed, relation.RequestEnded: relation.Requested,
	relation.Unblocked: relation.Blocked, relation.Unmuted: relation.Muted}

// model is the plain version of rows: all facts, and since when they are so.
type model map[fact]uint32

// apply brings a change into the model. What begins must not be there, what ends must.
func (m model) apply(c relation.Change) error {
	begin, ends := begins[c.Kind]
	f := fact{c.Kind, c.Actor, c.Target}
	if ends {
		f.kind = begin
	}
	if _, there := m[f]; there != ends {
		return fmt.Errorf("given %+v where %v is there: %v", c, f, there)
	}
	if ends {
		delete(m, f)
	} else {
		m[f] = c.At
	}
	return nil
}

// modelOf reads the facts of accounts from their rows and archives.
func (w *world) modelOf(ids []uint64) model {
	w.t.Helper()
	m := model{}
	for _, id := range ids {
		row, err := w.Rows.Row(w.t.Context(), id)
		if err != nil {
			w.t.Fatal(err)
		}
		for kind, o := range map[relation.Kind]list.Order{relation.Followed: list.ByFollowing, relation.Requested: list.ByRequested,
			relation.Blocked: list.ByBlocking, relation.Muted: list.ByMuting} {
			page, err := w.Rows.Page(w.t.Context(), row, o, list.Range{Limit: 100})
			if err != nil {
				w.t.Fatal(err)
			}
			for _, e := range page {
				m[fact{kind, id, e.ID}] = e.Time
			}
		}
	}
	return m
}

// do makes one of the changes that an account holder can make, or one of the service's
// own. Refusals change nothing.
func (w *world) do(ctx context.Context, s *relation.Service, what int, a, b uint64) error {
	var err error
	switch what {
	case 0, 1, 2, 3:
		_, _ = s.Follow(ctx, a, b, relation.FollowOptions{}) // refused where one blocks
	case 4:
		_, err = s.Unfollow(ctx, a, b)
	case 5:
		_, err = s.RemoveFollower(ctx, a, b)
	case 6, 7:
		_, _ = s.Authorize(ctx, a, b) // refused where nobody asked
	case 8:
		_, _ = s.Reject(ctx, a, b)
	case 9:
		_, err = s.Block(ctx, a, b)
	case 10, 11:
		_, err = s.Unblock(ctx, a, b)
	case 12:
		_, err = s.Mute(ctx, a, b, true, 0)
	case 13:
		_, err = s.Mute(ctx, a, b, true, time.Second)
	case 14:
		_, err = s.Unmute(ctx, a, b)
	case 15:
		_, err = s.SetNote(ctx, a, b, "a note")
	case 16:
		var row rows.Row
		if row, err = w.Rows.Row(ctx, a); err == nil {
			_, err = s.Expire(ctx, row, relation.Expiry{Requests: 3 * time.Second})
		}
	case 17:
		_, err = s.Repair(ctx, a, b, rows.Settle)
	}
	return err
}

const acts = 18

// What each act gives, and that nothing is given where nothing changes.
func TestService_Changes(t *testing.T) {
	w, s := newStreamWorld(t, 0)
	p := w.People(3)
	a, b, locked := p[0], p[1], p[2]
	w.lock(locked)
	ctx, now := t.Context(), uint32(w.Clock.Load())
	yes := true
	change := func(k relation.Kind, actor, target uint64, act relation.Act, by uint64) relation.Change {
		return relation.Change{Kind: k, Actor: actor, Target: target, Act: act, By: by, At: now}
	}
	expire := func(id uint64) error {
		row, err := w.Rows.Row(ctx, id)
		if err != nil {
			return err
		}
		_, err = w.Expire(ctx, row, relation.Expiry{Requests: time.Hour})
		return err
	}
	answer := func(_ relation.Relationship, err error) error { return err }
	follow := func(a, b uint64) error { return answer(w.Follow(ctx, a, b, relation.FollowOptions{Notify: &yes})) }
	for _, step := range []struct {
		name string
		do   func() error
		want []relation.Change
	}{
		{"follow", func() error { return follow(a, b) }, []relation.Change{change(relation.Followed, a, b, relation.ActFollow, a)}},
		{"follow again", func() error { return follow(a, b) }, nil},
		{"follow back", func() error { return follow(b, a) }, []relation.Change{change(relation.Followed, b, a, relation.ActFollow, b)}},
		{"ask", func() error { return follow(a, locked) }, []relation.Change{change(relation.Requested, a, locked, relation.ActFollow, a)}},
		{"ask again", func() error { return follow(a, locked) }, nil},
		{"accept", func() error { return answer(w.Authorize(ctx, locked, a)) }, []relation.Change{
			change(relation.Followed, a, locked, relation.ActAuthorize, locked), change(relation.RequestEnded, a, locked, relation.ActAuthorize, locked)}},
		{"remove", func() error { return answer(w.RemoveFollower(ctx, locked, a)) }, []relation.Change{change(relation.Unfollowed, a, locked, relation.ActRemoveFollower, locked)}},
		{"remove again", func() error { return answer(w.RemoveFollower(ctx, locked, a)) }, nil},
		{"ask b", func() error { return follow(b, locked) }, []relation.Change{change(relation.Requested, b, locked, relation.ActFollow, b)}},
		{"reject", func() error { return answer(w.Reject(ctx, locked, b)) }, []relation.Change{change(relation.RequestEnded, b, locked, relation.ActReject, locked)}},
		{"ask c", func() error { return follow(b, locked) }, []relation.Change{change(relation.Requested, b, locked, relation.ActFollow, b)}},
		{"withdraw", func() error { return answer(w.Unfollow(ctx, b, locked)) }, []relation.Change{change(relation.RequestEnded, b, locked, relation.ActUnfollow, b)}},
		{"note", func() error { return answer(w.SetNote(ctx, a, b, "a note")) }, nil},
		{"mute", func() error { return answer(w.Mute(ctx, a, b, true, 0)) }, []relation.Change{change(relation.Muted, a, b, relation.ActMute, a)}},
		{"longer", func() error { return answer(w.Mute(ctx, a, b, true, time.Hour)) }, nil},
		{"unmute", func() error { return answer(w.Unmute(ctx, a, b)) }, []relation.Change{change(relation.Unmuted, a, b, relation.ActUnmute, a)}},
		{"block", func() error { return answer(w.Block(ctx, b, a)) }, []relation.Change{
			change(relation.Unfollowed, b, a, relation.ActBlock, b), change(relation.Unfollowed, a, b, relation.ActBlock, b), change(relation.Blocked, b, a, relation.ActBlock, b)}},
		{"block again", func() error { return answer(w.Block(ctx, b, a)) }, nil},
		{"unblock", func() error { return answer(w.Unblock(ctx, b, a)) }, []relation.Change{change(relation.Unblocked, b, a, relation.ActUnblock, b)}},
		{"ask d", func() error { return follow(b, locked) }, []relation.Change{change(relation.Requested, b, locked, relation.ActFollow, b)}},
		{"mute for a minute", func() error { return answer(w.Mute(ctx, b, locked, true, time.Minute)) }, []relation.Change{change(relation.Muted, b, locked, relation.ActMute, b)}},
		{"expire at once", func() error { return expire(b) }, nil},
		{"expire", func() error { w.Clock.Add(7200); return expire(b) }, []relation.Change{
			{Kind: relation.Unmuted, Actor: b, Target: locked, Act: relation.ActExpire, At: now + 7200},
			{Kind: relation.RequestEnded, Actor: b, Target: locked, Act: relation.ActExpire, At: now + 7200}}},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := s.drain(); !slices.Equal(got, step.want) {
			t.Errorf("%s: given %+v, want %+v", step.name, got, step.want)
		}
	}
	_, err := w.Follow(ctx, a, 1<<50, relation.FollowOptions{})
	if got := s.drain(); err == nil || len(got) > 0 {
		t.Errorf("refused: given %v, %v", got, err)
	}
}

// Whatever is done, the changes bring a plain model to where the rows are, archives
// included, without a beginning or an end that comes twice.
func TestService_Changes_Model(t *testing.T) {
	for name, listCap := range map[string]int{"Rows": 0, "Archives": 2} {
		t.Run(name, func(t *testing.T) {
			w, s := newStreamWorld(t, listCap)
			rapid.Check(t, func(rt *rapid.T) {
				p := w.People(5)
				w.lock(p[0])
				m := model{}
				for range rapid.IntRange(1, 40).Draw(rt, "steps") {
					a, b := rapid.SampledFrom(p).Draw(rt, "a"), rapid.SampledFrom(p).Draw(rt, "b")
					if a == b {
						w.Clock.Add(2)
						continue
					}
					if what := rapid.IntRange(0, acts+1).Draw(rt, "act"); what < acts {
						if err := w.do(t.Context(), w.Service, what, a, b); err != nil {
							rt.Fatal(err)
						}
					} else if listCap == 0 { // a half edge, as a crash between shards leaves it
						w.half(m, what == acts, a, b)
					} else if _, err := w.Rows.Trim(t.Context(), a, 1); err != nil {
						rt.Fatal(err)
					}
					for _, c := range s.drain() {
						if err := m.apply(c); err != nil {
							rt.Fatal(err)
						}
					}
				}
				if got := w.modelOf(p); !maps.Equal(got, m) {
					rt.Fatalf("the rows say %v, the changes %v", got, m)
				}
			})
		})
	}
}

// half puts a's follow of b into one of the two rows, which no listener learns.
func (w *world) half(m model, own bool, a, b uint64) {
	at := uint32(w.Clock.Load())
	if !own {
		w.plant(b, func(d *rows.Draft) { d.AddFollower(a, at); d.Touch() })
		return
	}
	w.plant(a, func(d *rows.Draft) { d.AddFollowing(b, at); d.Touch() })
	if _, there := m[fact{relation.Followed, a, b}]; !there {
		m[fact{relation.Followed, a, b}] = at
	}
}

// Many who change the same rows of one process at once: the changes come in the order
// of the commits.
func TestService_Changes_Order(t *testing.T) {
	w, s := newStreamWorld(t, 0)
	p := w.People(4)
	w.lock(p[0])
	w.crowd([]*relation.Service{w.Service}, p, 60)
	m := model{}
	for _, c := range s.drain() {
		if err := m.apply(c); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.modelOf(p); !maps.Equal(got, m) {
		t.Errorf("the rows say %v, the changes %v", got, m)
	}
}

// crowd lets eight clients of each service make so many changes each.
func (w *world) crowd(services []*relation.Service, p []uint64, each int) {
	w.t.Helper()
	var wg sync.WaitGroup
	for n := range 8 * len(services) {
		wg.Go(func() {
			for i := range each {
				a, b := (n+i)%len(p), (n*7+i*5+1)%len(p)
				if a == b {
					continue
				}
				if err := w.do(w.t.Context(), services[n%len(services)], (n*5+i*11)%acts, p[a], p[b]); err != nil {
					w.t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// Two processes that take each other's swaps: of each fact beginnings and ends, over
// both, come to what the rows say, so none is given for a lost try and none is missing.
func TestService_Changes_LostSwaps(t *testing.T) {
	w, s := newStreamWorld(t, 0)
	var lost atomic.Int64
	pause := func(context.Context, int) { lost.Add(1) }
	var services []*relation.Service
	for range 2 {
		store := rows.New(pool(t), cache.NewNone(), 0, w.Now)
		edits := committer.New(store, committer.Config{Pause: pause})
		t.Cleanup(func() { edits.Close(context.Background()) })
		services = append(services, relation.New(relation.Config{Rows: store, Committer: edits, Accounts: w.Accounts, Now: w.Now,
			Listeners: []func(relation.Change){s.take}}))
	}
	p := w.People(4)
	w.lock(p[0])
	for round := 0; lost.Load() == 0; round++ {
		if round == 20 {
			t.Fatal("no swap was lost")
		}
		w.crowd(services, p, 60)
	}
	there := map[fact]int{}
	for _, c := range s.drain() {
		if begin, ends := begins[c.Kind]; ends {
			there[fact{begin, c.Actor, c.Target}]--
		} else {
			there[fact{c.Kind, c.Actor, c.Target}]++
		}
	}
	maps.DeleteFunc(there, func(_ fact, n int) bool { return n == 0 })
	for f := range w.modelOf(p) {
		if there[f]--; there[f] == 0 {
			delete(there, f)
		}
	}
	if len(there) > 0 {
		t.Errorf("given beyond what the rows say: %v, after %d lost swaps", there, lost.Load())
	}
}

// A commit whose answer is lost and that the rows show to have taken effect is given
// once.
func TestService_Changes_UnknownOutcome(t *testing.T) {
	w, s := newStreamWorld(t, 0)
	lossy := dbtest.NewLossy(t, dbtest.DSN(t))
	store := rows.New(poolOn(t, lossy.DSN), cache.NewNone(), 0, w.Now)
	edits := committer.New(store, committer.Config{})
	t.Cleanup(func() { edits.Close(context.Background()) })
	service := relation.New(relation.Config{Rows: store, Committer: edits, Accounts: account.New(pool(t), cache.NewNone()), Now: w.Now,
		Listeners: []func(relation.Change){s.take}})
	p := w.People(2)
	lossy.Lose("INSERT INTO relation")
	if _, err := service.Follow(t.Context(), p[0], p[1], relation.FollowOptions{}); err != nil || !lossy.Lost() {
		t.Fatalf("got %v, answer lost: %v", err, lossy.Lost())
	}
	want := []relation.Change{{Kind: relation.Followed, Actor: p[0], Target: p[1], Act: relation.ActFollow, By: p[0], At: uint32(w.Clock.Load())}}
	if got := s.drain(); !slices.Equal(got, want) {
		t.Errorf("given %v, want %v", got, want)
	}
	w.want(p[0], p[1], "following")
}

// A listener that panics costs nobody else anything: the caller is answered, the other
// listeners get the change, and the worker goes on.
func TestService_Changes_Panic(t *testing.T) {
	var log strings.Builder
	s := &stream{}
	w := &world{t: t, World: relationtest.New(t, relationtest.Config{DB: pool(t), Cache: cache.NewNone(), Log: slog.New(slog.NewTextHandler(&log, nil)),
		Listeners: []func(relation.Change){func(relation.Change) { panic("a bug") }, s.take}})}
	p := w.People(2)
	w.follow(p[0], p[1])
	w.must(w.Unfollow(t.Context(), p[0], p[1]))
	var got []relation.Kind
	for _, c := range s.drain() {
		got = append(got, c.Kind)
	}
	if want := []relation.Kind{relation.Followed, relation.Unfollowed}; !slices.Equal(got, want) {
		t.Errorf("given %v, want %v", got, want)
	}
	if n := strings.Count(log.String(), "a listener panicked"); n != 2 || !strings.Contains(log.String(), "a bug") {
		t.Errorf("logged %q, want both panics", log.String())
	}
}
