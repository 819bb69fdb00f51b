package suggest

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/app/relation"
	"kith/app/relation/relationtest"
	"kith/repo"
	"kith/repo/affinity"
	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/row"
	"kith/repo/seen"
	"kith/repo/suggest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const start = relationtest.Start

type world struct {
	*Service
	t          *testing.T
	pool       *sqlx.DB
	relations  *relationtest.World
	affinities *affinity.Store
	seen       *seen.Store
	rows       *suggest.Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	pool := dbtest.Fresh(t)
	dbtest.Migrate(t, pool)
	c, quiet := cache.NewNone(), slog.New(slog.DiscardHandler)
	w := &world{t: t, pool: pool, relations: relationtest.New(t, relationtest.Config{DB: pool, Cache: c}),
		affinities: affinity.New(pool, c, quiet), seen: seen.New(pool), rows: suggest.New(pool, c, time.Now, quiet)}
	w.Service = New(Config{Rows: w.rows, Relations: w.relations.Rows, Affinities: w.affinities, Seen: w.seen, Now: w.relations.Now,
		HalfLife: 720 * time.Hour, SeenWithin: 30 * 24 * time.Hour, Refresh: 24 * time.Hour})
	return w
}

// score gives a affinity to others as of now.
func (w *world) score(a uint64, entries ...affinity.Entry) {
	w.t.Helper()
	won, err := w.affinities.Fold(w.t.Context(), repo.Bucket(a), []affinity.Row{{Meta: row.Meta{ID: a}, At: uint32(w.relations.Clock.Load()), Entries: entries}}, nil, 1)
	if err != nil || !won {
		w.t.Fatalf("got %v, %v", won, err)
	}
}

func (w *world) made(id uint64) []uint64 {
	w.t.Helper()
	if _, err := w.Make(w.t.Context(), id, false); err != nil {
		w.t.Fatal(err)
	}
	return w.shown(id)
}

func (w *world) shown(id uint64) []uint64 {
	w.t.Helper()
	got, err := w.Suggestions(w.t.Context(), id, 80)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

func (w *world) want(got []uint64, want ...uint64) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		w.t.Errorf("got %v, want %v", got, want)
	}
}

func TestMake_Weights(t *testing.T) {
	w := newWorld(t)
	p := w.relations.People(9)
	me, closest, f1, f2, x, y, z := p[0], p[1], p[2], p[3], p[4], p[5], p[6]
	w.relations.Follows(me, closest, f1, f2)
	w.relations.Follows(closest, x, me)
	w.relations.Follows(f1, y, z, closest)
	w.relations.Follows(f2, y, me)
	w.want(w.made(me), y, x, z) // 2, 1, 1
	w.score(me, affinity.Entry{ID: closest, Score: 5})
	w.want(w.made(me), x, y, z) // 6, 2, 1
	w.want(w.made(z))           // follows nobody
	if n, err := w.Make(t.Context(), me, true); err != nil || n != 3 {
		t.Errorf("dry: got %d, %v", n, err)
	}
}

func TestMake_LeavesOut(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	p := w.relations.People(12)
	me, f := p[0], p[1]
	w.relations.Follows(me, f)
	for _, c := range p[2:] {
		w.relations.Follows(f, c)
	}
	fan, locked, dismissed, blocking, blocked, muted, followed, free := p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9]
	if _, err := w.relations.Accounts.SetLocked(ctx, locked, true); err != nil {
		t.Fatal(err)
	}
	must := func(_ relation.Relationship, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	leave := func() {
		w.relations.Follows(fan, me)
		w.relations.Follows(me, locked, followed)
		must(w.relations.Block(ctx, blocking, me))
		must(w.relations.Block(ctx, me, blocked))
		must(w.relations.Mute(ctx, me, muted, true, 0))
		if err := w.Dismiss(ctx, me, dismissed); err != nil {
			t.Fatal(err)
		}
	}
	w.made(me)
	if got := w.shown(me); len(got) != 10 {
		t.Fatalf("got %v, want all ten", got)
	}
	leave()
	want := []uint64{fan, free, p[10], p[11]}
	slices.Sort(want)
	w.want(w.shown(me), want...) // those made before, filtered
	w.want(w.made(me), want...)
	if row, err := w.rows.Row(ctx, me); err != nil || !slices.Equal(row.Suggested, want) {
		t.Errorf("got %+v, %v, want %v stored", row, err, want)
	}
	if got, err := w.Suggestions(ctx, me, 2); err != nil || len(got) != 2 {
		t.Errorf("got %v, %v, want two", got, err)
	}
}

// Whom one follows stays out when the follow has gone to the archive.
func TestMake_Archived(t *testing.T) {
	w := newWorld(t)
	p := w.relations.People(20)
	me := p[0]
	w.relations.Follows(me, p[1:16]...)
	w.relations.Follows(p[15], append([]uint64{p[18]}, p[1:10]...)...)
	if _, err := w.relations.Rows.Trim(t.Context(), me, 10); err != nil {
		t.Fatal(err)
	}
	w.want(w.made(me), p[18])
}

// A bad row of one of the followed costs what that one would suggest, no more; a
// bad row of one's own is an error.
func TestMake_BadRows(t *testing.T) {
	w := newWorld(t)
	p := w.relations.People(6)
	me, good, bad, x, y := p[0], p[1], p[2], p[3], p[4]
	w.relations.Follows(me, good, bad)
	w.relations.Follows(good, x)
	w.relations.Follows(bad, y)
	w.spoil(bad)
	w.want(w.made(me), x)
	w.spoil(me)
	if n, err := w.Make(t.Context(), me, false); n != 0 || !errors.Is(err, list.ErrFormat) {
		t.Errorf("got %d, %v", n, err)
	}
}

// spoil makes the list of a relation unreadable.
func (w *world) spoil(id uint64) {
	w.t.Helper()
	w.pool.MustExec(`UPDATE relation SET list = CONCAT(UNHEX('09'), SUBSTRING(list, 2)) WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
}

func TestMake_Bounds(t *testing.T) {
	w := newWorld(t)
	p := w.relations.People(160)
	me, f := p[0], p[1]
	w.relations.Follows(me, f)
	w.relations.Follows(f, p[2:]...)
	if got := w.made(me); len(got) != 80 {
		t.Errorf("got %d", len(got))
	}
	if row, err := w.rows.Row(t.Context(), me); err != nil || len(row.Suggested) != suggest.MaxSuggested {
		t.Errorf("got %d stored, %v", len(row.Suggested), err)
	}
}

func TestDue(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	p := w.relations.People(5)
	lately, old, made, again := p[0], p[1], p[2], p[3]
	const day = 86400
	err := w.seen.Put(ctx, []seen.Mark{{AccountID: lately, At: start}, {AccountID: old, At: start - 31*day}, {AccountID: made, At: start}, {AccountID: again, At: start}})
	if err != nil {
		t.Fatal(err)
	}
	w.made(made)
	w.relations.Clock.Add(-day)
	w.made(again)
	w.relations.Clock.Add(day)
	due, looked, last, err := w.Due(ctx, 0)
	want := []uint64{lately, again}
	slices.Sort(due)
	if err != nil || looked != 4 || !slices.Equal(due, want) {
		t.Errorf("got %v of %d, %v, want %v of 4", due, looked, err, want)
	}
	if _, looked, _, err := w.Due(ctx, last); err != nil || looked != 0 {
		t.Errorf("looked at %d after the last, %v", looked, err)
	}
	for id, want := range map[uint64]int{lately: 1, old: 0, made: 0, p[4]: 0} {
		if due, err := w.DueOne(ctx, id); err != nil || len(due) != want {
			t.Errorf("%d: got %v, %v", id, due, err)
		}
	}
}
