package sql_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
	"kith/repo/row"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// plant is a small graph in a database of its own: ids of both widths, every
// section, options of every kind, and an archive of every section.
type plant struct {
	t      *testing.T
	dsn    string
	pool   *sqlx.DB
	store  *relation.Store
	drafts map[uint64]*relation.Draft
	ids    []uint64
	narrow uint64 // a star, all ids below 1<<32; both have an archive of every section
	wide   uint64

	written *written
}

const start = 1_700_000_000

func open(t *testing.T, dsn string) *sqlx.DB {
	t.Helper()
	return dbtest.Open(t, db.Config{DSN: dsn})
}

func newPlant(t *testing.T) *plant {
	t.Helper()
	p := &plant{t: t, dsn: dbtest.FreshDSN(t), drafts: map[uint64]*relation.Draft{}, narrow: 5000, wide: 1<<40 + 5000}
	p.pool = open(t, p.dsn)
	dbtest.Migrate(t, p.pool)
	p.store = relation.New(p.pool, cache.NewNone(), 0, func() time.Time { return time.Unix(start, 0) })
	rng := rand.New(rand.NewPCG(3, 4))
	p.crowd(rng, 1<<10, 60)
	p.crowd(rng, 1<<40, 40)
	p.fans(p.narrow, 6000, 400)
	p.fans(p.wide, 1<<40+6000, 300)
	p.idols(p.narrow, 80)
	p.idols(p.wide, 50)
	p.sides(p.narrow, 0)
	p.sides(p.wide, 0)
	p.straddle()
	p.imported(untimed, 400)
	p.crowned()
	p.save()
	p.trim(p.narrow, 50)
	p.trim(p.wide, 30)
	p.trim(crowned, 40)
	p.fans(p.narrow, 7000, 120) // a second trim finds a segment
	p.sides(p.narrow, 20_000)
	p.save()
	p.trim(p.narrow, 40)
	p.home(p.narrow, someEvents())
	p.written = p.post()
	return p
}

// draft returns the row of an account, opened.
func (p *plant) draft(id uint64) *relation.Draft {
	p.t.Helper()
	if d := p.drafts[id]; d != nil {
		return d
	}
	d, err := relation.Open(p.row(id))
	if err != nil {
		p.t.Fatal(err)
	}
	p.drafts[id] = d
	if !slices.Contains(p.ids, id) {
		p.ids = append(p.ids, id)
	}
	return d
}

func (p *plant) row(id uint64) relation.Row {
	p.t.Helper()
	rows, err := p.store.Fresh(p.t.Context(), []uint64{id})
	if err != nil {
		p.t.Fatal(err)
	}
	return rows[id]
}

func (p *plant) follow(a, b uint64, at uint32) {
	p.draft(a).AddFollowing(b, at)
	p.draft(b).AddFollower(a, at)
}

// crowd is n people who follow each other at random; a time now and then is
// unknown, or past 2038.
func (p *plant) crowd(rng *rand.Rand, first uint64, n int) {
	for a := range n {
		for b := range n {
			at := uint32(start - rng.IntN(90_000_000))
			switch rng.IntN(20) {
			case 0:
				at = 0
			case 1:
				at = 1 << 31
			}
			if a != b && rng.IntN(4) == 0 {
				p.follow(first+uint64(a), first+uint64(b), at)
			}
		}
	}
}

// fans follow a star, who follows every third of them.
func (p *plant) fans(star, first uint64, n int) {
	for i := range n {
		at := uint32(start + 1000*(i/3) + int(first%10000))
		p.follow(first+uint64(i), star, at)
		switch i % 6 {
		case 0:
			p.follow(star, first+uint64(i), at-77)
		case 3:
			p.follow(star, first+uint64(i), at+200_000)
		}
	}
}

// idols are followed by a star and do not follow it back.
func (p *plant) idols(star uint64, n int) {
	for i := range uint64(n) {
		p.follow(star, star+10_000+i, uint32(start-1000+i%7))
	}
}

// sides fills the sections that stand beside the edges, about others from so far
// behind the account on.
func (p *plant) sides(id, from uint64) {
	d := p.draft(id)
	for s := list.Blocking; s <= list.Requested; s++ {
		for i := range 50 + int(s) {
			d.Put(s, id+from+uint64(100*int(s)+i), uint32(start+i%8*i))
		}
	}
	options := []list.Option{
		{Notify: true}, {HideReposts: true, Languages: []string{"de", "en"}},
		{MuteUntil: 1 << 31, HideNotifications: true, Languages: []string{strings.Repeat("x", list.MaxLanguage), "zh-TW"}},
	}
	for i := range uint64(60) {
		about := id + from + 2000 + i
		if _, err := d.SetOption(about, options[i%3]); err != nil {
			p.t.Fatal(err)
		}
		if i%4 != 0 {
			continue
		}
		if _, err := d.SetNote(about, strings.Repeat("ü;'", 60)); err != nil {
			p.t.Fatal(err)
		}
	}
}

// crowned has so many followers that some segments of them are full. Of these only
// one in a thousand has a row.
const crowned = 4000

func (p *plant) crowned() {
	const first, n = 1 << 20, 20_500
	edges := make([]list.Edge, 0, n)
	for i := range uint64(n) {
		if i%1000 == 0 {
			p.follow(first+i, crowned, uint32(start+i/2))
			continue
		}
		edges = append(edges, list.Edge{ID: first + i, Time: uint32(start + i/2)})
	}
	p.draft(crowned).Merge(edges)
}

// untimed is the account of a star without times.
const untimed = 3000

// imported makes a star and fans without times, in lists that end after their ids,
// or at a column further back.
func (p *plant) imported(star uint64, n int) {
	for i := range uint64(n) {
		p.follow(star+1+i, star, 0)
		if i%9 == 0 {
			p.follow(star, star+1+i, 0)
		}
		if i%2 == 0 {
			p.draft(star+1+i).Put(list.Muting, star, start)
		}
	}
}

// The bytes of two neighbours have the id of somebody else across their border.
const (
	straddling = 0x01000001
	before     = 0x02030405
	after      = 0x06070809
	across     = 0x04050607
)

// straddle makes a list in which across stands twice: where no id begins, and
// as an id.
func (p *plant) straddle() {
	p.follow(straddling, before, start+3)
	p.follow(straddling, after, start+2)
	p.follow(straddling+1, before, start+3)
	p.follow(straddling+1, after, start+2)
	p.follow(straddling+1, across, start+1)
}

// save stores what was changed.
func (p *plant) save() {
	p.t.Helper()
	var rows []relation.Row
	for _, d := range p.drafts {
		if !d.Changed() {
			continue
		}
		r, err := p.store.Pack(d)
		if err != nil {
			p.t.Fatal(err)
		}
		rows = append(rows, r)
	}
	for part := range slices.Chunk(rows, row.MaxRows) {
		if won, err := p.store.Swap(p.t.Context(), part); err != nil || !won {
			p.t.Fatalf("store %d rows: %v, %v", len(part), won, err)
		}
	}
	clear(p.drafts)
}

func (p *plant) trim(id uint64, limit int) {
	p.t.Helper()
	done, err := p.store.Trim(p.t.Context(), id, limit)
	if err != nil || done == 0 {
		p.t.Fatalf("trim %d: %+v, %v", id, done, err)
	}
}

func (p *plant) exec(query string, args ...any) {
	p.t.Helper()
	if _, err := p.pool.ExecContext(p.t.Context(), query, args...); err != nil {
		p.t.Fatal(err)
	}
}

// archive is what an account has in the archive: the segments, and the list of what
// it did itself, as the store reads them.
func (p *plant) archive(id uint64) (segments []relation.Segment, own list.View) {
	p.t.Helper()
	own = p.view([]byte{3, 0x14, 0, 0})
	err := p.store.Examine(p.t.Context(), id, false, func(relation.Row) error {
		segments = nil
		return nil
	}, func(g relation.Segment) error {
		if g.Own {
			own = p.view(g.List)
		} else {
			segments = append(segments, g)
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return segments, own
}

func (p *plant) view(b []byte) list.View {
	p.t.Helper()
	v, err := list.Parse(b)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

func text(n any) string { return fmt.Sprint(n) }
