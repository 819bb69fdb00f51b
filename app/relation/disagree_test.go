package relation_test

import (
	"testing"

	"kith/app/relation/relationtest"
	"kith/repo/cache"
	"kith/repo/list"
	rows "kith/repo/relation"
)

// Two rows hold an edge, with other times or in other sections, and one of them in
// the archive: an import was broken off, or a commit reached one shard only.
// Whatever comes next leaves the edge in both rows or in neither, once.
func TestService_ArchiveDisagrees(t *testing.T) {
	type places struct{ star, fan uint64 }
	plants := map[string]func(w *world, p places){
		"OtherTime": func(w *world, p places) {
			w.plant(p.star, func(d *rows.Draft) { d.AddFollower(p.fan, 5) })
			w.plant(p.fan, func(d *rows.Draft) { d.AddFollowing(p.star, 7) })
		},
		"FriendHere": func(w *world, p places) {
			w.plant(p.star, func(d *rows.Draft) { d.AddFollower(p.fan, 5); d.AddFollowing(p.fan, 6) })
			w.plant(p.fan, func(d *rows.Draft) { d.AddFollowing(p.star, 5) })
		},
		"FriendThere": func(w *world, p places) {
			w.plant(p.star, func(d *rows.Draft) { d.AddFollower(p.fan, 5) })
			w.plant(p.fan, func(d *rows.Draft) { d.AddFollowing(p.star, 7); d.AddFollower(p.star, 8) })
		},
		"OtherTimeOfBlock": func(w *world, p places) {
			w.plant(p.star, func(d *rows.Draft) { d.Put(list.BlockedBy, p.fan, 5) })
			w.plant(p.fan, func(d *rows.Draft) { d.Put(list.Blocking, p.star, 7) })
		},
		"OtherTimeOfRequest": func(w *world, p places) {
			w.plant(p.star, func(d *rows.Draft) { d.Put(list.Requests, p.fan, 5) })
			w.plant(p.fan, func(d *rows.Draft) { d.Put(list.Requested, p.star, 7) })
		},
	}
	changes := map[string]struct {
		do        func(w *world, p places)
		following bool
	}{
		"Unfollow": {do: func(w *world, p places) { w.must(w.Unfollow(t.Context(), p.fan, p.star)) }},
		"Remove":   {do: func(w *world, p places) { w.must(w.RemoveFollower(t.Context(), p.star, p.fan)) }},
		"Block": {do: func(w *world, p places) {
			w.must(w.Block(t.Context(), p.fan, p.star))
			w.must(w.Unblock(t.Context(), p.fan, p.star))
		}},
		"Refollow": {do: func(w *world, p places) {
			w.must(w.Unblock(t.Context(), p.fan, p.star))
			w.must(w.Unfollow(t.Context(), p.fan, p.star))
			w.follow(p.fan, p.star)
		}, following: true},
		"UnfollowAndRefollowByStar": {do: func(w *world, p places) {
			w.must(w.Unblock(t.Context(), p.fan, p.star))
			w.must(w.RemoveFollower(t.Context(), p.star, p.fan))
			w.must(w.Unfollow(t.Context(), p.star, p.fan))
			w.follow(p.fan, p.star)
		}, following: true},
	}
	for name, plant := range plants {
		for change, c := range changes {
			for _, trimmed := range []string{"star", "fan", "both"} {
				t.Run(name+"/"+change+"/"+trimmed, func(t *testing.T) {
					w := &world{t: t, World: relationtest.New(t, relationtest.Config{DB: pool(t), Cache: cache.NewNone()})}
					people := w.People(6)
					p := places{people[0], people[1]}
					plant(w, p)
					for _, other := range people[2:] { // newer entries, which stay in the rows
						w.follow(other, p.star)
						w.follow(p.fan, other)
						w.tick()
					}
					if trimmed != "fan" {
						w.cut(p.star)
					}
					if trimmed != "star" {
						w.cut(p.fan)
					}
					c.do(w, p)
					followers := uint32(4)
					if c.following {
						followers++
					}
					if got := w.walk(t, p.star, w.Followers, 2); uint32(len(got)) != followers {
						t.Errorf("followers of the star: %v, want %d", got, followers)
					}
					w.wantFollowers(p.star, followers)
					if r := w.must(w.one(p.fan, p.star)); r.Following != c.following {
						t.Errorf("got %+v, want following %v", r, c.following)
					}
				})
			}
		}
	}
}

// cut moves all but one entry of each section to the archive.
func (w *world) cut(id uint64) {
	w.t.Helper()
	if _, err := w.Rows.Trim(w.t.Context(), id, 1); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) wantFollowers(id uint64, want uint32) {
	w.t.Helper()
	c, err := w.Counts(w.t.Context(), []uint64{id})
	if err != nil || c[0].Followers != want {
		w.t.Errorf("followers of %d: %+v, %v; want %d", id, c, err, want)
	}
}
