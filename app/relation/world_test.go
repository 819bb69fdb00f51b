package relation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"kith/app"
	"kith/app/relation"
	"kith/app/relation/relationtest"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/list"
	rows "kith/repo/relation"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// world is a service over the real database of this package.
type world struct {
	*relationtest.World
	t *testing.T
}

const start = relationtest.Start

func newWorld(t *testing.T, c cache.Cache, limit int) *world {
	t.Helper()
	return &world{t: t, World: relationtest.New(t, relationtest.Config{DB: pool(t), Cache: c, FollowingLimit: limit})}
}

func pool(t testing.TB) *sqlx.DB {
	t.Helper()
	return poolOn(t, dbtest.DSN(t))
}

func poolOn(t testing.TB, dsn string) *sqlx.DB {
	t.Helper()
	return dbtest.Open(t, db.Config{DSN: dsn, MaxOpen: 64})
}

func (w *world) lock(id uint64) {
	w.t.Helper()
	if _, err := w.Accounts.SetLocked(w.t.Context(), id, true); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) must(r relation.Relationship, err error) relation.Relationship {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) follow(a, b uint64) relation.Relationship {
	w.t.Helper()
	return w.must(w.Follow(w.t.Context(), a, b, relation.FollowOptions{}))
}

// tick moves the clock, so that the next change is newer.
func (w *world) tick() { w.Clock.Add(1) }

// state writes what b is to a as words, from a's row alone.
func (w *world) state(a, b uint64) string {
	w.t.Helper()
	rels, err := w.Relationships(w.t.Context(), a, []uint64{b})
	if err != nil || len(rels) != 1 {
		w.t.Fatalf("relationships of %d to %d: %v, %v", a, b, rels, err)
	}
	return words(rels[0])
}

func words(r relation.Relationship) string {
	var out []string
	for _, f := range []struct {
		set  bool
		word string
	}{
		{r.Following, "following"}, {r.FollowedBy, "followed_by"}, {r.Blocking, "blocking"}, {r.BlockedBy, "blocked_by"},
		{r.Muting, "muting"}, {r.Requested, "requested"}, {r.RequestedBy, "requested_by"},
	} {
		if f.set {
			out = append(out, f.word)
		}
	}
	return strings.Join(out, " ")
}

func (w *world) want(a, b uint64, want string) {
	w.t.Helper()
	if got := w.state(a, b); got != want {
		w.t.Errorf("%d is to %d %q, want %q", b, a, got, want)
	}
}

func (w *world) wantCounts(id uint64, friends, followers, following uint32) {
	w.t.Helper()
	c, err := w.Counts(w.t.Context(), []uint64{id})
	want := rows.Counts{Friends: friends, Followers: followers, Following: following}
	if err != nil || c[0] != want {
		w.t.Errorf("counts of %d: %+v, %v; want %+v", id, c, err, want)
	}
}

func (w *world) wantKind(err error, kind app.Kind, sentence string) {
	w.t.Helper()
	var e *app.Error
	if !errors.As(err, &e) || e.Kind != kind || !strings.Contains(e.Sentence, sentence) {
		w.t.Errorf("got %v, want kind %d with %q", err, kind, sentence)
	}
}

// consistent checks every row of ids: bytes, counts against lists, and both
// sides of each edge with the same time.
func consistent(t *testing.T, store *rows.Store, ids []uint64) {
	t.Helper()
	all, err := store.Fresh(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	views := map[uint64]list.View{}
	for id, r := range all {
		v, err := r.View()
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Check(); err != nil {
			t.Errorf("list of %d: %v", id, err)
		}
		want := rows.Counts{
			Friends:   uint32(v.Len(list.Friends)),
			Followers: uint32(v.Len(list.Friends) + v.Len(list.Followers)),
			Following: uint32(v.Len(list.Friends) + v.Len(list.Following)),
		}
		if r.Counts != want {
			t.Errorf("counts of %d are %+v, its list says %+v", id, r.Counts, want)
		}
		views[id] = v
	}
	for id, v := range views {
		sides(t, id, v, views)
	}
}

// mirror names the section in which the other side must hold an entry.
var mirror = map[list.Section]list.Section{
	list.Friends: list.Friends, list.Followers: list.Following, list.Following: list.Followers,
	list.Blocking: list.BlockedBy, list.BlockedBy: list.Blocking,
	list.Requests: list.Requested, list.Requested: list.Requests,
}

func sides(t *testing.T, id uint64, v list.View, views map[uint64]list.View) {
	for s, other := range mirror {
		err := v.Each(s, func(o uint64, mine, theirs uint32) bool {
			there, ok := views[o]
			if !ok {
				return true
			}
			m, th, found := entry(there, other, id)
			if !found {
				t.Errorf("%d has %d in %s, but is not in its %s", id, o, s, other)
			} else if s <= list.Following && (m != theirs || th != mine) {
				t.Errorf("%d and %d: times %d/%d here, %d/%d there", id, o, mine, theirs, th, m)
			}
			return true
		})
		if err != nil {
			t.Errorf("%s of %d: %v", s, id, err)
		}
	}
}

func entry(v list.View, s list.Section, id uint64) (mine, theirs uint32, found bool) {
	_ = v.Each(s, func(o uint64, m, t uint32) bool {
		if o == id {
			mine, theirs, found = m, t, true
		}
		return !found
	})
	return mine, theirs, found
}
