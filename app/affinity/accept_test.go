package affinity

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	appinteraction "kith/app/interaction"
	"kith/repo"
	"kith/repo/accepttest"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/interaction"
	"kith/repo/row"
	"kith/repo/seen"
)

// Real interactions and a fragment of the follows between the same accounts.
const (
	realEvents  = "higgs-activity_time.txt.gz"
	realFollows = "higgs-follows-part.txt.gz"
)

// higgsKinds are what the data calls our kinds.
var higgsKinds = map[string]string{"RT": "repost", "MT": "mention", "RE": "reply"}

var higgsWorth = Config{Weights: map[string]float64{"repost": 3, "mention": 2, "reply": 3}, HalfLife: 720 * time.Hour, Kept: 500}

// The real interactions go through the recorder into the log and are folded in
// six runs, as they came in six parts of the week; then the scores are those of the
// plain formula, and so are the orders of the followed and of friends.
func TestAccept_RealInteractions(t *testing.T) {
	accepttest.Long(t)
	events, edges := readEvents(t), readFollows(t)
	w := newWorldOn(t, dbtest.DurableDSN(t), cache.NewNone())
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
	t.Run("OrderOfFollowed", func(t *testing.T) { w.wantFollowedOrder(t, byActor, edges) })
	t.Run("OrderOfFriends", func(t *testing.T) { w.wantFriendsOrder(t, byActor) })
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
	for part := range slices.Chunk(ids, row.MaxRows) {
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

func readEvents(t *testing.T) (out []interaction.Event) {
	t.Helper()
	for line := range accepttest.Lines(t, accepttest.File(t, realEvents)) {
		var e interaction.Event
		var kind string
		if _, err := fmt.Sscan(line, &e.Actor, &e.Target, &e.At, &kind); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		e.Kind = higgsKinds[kind]
		out = append(out, e)
	}
	if len(out) != 563_069 {
		t.Fatalf("%d events, want 563069", len(out))
	}
	return out
}

// readFollows reads who follows whom in the fragment, whose last line is broken.
func readFollows(t *testing.T) map[uint64]map[uint64]bool {
	t.Helper()
	lines := slices.Collect(accepttest.Lines(t, accepttest.File(t, realFollows)))
	out := map[uint64]map[uint64]bool{}
	for _, line := range lines[:len(lines)-1] {
		var a, b uint64
		if _, err := fmt.Sscan(line, &a, &b); err != nil {
			t.Fatalf("%q: %v", line, err)
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
	accepttest.Long(t)
	events := readEvents(t)
	pool := dbtest.Open(t, db.Config{DSN: dbtest.DurableDSN(t)})
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
			args = append(args, repo.Bucket(e.Actor), id, i, e.Actor, e.Target, 1, e.At)
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
