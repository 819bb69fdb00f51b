package api_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/app/account"
	"kith/app/affinity"
	"kith/app/api"
	"kith/app/api/core"
	"kith/app/home"
	"kith/app/interaction"
	"kith/app/marker"
	"kith/app/post"
	"kith/app/promotion"
	"kith/app/relation"
	"kith/app/suggest"
	"kith/app/token"
	"kith/repo"
	accounts "kith/repo/account"
	scores "kith/repo/affinity"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/db"
	"kith/repo/dbtest"
	events "kith/repo/interaction"
	"kith/repo/list"
	positioned "kith/repo/marker"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
	promoted "kith/repo/promotion"
	rows "kith/repo/relation"
	"kith/repo/row"
	"kith/repo/seen"
	suggestions "kith/repo/suggest"
)

// The people of the world of TestCost. Everybody but the crowd has a small id,
// so that among unknown times they are the oldest, and lie in the archives.
const (
	star    = 1001 // followed by all of the crowd since an unknown time
	tied    = 1002 // followed by all of the crowd, in five seconds
	hoarder = 1003 // has a long archive in every section
	viewer  = 1004 // has one of friends, followers and following, and blocks the newest of the crowd
	small   = 1005 // has a short list in every section
	other   = 1006 // has one too
	big0    = 2000 // the first of many who have archives
	little0 = 3000 // the first of many with short lists
	crowd0  = 1_000_000

	crowdSize   = 1_000_000
	many        = 100    // bigs and littles
	bigSize     = 50_000 // followers of a big
	long        = 30_000 // a section with an archive
	short       = 200    // a section without
	blockedSize = 9_500  // of the newest of the crowd by viewer
	firstTime   = 1_600_000_000

	// slot is how many entries of a section one change takes, at most, and
	// slots how many there are: the oldest entries of sections, whose other side
	// is there too.
	slot  = 15
	slots = 12
)

// crowd returns somebody of the crowd; a larger number came later.
func crowd(i int) uint64 { return uint64(crowd0 + i) }

// Since when somebody of the crowd stands in a list.
func inOrder(i int) uint32 { return uint32(firstTime + i) }
func inTies(i int) uint32  { return uint32(firstTime + i/(crowdSize/5)) }
func unknown(_ int) uint32 { return 0 }

// sections are all that people stand in.
func sections() [8]list.Section {
	return [8]list.Section{list.Friends, list.Followers, list.Following, list.Blocking, list.BlockedBy, list.Muting, list.Requests, list.Requested}
}

// shownOf are those of a section whom pages at its ends and in its middle show:
// the others need no account.
func shownOf(begin, size int) (ids []uint64) {
	const around = 1000
	for i := range size {
		if i < around || i >= size-blockedSize-around && size == crowdSize || i >= size-around || i > size/2-around && i < size/2+around {
			ids = append(ids, crowd(begin+i))
		}
	}
	return ids
}

// sizeOf is how long the sections of somebody are.
func sizeOf(owner uint64) int {
	if owner == hoarder || owner == viewer {
		return long
	}
	return short
}

// first is where somebody's section begins in the crowd.
func first(owner uint64, s list.Section) int {
	begin := int(s) * sizeOf(owner)
	switch owner {
	case viewer:
		return 300_000 + begin
	case small:
		return 600_000 + begin
	case other:
		return 610_000 + begin
	}
	return begin
}

// plan is what is to stand in a row.
type plan struct {
	edges   []list.Edge
	beside  []rows.OtherEntry
	options map[uint64]list.Option
	notes   map[uint64]string
}

// costWorld is a server on a real database and memcached, with accounts of
// every size in it.
type costWorld struct {
	t        testing.TB
	server   *core.Server
	accounts *account.Service
	tokens   map[uint64]string
	answer   kept

	people *accounts.Store
	posts  *post.Service
	edits  *rows.Store
	plans  map[uint64]*plan
}

// relate puts id into a section of owner. mutual puts owner into the section
// of id that answers to it, too.
func (w *costWorld) relate(owner uint64, s list.Section, id uint64, at uint32, mutual bool) {
	p := w.plans[owner]
	if p == nil {
		p = &plan{}
		w.plans[owner] = p
	}
	switch s {
	case list.Friends:
		p.edges = append(p.edges, list.Edge{ID: id, Time: at, Out: true}, list.Edge{ID: id, Time: at})
	case list.Followers, list.Following:
		p.edges = append(p.edges, list.Edge{ID: id, Time: at, Out: s == list.Following})
	default:
		p.beside = append(p.beside, rows.OtherEntry{Section: s, Entry: list.Entry{ID: id, Time: at}})
	}
	if back, ok := mirror(s); ok && mutual {
		w.relate(id, back, owner, at, false)
	}
}

// mirror is the section of somebody else that says the same as s of mine.
func mirror(s list.Section) (list.Section, bool) {
	switch s {
	case list.Friends:
		return list.Friends, true
	case list.Followers:
		return list.Following, true
	case list.Following:
		return list.Followers, true
	case list.Blocking:
		return list.BlockedBy, true
	case list.BlockedBy:
		return list.Blocking, true
	case list.Requests:
		return list.Requested, true
	case list.Requested:
		return list.Requests, true
	}
	return 0, false
}

// choose notes what owner chose about id.
func (w *costWorld) choose(owner, id uint64, note string) {
	p := w.plans[owner]
	if p.options == nil {
		p.options, p.notes = map[uint64]list.Option{}, map[uint64]string{}
	}
	p.options[id] = list.Option{Notify: true}
	if note != "" {
		p.notes[id] = note
	}
}

// populate plans who is what to whom.
func (w *costWorld) populate() {
	for i := range crowdSize {
		w.relate(star, list.Followers, crowd(i), unknown(i), i < slot*slots)
		w.relate(tied, list.Followers, crowd(i), inTies(i), i < slot*slots)
	}
	for _, owner := range []uint64{hoarder, viewer, small, other} {
		size := sizeOf(owner)
		for _, s := range sections() {
			if owner == viewer && s > list.Following {
				break
			}
			for i := range size {
				w.relate(owner, s, crowd(first(owner, s)+i), inOrder(i), i < slot*slots)
			}
		}
		for i := range size {
			note := ""
			if i < 1000 {
				note = strings.Repeat("x", 200)
			}
			w.choose(owner, crowd(first(owner, list.Friends)+i), note)
		}
	}
	for i := range blockedSize {
		w.relate(viewer, list.Blocking, crowd(crowdSize-1-i), inOrder(i), false)
	}
	followers := slices.Clip(w.plans[star].edges[:bigSize])
	for n := range uint64(many) {
		w.plans[big0+n] = &plan{edges: followers}
		for i := range short {
			w.relate(little0+n, list.Followers, crowd(i), unknown(i), false)
		}
		w.relate(viewer, list.Following, big0+n, 0, true)
		w.relate(hoarder, list.Following, big0+n, 0, true)
		w.relate(small, list.Following, little0+n, 0, true)
	}
}

// write puts what is planned into rows and archives, short rows many at once.
func (w *costWorld) write() {
	var short []uint64
	for id, p := range w.plans {
		if len(p.edges) < 100 {
			short = append(short, id)
		} else {
			w.writeRows([]uint64{id})
		}
	}
	for part := range slices.Chunk(short, 200) {
		w.writeRows(part)
	}
	w.plans = nil
}

func (w *costWorld) writeRows(ids []uint64) {
	won, err := w.edits.Locked(w.t.Context(), ids, nil, func(drafts map[uint64]*rows.Draft) ([]rows.Row, error) {
		var out []rows.Row
		for id, d := range drafts {
			if err := w.plans[id].fill(d); err != nil {
				return nil, err
			}
			r, err := w.edits.Pack(d)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
		return out, nil
	})
	if err != nil || !won {
		w.t.Fatalf("write %d: %v, %v", ids, won, err)
	}
	for _, id := range ids {
		if len(w.plans[id].edges) < listCap {
			continue
		}
		if _, err := w.edits.Trim(w.t.Context(), id, listCap); err != nil {
			w.t.Fatal(err)
		}
	}
}

// listCap is the default of KITH_LIST_CAP.
const listCap = 10_000

func (p *plan) fill(d *rows.Draft) error {
	d.Merge(p.edges)
	for _, b := range p.beside {
		d.Put(b.Section, b.ID, b.Time)
	}
	for id, o := range p.options {
		if _, err := d.SetOption(id, o); err != nil {
			return err
		}
		if _, err := d.SetNote(id, p.notes[id]); err != nil {
			return err
		}
	}
	return nil
}

// newCostWorld makes the world. It takes seconds.
func newCostWorld(t testing.TB) *costWorld {
	t.Helper()
	pool := dbtest.Open(t, db.Config{DSN: dbtest.FreshDSN(t)})
	dbtest.Migrate(t, pool)
	quiet := slog.New(slog.DiscardHandler)
	servers, err := memcache.New(memcache.Config{Servers: []string{memcachetest.Start(t).Addr}, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { servers.Close() })
	mem, err := cache.NewMemcached(cache.Config{Client: servers, MaxBytes: 64 << 20, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	store := rows.New(pool, mem, listCap, time.Now)
	w := &costWorld{t: t, people: accounts.New(pool, mem), edits: store, plans: map[uint64]*plan{}, tokens: map[uint64]string{}}
	w.accounts = account.New(w.people, time.Now)
	w.fill()
	commits := committer.New(w.edits, committer.Config{})
	affinities, marks := scores.New(pool, mem, quiet), seen.New(pool)
	kept := suggestions.New(pool, mem, time.Now, quiet)
	recorder := interaction.New(interaction.Config{Log: events.New(pool), Marks: marks, Weighs: func(string) bool { return true }, Every: time.Hour})
	w.score(affinities, kept)
	t.Cleanup(func() {
		if err := commits.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := recorder.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	tokens, err := token.New(t.Context(), token.Config{Secret: []byte(strings.Repeat("s", 32)), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	w.sign(tokens)
	var homes *home.Service
	w.posts, homes = servicesOfPosts(t, pool, store, w.people, mem, time.Now)
	w.server, err = api.New(api.Config{
		Posts: w.posts, Homes: homes, Promotions: promotion.New(promotion.Config{Store: promoted.New(pool), Homes: homes, Posts: w.posts, Accounts: w.accounts, Now: time.Now}), Markers: marker.New(marker.Config{Store: positioned.New(pool), Homes: homes, Now: time.Now}),
		Config: core.Config{Accounts: w.accounts, Tokens: tokens, BaseURL: "https://kith.example", Interactions: recorder,
			Log: slog.New(slog.NewJSONHandler(io.Discard, nil)), RequestTimeout: costLimit},
		Relations: relation.New(relation.Config{Rows: store, Committer: commits, Accounts: w.people, Now: time.Now}),
		Affinity:  affinity.NewService(affinities, store),
		Suggestions: suggest.New(suggest.Config{Rows: kept, Relations: store, Affinities: affinities, Seen: marks, Now: time.Now,
			HalfLife: time.Hour, SeenWithin: time.Hour, Refresh: time.Hour}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// fill makes the accounts and rows.
func (w *costWorld) fill() {
	begun := time.Now()
	ids := []uint64{star, tied, hoarder, viewer, small, other}
	for n := range uint64(many) {
		ids = append(ids, big0+n, little0+n)
	}
	ids = append(ids, shownOf(0, crowdSize)...)
	for i := range blockedSize {
		ids = append(ids, crowd(crowdSize-1-i))
	}
	for _, owner := range []uint64{hoarder, viewer, small, other} {
		for _, s := range sections() {
			ids = append(ids, shownOf(first(owner, s), sizeOf(owner))...)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for len(ids) > 0 {
		n := min(len(ids), 2000)
		if _, err := w.people.Ensure(w.t.Context(), ids[:n], 1); err != nil {
			w.t.Fatal(err)
		}
		ids = ids[n:]
	}
	w.t.Logf("accounts after %v", time.Since(begun).Round(time.Millisecond))
	w.populate()
	w.t.Logf("planned after %v", time.Since(begun).Round(time.Millisecond))
	w.write()
	w.t.Logf("written after %v", time.Since(begun).Round(time.Millisecond))
}

// score gives those with long and short lists affinities and suggestions.
func (w *costWorld) score(affinities *scores.Store, kept *suggestions.Store) {
	for owner, of := range map[uint64]uint64{hoarder: big0, viewer: big0, small: little0, other: little0} {
		var entries []scores.Entry
		for i := range 500 {
			entries = append(entries, scores.Entry{ID: crowd(first(owner, list.Friends) + i%short), Score: float32(1000 - i)})
		}
		scores.Sort(entries)
		won, err := affinities.Fold(w.t.Context(), repo.Bucket(owner), []scores.Row{{Meta: row.Meta{ID: owner}, At: uint32(time.Now().Unix()), Entries: entries[:short]}}, nil, 1)
		if err != nil || !won {
			w.t.Fatalf("affinity of %d: %v, %v", owner, won, err)
		}
		err = kept.Edit(w.t.Context(), owner, func(r *suggestions.Row) bool {
			var ids []uint64
			for n := range uint64(many) {
				ids = append(ids, of+n)
			}
			r.Suggest(ids, uint32(time.Now().Unix()))
			return true
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// sign makes a token for each who asks.
func (w *costWorld) sign(tokens *token.Tokens) {
	all := []string{"read", "write", "follow", "push", "profile", token.ServerScope}
	ids := []uint64{star, tied, hoarder, viewer, small, other}
	for n := range uint64(many) {
		ids = append(ids, big0+n, little0+n)
	}
	for i := range slot * slots {
		ids = append(ids, crowd(i))
		for _, owner := range []uint64{hoarder, viewer, small, other} {
			for _, s := range sections() {
				ids = append(ids, crowd(first(owner, s)+i))
			}
		}
	}
	for _, id := range ids {
		text, err := tokens.Sign(id, all, time.Hour)
		if err != nil {
			w.t.Fatal(err)
		}
		w.tokens[id] = fmt.Sprint("Bearer ", text)
	}
}
