package relation_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/app"
	"kith/app/relation"
	"kith/app/relation/relationtest"
	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/list"
	rows "kith/repo/relation"
)

func TestService_Follow(t *testing.T) {
	w := newWorld(t, cachetest.Local(t), 0)
	p := w.People(4)
	a, b, c, d := p[0], p[1], p[2], p[3]
	t.Run("one way, then the other", func(t *testing.T) {
		r := w.follow(a, b)
		if words(r) != "following" || !r.ShowingReposts || r.Notify {
			t.Errorf("answer %+v", r)
		}
		w.want(b, a, "followed_by")
		w.tick()
		w.follow(b, a)
		w.want(a, b, "following followed_by")
		w.wantCounts(a, 1, 1, 1)
		w.wantCounts(b, 1, 1, 1)
	})
	t.Run("twice changes and counts nothing", func(t *testing.T) {
		w.follow(a, c)
		before := w.ver(a)
		w.follow(a, c)
		w.wantCounts(a, 1, 1, 2)
		w.wantCounts(c, 0, 1, 0)
		if w.ver(a) != before {
			t.Errorf("a repeated follow raised ver from %d to %d", before, w.ver(a))
		}
	})
	t.Run("options, on a repeated follow too", func(t *testing.T) {
		no, yes, langs := false, true, []string{"en", "de"}
		r := w.must(w.Follow(t.Context(), a, c, relation.FollowOptions{Reposts: &no, Notify: &yes, Languages: &langs}))
		if r.ShowingReposts || !r.Notify || !slices.Equal(r.Languages, langs) {
			t.Errorf("got %+v", r)
		}
		r = w.follow(a, c)
		if r.ShowingReposts || !r.Notify {
			t.Errorf("a follow without options changed them: %+v", r)
		}
		w.must(w.Unfollow(t.Context(), a, c))
		if r = w.follow(a, c); !r.ShowingReposts || r.Notify || r.Languages != nil {
			t.Errorf("options outlived the follow: %+v", r)
		}
		bad := []string{"not a code"}
		_, err := w.Follow(t.Context(), a, c, relation.FollowOptions{Languages: &bad})
		w.wantKind(err, app.Unprocessable, "Languages")
	})
	t.Run("refusals", func(t *testing.T) {
		_, err := w.Follow(t.Context(), a, a, relation.FollowOptions{})
		w.wantKind(err, app.OwnAccount, "Following your own account is not allowed")
		_, err = w.Follow(t.Context(), a, 1<<50, relation.FollowOptions{})
		w.wantKind(err, app.NotFound, "Record not found")
		_, err = w.Follow(t.Context(), 1<<50, a, relation.FollowOptions{})
		w.wantKind(err, app.NotFound, "Record not found")
		w.must(w.Block(t.Context(), d, a))
		for _, pair := range [][2]uint64{{a, d}, {d, a}} {
			_, err = w.Follow(t.Context(), pair[0], pair[1], relation.FollowOptions{})
			w.wantKind(err, app.Forbidden, "This action is not allowed")
		}
	})
	consistent(t, w.Rows, p)
}

func (w *world) ver(id uint64) uint64 {
	rows, err := w.Rows.Fresh(w.t.Context(), []uint64{id})
	if err != nil {
		w.t.Fatal(err)
	}
	return rows[id].Ver
}

func TestService_Follow_Limit(t *testing.T) {
	w := newWorld(t, cachetest.Local(t), 2)
	p := w.People(5)
	w.follow(p[0], p[1])
	w.follow(p[0], p[2])
	_, err := w.Follow(t.Context(), p[0], p[3], relation.FollowOptions{})
	w.wantKind(err, app.Limit, "You cannot follow more than 2 people")
	w.follow(p[0], p[2]) // again: no refusal, nothing new
	w.must(w.Unfollow(t.Context(), p[0], p[1]))
	w.follow(p[0], p[3])
	w.wantCounts(p[0], 0, 0, 2)
	w.follow(p[4], p[0]) // being followed has no limit
	w.lock(p[3])
	w.lock(p[0])
	w.follow(p[1], p[3])
	w.follow(p[1], p[0])
	_, err = w.Follow(t.Context(), p[1], p[2], relation.FollowOptions{})
	w.wantKind(err, app.Limit, "You cannot follow more than 2 people")
	w.must(w.Authorize(t.Context(), p[3], p[1]))
	w.must(w.Authorize(t.Context(), p[0], p[1]))
	w.wantCounts(p[1], 0, 0, 2)
}

func TestService_Unfollow(t *testing.T) {
	w := newWorld(t, cachetest.Local(t), 0)
	p := w.People(2)
	a, b := p[0], p[1]
	w.follow(a, b)
	w.follow(b, a)
	for range 2 {
		if got := words(w.must(w.Unfollow(t.Context(), a, b))); got != "followed_by" {
			t.Errorf("got %q, want followed_by", got)
		}
		w.wantCounts(a, 0, 1, 0)
		w.wantCounts(b, 0, 0, 1)
	}
	for range 2 {
		w.must(w.RemoveFollower(t.Context(), a, b))
		w.want(a, b, "")
		w.want(b, a, "")
		w.wantCounts(b, 0, 0, 0)
	}
	consistent(t, w.Rows, p)
}

func TestService_Locked(t *testing.T) {
	w := newWorld(t, cachetest.Local(t), 0)
	p := w.People(4)
	a, b, c, d := p[0], p[1], p[2], p[3]
	w.lock(b)
	for range 2 {
		if got := words(w.follow(a, b)); got != "requested" {
			t.Errorf("got %q, want requested", got)
		}
	}
	w.want(b, a, "requested_by")
	w.wantCounts(b, 0, 0, 0)
	page, err := w.Requests(t.Context(), b, relation.Range{Limit: 10})
	if err != nil || len(page.People) != 1 || page.People[0].ID != a {
		t.Errorf("requests %+v, %v; want %d", page, err, a)
	}
	if got := words(w.must(w.Authorize(t.Context(), b, a))); got != "followed_by" {
		t.Errorf("authorize: got %q", got)
	}
	w.want(a, b, "following")
	_, err = w.Authorize(t.Context(), b, a)
	w.wantKind(err, app.NotFound, "Record not found")
	w.follow(c, b)
	w.must(w.Reject(t.Context(), b, c))
	w.want(c, b, "")
	_, err = w.Reject(t.Context(), b, c)
	w.wantKind(err, app.NotFound, "Record not found")
	w.follow(d, b)
	w.must(w.Unfollow(t.Context(), d, b)) // takes the request back
	w.want(b, d, "")
	w.follow(d, b)
	w.must(w.Block(t.Context(), b, d)) // so does a block
	w.want(d, b, "blocked_by")
	consistent(t, w.Rows, p)
}

func TestService_Block(t *testing.T) {
	w := newWorld(t, cachetest.Local(t), 0)
	p := w.People(2)
	a, b := p[0], p[1]
	w.follow(a, b)
	w.follow(b, a)
	w.must(w.SetNote(t.Context(), a, b, "old friend"))
	for range 2 {
		r := w.must(w.Block(t.Context(), a, b))
		if words(r) != "blocking" || r.Note != "old friend" {
			t.Errorf("got %+v; want blocking, the note kept", r)
		}
		w.want(b, a, "blocked_by")
		w.wantCounts(a, 0, 0, 0)
		w.wantCounts(b, 0, 0, 0)
	}
	w.must(w.Block(t.Context(), b, a))
	w.want(a, b, "blocking blocked_by")
	for range 2 {
		w.must(w.Unblock(t.Context(), a, b))
		w.want(a, b, "blocked_by")
	}
	_, err := w.Block(t.Context(), a, a)
	w.wantKind(err, app.OwnAccount, "your own account")
	consistent(t, w.Rows, p)
}

func TestService_Mute(t *testing.T) {
	w := newWorld(t, cachetest.Local(t), 0)
	p := w.People(3)
	a, b, c := p[0], p[1], p[2]
	r := w.must(w.Mute(t.Context(), a, b, true, 0))
	if !r.Muting || !r.MutingNotifications || r.MutedUntil != 0 {
		t.Errorf("got %+v", r)
	}
	r = w.must(w.Mute(t.Context(), a, b, false, time.Hour))
	if !r.Muting || r.MutingNotifications || r.MutedUntil != start+3600 {
		t.Errorf("a mute said again: got %+v", r)
	}
	w.must(w.Mute(t.Context(), a, c, true, 0))
	w.Clock.Add(3600)
	w.want(a, b, "")
	w.want(a, c, "muting")
	page, err := w.Mutes(t.Context(), a, relation.Range{Limit: 10})
	if err != nil || len(page.People) != 1 || page.People[0].ID != c {
		t.Errorf("mutes %+v, %v; want %d alone", page, err, c)
	}
	w.want(b, a, "") // the other side never learns
	w.must(w.Unmute(t.Context(), a, c))
	w.want(a, c, "")
	for _, long := range []time.Duration{90 * 365 * 24 * time.Hour, (1<<32 - start) * time.Second, relation.MaxMute} {
		if r := w.must(w.Mute(t.Context(), a, b, true, long)); !r.Muting || r.MutedUntil != 1<<32-1 {
			t.Errorf("mute for %v: %+v; want until the end of the seconds", long, r)
		}
	}
	_, err = w.Mute(t.Context(), a, b, true, -time.Second)
	w.wantKind(err, app.Unprocessable, "Duration")
	_, err = w.Mute(t.Context(), a, b, true, relation.MaxMute+time.Second)
	w.wantKind(err, app.Unprocessable, "Duration")
}

func TestService_SetNote(t *testing.T) {
	w := newWorld(t, cachetest.Local(t), 0)
	p := w.People(2)
	if r := w.must(w.SetNote(t.Context(), p[0], p[1], "梅: met in Kyōto")); r.Note != "梅: met in Kyōto" {
		t.Errorf("note %q", r.Note)
	}
	if r := w.must(w.SetNote(t.Context(), p[0], p[1], "")); r.Note != "" {
		t.Errorf("note %q after it was removed", r.Note)
	}
	w.must(w.SetNote(t.Context(), p[0], p[1], strings.Repeat("梅", 2000)))
	_, err := w.SetNote(t.Context(), p[0], p[1], strings.Repeat("a", 2001))
	w.wantKind(err, app.Unprocessable, "too long")
}

func TestService_Relationships(t *testing.T) {
	w := newWorld(t, cachetest.Local(t), 0)
	p := w.People(5)
	me := p[0]
	w.follow(me, p[1])
	w.follow(p[1], me)
	w.follow(me, p[2])
	w.follow(p[3], me)
	t.Run("the four states", func(t *testing.T) {
		rels, err := w.Relationships(t.Context(), me, []uint64{p[4], p[1], 1 << 50, p[2], p[3], p[1]})
		if err != nil {
			t.Fatal(err)
		}
		got := map[uint64]string{}
		for _, r := range rels {
			got[r.ID] = words(r)
		}
		want := map[uint64]string{p[4]: "", p[1]: "following followed_by", p[2]: "following", p[3]: "followed_by"}
		if len(rels) != 4 || len(got) != 4 {
			t.Fatalf("got %v; want each account that exists once", rels)
		}
		for id, s := range want {
			if got[id] != s {
				t.Errorf("%d: %q, want %q", id, got[id], s)
			}
		}
	})
	t.Run("at most 100", func(t *testing.T) {
		_, err := w.Relationships(t.Context(), me, make([]uint64, 101))
		w.wantKind(err, app.Unprocessable, "100")
	})
}

func TestService_Pages(t *testing.T) {
	w := newWorld(t, cachetest.Local(t), 0)
	p := w.People(30)
	star := p[0]
	var want []uint64
	for _, id := range p[1:] {
		w.tick()
		w.follow(id, star)
		want = append(want, id)
	}
	for _, id := range p[5:15] { // friends do not move in the followers list
		w.tick()
		w.follow(star, id)
	}
	slices.Reverse(want)
	t.Run("followers to the end, once each, newest first", func(t *testing.T) {
		if got := w.walk(t, star, w.Followers, 7); !slices.Equal(got, want) {
			t.Errorf("got %v\nwant %v", got, want)
		}
	})
	t.Run("friends and following by when I followed", func(t *testing.T) {
		friends := slices.Clone(p[5:15])
		slices.Reverse(friends)
		if got := w.walk(t, star, w.Friends, 3); !slices.Equal(got, friends) {
			t.Errorf("friends %v\nwant %v", got, friends)
		}
		if got := w.walk(t, star, w.Following, 4); !slices.Equal(got, friends) {
			t.Errorf("following %v\nwant %v", got, friends)
		}
	})
	t.Run("a page does not move when someone new comes", func(t *testing.T) {
		first, err := w.Followers(t.Context(), 0, star, relation.Range{Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		w.tick()
		w.must(w.Unfollow(t.Context(), p[29], star))
		w.follow(p[29], star)
		next, err := w.Followers(t.Context(), 0, star, relation.Range{Before: first.Last, Limit: 5})
		if err != nil || next.People[0].ID != want[5] {
			t.Errorf("second page begins with %v, %v; want %d", next.People, err, want[5])
		}
		newer, err := w.Followers(t.Context(), 0, star, relation.Range{After: first.First, Limit: 5})
		if err != nil || len(newer.People) != 1 || newer.People[0].ID != p[29] {
			t.Errorf("newer than the first page: %v, %v; want %d", newer.People, err, p[29])
		}
	})
	t.Run("who blocks is not shown", func(t *testing.T) {
		viewer := p[3]
		w.must(w.Block(t.Context(), viewer, p[4]))
		w.must(w.Block(t.Context(), p[5], viewer))
		first, err := w.Followers(t.Context(), viewer, star, relation.Range{Before: list.Cursor{Time: uint32(start + 5), ID: 1}, Limit: 1})
		if err != nil || len(first.People) != 1 {
			t.Errorf("a page of people who are not shown: %+v, %v; want the next that are", first, err)
		}
		got := w.walkAs(t, viewer, star, w.Followers, 6)
		if slices.Contains(got, p[4]) || slices.Contains(got, p[5]) || len(got) != 27 {
			t.Errorf("%d shown, want all but those two; got %v", len(got), got)
		}
		w.must(w.Block(t.Context(), star, viewer))
		if got := w.walkAs(t, viewer, star, w.Followers, 6); len(got) != 0 {
			t.Errorf("an account that blocks me shows me %v", got)
		}
	})
	t.Run("nobody's list", func(t *testing.T) {
		_, err := w.Followers(t.Context(), 0, 1<<50, relation.Range{Limit: 5})
		w.wantKind(err, app.NotFound, "Record not found")
	})
}

// A page past many blocked people may be empty, and then leads on; nobody is left out,
// wherever the blocks stand.
func TestService_Followers_PastBlocked(t *testing.T) {
	for name, listCap := range map[string]int{"BlocksInRow": 0, "BlocksArchived": 100} {
		t.Run(name, func(t *testing.T) {
			w := &world{t: t, World: relationtest.New(t, relationtest.Config{DB: pool(t), Cache: cache.NewNone(), ListCap: listCap})}
			p := w.People(602)
			star, viewer, fans := p[0], p[1], p[2:]
			var edges []list.Edge
			for i, fan := range fans {
				edges = append(edges, list.Edge{ID: fan, Time: uint32(start + i)})
			}
			w.plant(star, func(d *rows.Draft) { d.Merge(edges) })
			var want []uint64
			w.plant(viewer, func(d *rows.Draft) {
				for i, fan := range fans {
					if i < 20 || i > 500 && i%100 == 0 {
						want = append([]uint64{fan}, want...)
						continue
					}
					d.Put(list.Blocking, fan, uint32(start+i))
				}
			})
			w.trimAll(star, viewer, listCap)
			for _, limit := range []int{1, 7, 80} {
				if got := w.walkAs(t, viewer, star, w.Followers, limit); !slices.Equal(got, want) {
					t.Errorf("by %d: got %v, want %v", limit, got, want)
				}
			}
		})
	}
}

// trimAll trims both, where there is a cap.
func (w *world) trimAll(a, b uint64, listCap int) {
	w.t.Helper()
	for _, id := range []uint64{a, b} {
		if listCap == 0 {
			continue
		}
		if _, err := w.Rows.Trim(w.t.Context(), id, listCap); err != nil {
			w.t.Fatal(err)
		}
	}
}

type pager func(ctx context.Context, viewer, owner uint64, r relation.Range) (relation.Page, error)

func (w *world) walk(t *testing.T, owner uint64, list pager, limit int) []uint64 {
	return w.walkAs(t, 0, owner, list, limit)
}

func (w *world) walkAs(t *testing.T, viewer, owner uint64, pages pager, limit int) (ids []uint64) {
	t.Helper()
	var before list.Cursor
	for range 1000 {
		p, err := pages(t.Context(), viewer, owner, relation.Range{Before: before, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		for _, person := range p.People {
			ids = append(ids, person.ID)
		}
		if !p.Full {
			return ids
		}
		before = p.Last
	}
	t.Fatal("the pages do not end")
	return nil
}

func TestService_FamiliarFollowers(t *testing.T) {
	w := newWorld(t, cachetest.Local(t), 0)
	p := w.People(5)
	me, x := p[0], p[1]
	w.follow(me, p[2])
	w.follow(me, p[3])
	w.follow(p[3], me)
	for _, id := range p[2:5] {
		w.follow(id, x)
	}
	got, err := w.FamiliarFollowers(t.Context(), me, []uint64{x, 1 << 50, p[2]})
	if err != nil || len(got) != 2 || got[0].ID != x || got[1].ID != p[2] {
		t.Fatalf("got %+v, %v", got, err)
	}
	slices.Sort(got[0].Accounts)
	if !slices.Equal(got[0].Accounts, p[2:4]) || len(got[1].Accounts) != 0 {
		t.Errorf("got %+v; want %v, and nobody", got, p[2:4])
	}
}

func TestService_Cancelled(t *testing.T) {
	w := newWorld(t, cachetest.Local(t), 0)
	p := w.People(2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Follow(ctx, p[0], p[1], relation.FollowOptions{}); app.KindOf(err) != app.Busy && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	w.follow(p[0], p[1])
	consistent(t, w.Rows, p)
}
