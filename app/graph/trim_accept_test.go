package graph_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"kith/app/graph"
	apprelation "kith/app/relation"
	"kith/repo/accepttest"
	"kith/repo/account"
	"kith/repo/cache/cachetest"
	"kith/repo/committer"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

const (
	trimCap     = 500
	trimClients = 32
)

// The imported Twitter graph is trimmed to 500 entries a section while 32
// clients follow and unfollow. Afterwards no section is longer, counts are those
// of the import plus what was acknowledged, the largest account's followers
// page out exactly once in time order, and 1,000 states of archived edges are
// right.
func TestAccept_Trim(t *testing.T) {
	accepttest.Long(t)
	path := accepttest.File(t, "ego-twitter.txt.gz")
	pool := open(t, dbtest.Durable(t), "kith")
	dbtest.Migrate(t, pool)
	c := cachetest.Local(t)
	rows, accounts := relation.New(pool, c, trimCap, time.Now), account.New(pool, c)
	com := committer.New(rows, committer.Config{})
	defer com.Close(context.Background())
	s := apprelation.New(apprelation.Config{Rows: rows, Committer: com, Accounts: accounts, Now: time.Now})
	before := importEdges(t, graph.ImportConfig{Accounts: accounts, Rows: rows, Relations: s, Now: time.Now}, path, rows)

	w := &trimWorld{t: t, rows: rows, edges: before, s: s}
	w.raceTrims()
	w.shortSections()
	w.sameCounts()
	w.pages()
	w.states()
}

// follow is an edge: who and whom.
type follow [2]uint64

// importEdges imports the file and returns its edges.
func importEdges(t *testing.T, cfg graph.ImportConfig, path string, rows *relation.Store) map[follow]bool {
	t.Helper()
	sum := importFile(t, cfg, path)
	edges := make(map[follow]bool, sum.Edges)
	collect(t, rows, func(f follow) { edges[f] = true })
	if int64(len(edges)) != sum.EdgesNew {
		t.Fatalf("%d edges after an import of %d", len(edges), sum.EdgesNew)
	}
	return edges
}

// collect calls fn for every edge that an export writes.
func collect(t *testing.T, rows *relation.Store, fn func(f follow)) {
	t.Helper()
	var lines lineCounter
	lines.fn = fn
	if _, err := graph.Export(t.Context(), graph.ExportConfig{Rows: rows, Writer: &lines}); err != nil {
		t.Fatal(err)
	}
}

// lineCounter reads the lines of an export as they are written.
type lineCounter struct {
	fn    func(f follow)
	f     follow
	field int
}

func (l *lineCounter) Write(b []byte) (int, error) {
	for _, c := range b {
		switch {
		case c == '\n':
			l.fn(l.f)
			l.f, l.field = follow{}, 0
		case c == ' ':
			l.field++
		case l.field < 2:
			l.f[l.field] = 10*l.f[l.field] + uint64(c-'0')
		}
	}
	return len(b), nil
}

type trimWorld struct {
	t     *testing.T
	s     *apprelation.Service
	rows  *relation.Store
	mu    sync.Mutex
	edges map[follow]bool
}

// raceTrims trims all rows that are too long, twice over, while clients change
// edges, and then once more when they are done.
func (w *trimWorld) raceTrims() {
	stars := w.stars()
	followers := make([][]uint64, trimClients) // each follower is one client's, so that the last word on an edge is known
	for i, id := range w.people() {
		followers[i%trimClients] = append(followers[i%trimClients], id)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	changes := 0
	for i := range trimClients {
		wg.Go(func() {
			n := w.client(stop, rand.New(rand.NewPCG(uint64(i), 7)), followers[i], stars)
			w.mu.Lock()
			changes += n
			w.mu.Unlock()
		})
	}
	begin := time.Now()
	cut := 0
	for time.Since(begin) < 10*time.Second {
		cut += w.trimAll()
	}
	close(stop)
	wg.Wait()
	cut += w.trimAll()
	w.t.Logf("%d entries moved to the archive during %d changes of %d clients in %v", cut, changes, trimClients, time.Since(begin).Round(time.Millisecond))
}

func (w *trimWorld) people() []uint64 {
	ids := map[uint64]bool{}
	for f := range w.edges {
		ids[f[0]], ids[f[1]] = true, true
	}
	return slices.Sorted(maps.Keys(ids))
}

// stars are the accounts with most followers: those that are trimmed.
func (w *trimWorld) stars() []uint64 {
	n := map[uint64]int{}
	for f := range w.edges {
		n[f[1]]++
	}
	return slices.SortedFunc(maps.Keys(n), func(a, b uint64) int { return n[b] - n[a] })[:200]
}

// client follows and unfollows until stop, mostly stars, and notes what was
// acknowledged.
func (w *trimWorld) client(stop chan struct{}, r *rand.Rand, own, stars []uint64) (changes int) {
	for {
		select {
		case <-stop:
			return changes
		default:
		}
		f := follow{own[r.IntN(len(own))], stars[r.IntN(len(stars))]}
		if f[0] == f[1] {
			continue
		}
		w.mu.Lock()
		there := w.edges[f]
		w.mu.Unlock()
		var err error
		if there {
			_, err = w.s.Unfollow(w.t.Context(), f[0], f[1])
		} else {
			_, err = w.s.Follow(w.t.Context(), f[0], f[1], apprelation.FollowOptions{})
		}
		if err != nil {
			w.t.Errorf("change of %v: %v", f, err)
			return changes
		}
		w.mu.Lock()
		if changes++; there {
			delete(w.edges, f)
		} else {
			w.edges[f] = true
		}
		w.mu.Unlock()
	}
}

// trimAll trims every row that is too long, once.
func (w *trimWorld) trimAll() (cut int) {
	w.t.Helper()
	var after relation.Outline
	for {
		long, err := w.rows.Long(w.t.Context(), trimCap, after, 100)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(long) == 0 {
			return cut
		}
		for _, l := range long {
			done, err := w.rows.Trim(w.t.Context(), l.AccountID, trimCap)
			if err != nil {
				w.t.Fatal(err)
			}
			cut += done
		}
		after = long[len(long)-1]
	}
}

func (w *trimWorld) views(fn func(id uint64, r relation.Row, v list.View)) {
	w.t.Helper()
	for ids := range slices.Chunk(w.people(), 400) {
		all, err := w.rows.Fresh(w.t.Context(), ids)
		if err != nil {
			w.t.Fatal(err)
		}
		for id, r := range all {
			v, err := r.View()
			if err != nil {
				w.t.Fatal(err)
			}
			fn(id, r, v)
		}
	}
}

func (w *trimWorld) shortSections() {
	longest := 0
	w.views(func(_ uint64, _ relation.Row, v list.View) {
		longest = max(longest, v.Len(list.Friends), v.Len(list.Followers), v.Len(list.Following))
	})
	if longest > trimCap {
		w.t.Errorf("the longest section has %d entries, want %d at most", longest, trimCap)
	}
}

func (w *trimWorld) sameCounts() {
	want := map[uint64]relation.Counts{}
	for f := range w.edges {
		a, b := want[f[0]], want[f[1]]
		a.Following++
		b.Followers++
		if w.edges[follow{f[1], f[0]}] {
			a.Friends++
		}
		want[f[0]], want[f[1]] = a, b
	}
	w.views(func(id uint64, r relation.Row, _ list.View) {
		if r.Counts != want[id] {
			w.t.Errorf("counts of %d: %+v, want %+v", id, r.Counts, want[id])
		}
	})
	n := 0
	collect(w.t, w.rows, func(f follow) {
		if n++; !w.edges[f] {
			w.t.Errorf("%v is exported and was not acknowledged", f)
		}
	})
	if n != len(w.edges) {
		w.t.Errorf("%d edges exported, want %d", n, len(w.edges))
	}
	w.t.Logf("%d edges, all counts right", n)
}

// pages walks the followers of the largest account to the end.
func (w *trimWorld) pages() {
	star := w.stars()[0]
	seen := map[uint64]bool{}
	var last list.Cursor
	for {
		p, err := w.s.Followers(w.t.Context(), 0, star, apprelation.Range{Before: last, Limit: 40})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, one := range p.People {
			if seen[one.ID] || !w.edges[follow{one.ID, star}] {
				w.t.Errorf("follower %d of %d is shown twice or wrongly", one.ID, star)
			}
			seen[one.ID] = true
		}
		if last.ID != 0 && len(p.People) > 0 && p.First.Compare(last) >= 0 {
			w.t.Errorf("a page begins at %v after one that ended at %v", p.First, last)
		}
		if !p.Full {
			break
		}
		last = p.Last
	}
	if want := w.followersOf(star); len(seen) != want {
		w.t.Errorf("%d followers of %d paged out, want %d", len(seen), star, want)
	}
	w.t.Logf("%d followers of account %d paged out", len(seen), star)
}

func (w *trimWorld) followersOf(id uint64) (n int) {
	for f := range w.edges {
		if f[1] == id {
			n++
		}
	}
	return n
}

// states asks about edges that one row or both hold in the archive only.
func (w *trimWorld) states() {
	r := rand.New(rand.NewPCG(1, 2))
	people, asked, archived := w.people(), 0, 0
	for _, star := range w.stars() {
		row, err := w.rows.Row(w.t.Context(), star)
		if err != nil {
			w.t.Fatal(err)
		}
		v, err := row.View()
		if err != nil {
			w.t.Fatal(err)
		}
		var ids []uint64
		for f := range w.edges {
			if f[1] == star && v.Rel(f[0]) == 0 && len(ids) < 20 {
				ids = append(ids, f[0])
			}
		}
		archived += len(ids)
		ids = append(ids, people[r.IntN(len(people))])
		rels, err := w.s.Relationships(w.t.Context(), star, ids)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, rel := range rels {
			asked++
			if rel.ID != star && (rel.FollowedBy != w.edges[follow{rel.ID, star}] || rel.Following != w.edges[follow{star, rel.ID}]) {
				w.t.Errorf("%d to %d: %+v", rel.ID, star, rel)
			}
		}
		if archived >= 1000 {
			break
		}
	}
	w.t.Logf("%d states asked, %d of them of archived edges", asked, archived)
	if archived < 1000 {
		w.t.Errorf("only %d archived edges were asked about", archived)
	}
}
