package affinity

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	appinteraction "kith/app/interaction"
	"kith/app/relation"
	"kith/repo/affinity"
	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/interaction"
	"kith/repo/list"
	"kith/repo/mysqld"
	"kith/repo/seen"
)

// Real interactions and a fragment of the follows between the same accounts,
// where they are found: in ../shared/data beside the repository or in the folder
// that KITH_DATA names.
const (
	realEvents  = "higgs-activity_time.txt.gz"
	realFollows = "higgs-follows-part.txt.gz"
)

// higgsKinds are what the data calls our kinds.
var higgsKinds = map[string]string{"RT": "repost", "MT": "mention", "RE": "reply"}

var higgsWorth = Config{Weights: map[string]float64{"repost": 3, "mention": 2, "reply": 3}, HalfLife: 720 * time.Hour, Kept: 500}

// The real interactions go through the recorder into the log and are folded in
// six runs, as they came in six parts of the week; then the scores and the order
// of friends are those of the plain formula.
func TestAccept_RealInteractions(t *testing.T) {
	if os.Getenv("KITH_ACCEPT") == "" {
		t.Skip("KITH_ACCEPT=1 runs it")
	}
	events, edges := readEvents(t), readFollows(t)
	w := newWorldOn(t, durable(t), cache.NewNone())
	w.folder.cfg, w.folder.now = higgsWorth, time.Now // batches are dated by the recorder
	own := 0
	for _, e := range events {
		if e.Actor == e.Target {
			own++
		}
	}
	const parts = 6
	var logging, folding time.Duration
	var logged, batches, logBytes int64
	for part := range parts {
		some := events[len(events)*part/parts : len(events)*(part+1)/parts]
		logging += w.recordAll(t, some)
		n, rows, bytes := w.logSize(t)
		logged, batches, logBytes = logged+n, batches+rows, logBytes+bytes
		begin := time.Now()
		folded := w.fold()
		folding += time.Since(begin)
		if int64(folded) != n {
			t.Fatalf("folded %d of %d events", folded, n)
		}
	}
	if logged != int64(len(events)-own) {
		t.Errorf("%d events were logged, want %d less the %d on oneself", logged, len(events), own)
	}
	t.Logf("%d events, %d on oneself dropped; %d batches, %.1f bytes an event packed, %.1f events a batch", len(events), own, batches,
		float64(logBytes)/float64(logged), float64(logged)/float64(batches))
	t.Logf("log: %.0f events/s (%v); fold in %d runs: %.0f events/s (%v); %d processors", float64(logged)/logging.Seconds(), logging.Round(time.Millisecond),
		parts, float64(logged)/folding.Seconds(), folding.Round(time.Millisecond), runtime.NumCPU())
	w.rowSizes(t)
	byActor := group(events)
	w.wantFormula(t, byActor)
	w.wantOrder(t, byActor, edges)
}

// durable starts a server that syncs each commit and returns the DSN of an empty
// database.
func durable(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	server, err := mysqld.Start(ctx, mysqld.Options{Dir: t.TempDir(), Durable: true})
	if err != nil {
		t.Fatalf("start a durable server: %v", err)
	}
	t.Cleanup(func() { _ = server.Stop(context.Background()) })
	if err := server.CreateDatabase(ctx, "kith"); err != nil {
		t.Fatal(err)
	}
	return server.DSN("kith")
}

// recordAll brings events into the log through a recorder.
func (w *world) recordAll(t *testing.T, events []interaction.Event) time.Duration {
	t.Helper()
	begin := time.Now()
	r := appinteraction.New(appinteraction.Config{Log: w.log, Marks: seen.New(w.pool), Weighs: higgsWorth.Weighs, Buffer: 2 * len(events), Every: 50 * time.Millisecond})
	for part := range slices.Chunk(events, 1000) {
		r.Record(part...)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return time.Since(begin)
}

func (w *world) logSize(t *testing.T) (events, batches, bytes int64) {
	t.Helper()
	err := w.pool.QueryRow(`SELECT COALESCE(SUM(n), 0), COUNT(*), COALESCE(SUM(LENGTH(events)), 0) FROM interaction`).Scan(&events, &batches, &bytes)
	if err != nil {
		t.Fatal(err)
	}
	return events, batches, bytes
}

func (w *world) rowSizes(t *testing.T) {
	t.Helper()
	var n, sum, most, table int64
	if err := w.pool.QueryRow(`SELECT COUNT(*), SUM(LENGTH(list)), MAX(LENGTH(list)) FROM affinity`).Scan(&n, &sum, &most); err != nil {
		t.Fatal(err)
	}
	if _, err := w.pool.Exec(`ANALYZE TABLE affinity`); err != nil {
		t.Fatal(err)
	}
	if err := w.pool.QueryRow(`SELECT data_length FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'affinity'`).Scan(&table); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d affinity rows, %.1f bytes each, the longest %d, the table %.1f MB", n, float64(sum)/float64(n), most, float64(table)/1e6)
}

// wantFormula compares every row with the plain formula.
func (w *world) wantFormula(t *testing.T, byActor map[uint64][]interaction.Event) {
	t.Helper()
	checked, worst := 0, 0.0
	ids := make([]uint64, 0, len(byActor))
	for id := range byActor {
		ids = append(ids, id)
	}
	for part := range slices.Chunk(ids, affinity.MaxRows) {
		rows, err := w.store.Fresh(t.Context(), part)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range part {
			row := rows[id]
			want := plain(higgsWorth, byActor[id], row.At)
			if len(row.Entries) != min(len(want), higgsWorth.Kept) {
				t.Errorf("%d has %d scores, want %d", id, len(row.Entries), len(want))
			}
			for _, e := range row.Entries {
				off := math.Abs(float64(e.Score)-want[e.ID]) / want[e.ID]
				if len(want) <= higgsWorth.Kept { // who falls out begins anew
					worst = max(worst, off)
				}
				checked++
			}
		}
	}
	if worst > 1e-5 {
		t.Errorf("a score is off by %g of it", worst)
	}
	t.Logf("%d scores compared with the formula, the worst is off by %.2g of it", checked, worst)
}

// wantOrder imports the follows around the accounts with most scored friends and
// compares the order of their friends with a plain sort by the formula.
func (w *world) wantOrder(t *testing.T, byActor map[uint64][]interaction.Event, edges map[uint64]map[uint64]bool) {
	t.Helper()
	const accounts = 5
	type busy struct {
		id      uint64
		friends []uint64
		scored  int
	}
	var all []busy
	for id, follows := range edges {
		b := busy{id: id}
		scores := plain(higgsWorth, byActor[id], 0)
		for other := range follows {
			if edges[other][id] {
				b.friends = append(b.friends, other)
				if scores[other] > 0 {
					b.scored++
				}
			}
		}
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b busy) int { return b.scored - a.scored })
	if len(all) < accounts || all[0].scored == 0 {
		t.Fatal("nobody of the fragment has a friend with a score")
	}
	for _, b := range all[:accounts] {
		slices.Sort(b.friends)
		w.befriendAll(t, b.id, b.friends)
		begin := time.Now()
		got := w.walk(b.id, 40, nil)
		took := time.Since(begin)
		want := w.plainOrder(t, b.id, byActor[b.id], b.friends)
		if !sameOrder(got, want) {
			t.Errorf("friends of %d: got %v, want %v", b.id, got, want)
		}
		t.Logf("account %d: %d friends, %d with a score, in the order of the formula; all pages in %v; first five %v", b.id, len(b.friends), b.scored, took.Round(time.Microsecond), ids(want[:min(5, len(want))]))
	}
}

func (w *world) befriendAll(t *testing.T, me uint64, friends []uint64) {
	t.Helper()
	if _, err := w.accounts.Ensure(t.Context(), append([]uint64{me}, friends[:min(len(friends), 400)]...), 1); err != nil {
		t.Fatal(err)
	}
	for _, f := range friends {
		if _, err := w.accounts.Ensure(t.Context(), []uint64{f}, 1); err != nil {
			t.Fatal(err)
		}
		for _, p := range [][2]uint64{{me, f}, {f, me}} {
			if _, err := w.relations.Follow(context.Background(), p[0], p[1], relation.FollowOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// ranking is a friend and the score of the plain formula, 0 without one.
type ranking struct {
	id    uint64
	score float64
}

// plainOrder sorts friends by the formula and after that by time.
func (w *world) plainOrder(t *testing.T, me uint64, events []interaction.Event, friends []uint64) []ranking {
	t.Helper()
	scores := plain(higgsWorth, events, 1341705593)
	byTime, err := w.rows.Page(t.Context(), me, list.ByFriend, list.Range{Limit: len(friends)})
	if err != nil {
		t.Fatal(err)
	}
	var out []ranking
	for _, e := range byTime {
		out = append(out, ranking{e.ID, scores[e.ID]})
	}
	slices.SortStableFunc(out, func(a, b ranking) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		case a.score > 0:
			return int(int64(a.id) - int64(b.id))
		}
		return 0
	})
	return out
}

// sameOrder tells whether two orders are the same but for scores that a float32
// does not tell apart.
func sameOrder(got []uint64, want []ranking) bool {
	if len(got) != len(want) {
		return false
	}
	scores := map[uint64]float64{}
	for _, r := range want {
		scores[r.id] = r.score
	}
	for i, id := range got {
		s, known := scores[id]
		if !known || id != want[i].id && (s == 0 || math.Abs(s-want[i].score) > 1e-5*s) {
			return false
		}
	}
	return true
}

func ids(rs []ranking) (out []string) {
	for _, r := range rs {
		out = append(out, fmt.Sprint(r.id))
	}
	return out
}

func lines(t *testing.T, name string) *bufio.Scanner {
	t.Helper()
	folder := cmp.Or(os.Getenv("KITH_DATA"), filepath.Join("..", "..", "..", "shared", "data"))
	file, err := os.Open(filepath.Join(folder, name))
	if os.IsNotExist(err) {
		t.Skipf("%s is neither in ../shared/data beside the repository nor where KITH_DATA says", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	return bufio.NewScanner(unzipped)
}

func readEvents(t *testing.T) (out []interaction.Event) {
	t.Helper()
	for in := lines(t, realEvents); in.Scan(); {
		var e interaction.Event
		var kind string
		if _, err := fmt.Sscan(in.Text(), &e.Actor, &e.Target, &e.At, &kind); err != nil {
			t.Fatalf("%q: %v", in.Text(), err)
		}
		e.Kind = higgsKinds[kind]
		out = append(out, e)
	}
	if len(out) != 563_069 {
		t.Fatalf("%d events, want 563069", len(out))
	}
	return out
}

// readFollows reads the fragment; its last line may be broken.
func readFollows(t *testing.T) map[uint64]map[uint64]bool {
	t.Helper()
	out := map[uint64]map[uint64]bool{}
	for in := lines(t, realFollows); in.Scan(); {
		var a, b uint64
		if n, _ := fmt.Sscan(strings.TrimSpace(in.Text()), &a, &b); n != 2 || a == b {
			continue
		}
		if out[a] == nil {
			out[a] = map[uint64]bool{}
		}
		out[a][b] = true
	}
	return out
}

// The same events as a row each, for what packing saves.
func TestAccept_RowEach(t *testing.T) {
	if os.Getenv("KITH_ACCEPT") == "" {
		t.Skip("KITH_ACCEPT=1 runs it")
	}
	events := readEvents(t)
	pool := poolOn(t, durable(t), true)
	dbtest.Migrate(t, pool)
	if _, err := pool.Exec(`CREATE TABLE one (bucket SMALLINT UNSIGNED NOT NULL, batch_id BIGINT UNSIGNED NOT NULL, n INT UNSIGNED NOT NULL, actor BIGINT UNSIGNED NOT NULL, target BIGINT UNSIGNED NOT NULL, kind TINYINT UNSIGNED NOT NULL, at INT UNSIGNED NOT NULL, PRIMARY KEY (bucket, batch_id, n))`); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	id := 0
	for part := range slices.Chunk(events, 1000) {
		id++
		args := make([]any, 0, 7*len(part))
		for i, e := range part {
			args = append(args, interaction.Bucket(e.Actor), id, i, e.Actor, e.Target, 1, e.At)
		}
		if _, err := pool.Exec(`INSERT INTO one VALUES `+strings.TrimSuffix(strings.Repeat("(?,?,?,?,?,?,?),", len(part)), ","), args...); err != nil {
			t.Fatal(err)
		}
	}
	rowEach := time.Since(begin)
	store, n := interaction.New(pool), uint64(0)
	begin = time.Now()
	for part := range slices.Chunk(events, 5000) { // what comes in 5 seconds at 1,000 a second
		n++
		all := interaction.Batches(part, func() uint64 { return n })
		for some := range slices.Chunk(all, interaction.MaxRows) {
			if err := store.Append(t.Context(), some); err != nil {
				t.Fatal(err)
			}
		}
	}
	packed := time.Since(begin)
	size := map[string]float64{}
	for _, table := range []string{"one", "interaction"} {
		var b float64
		if _, err := pool.Exec(`ANALYZE TABLE ` + table); err != nil {
			t.Fatal(err)
		}
		if err := pool.Get(&b, `SELECT data_length FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?`, table); err != nil {
			t.Fatal(err)
		}
		size[table] = b
	}
	t.Logf("a row each: %v, %.1f MB; packed, 5,000 a flush: %v, %.1f MB", rowEach.Round(time.Millisecond), size["one"]/1e6, packed.Round(time.Millisecond), size["interaction"]/1e6)
}
