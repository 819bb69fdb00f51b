package audit_test

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"kith/app/audit"
	"kith/app/graph"
	"kith/app/intake"
	"kith/repo"
	"kith/repo/accepttest"
	"kith/repo/list"
	"kith/repo/relation"
)

// TestAccept_Twitter audits a real graph, first as it was imported, then with 200
// planted faults, then after a trim of its long rows.
func TestAccept_Twitter(t *testing.T) {
	accepttest.Long(t)
	w := newWorld(t, 0)
	w.importFile(accepttest.File(t, "ego-twitter.txt.gz"))
	w.now = time.Now()
	sum := w.timed("imported", false)
	if sum.Rows != 81_306 || sum.Edges != 1_768_135 || sum.Found != 0 || sum.Passes != 1 {
		t.Errorf("got %+v, want 81,306 rows, 1,768,135 edges and no fault in one pass", sum)
	}
	ids := w.plantMany(200)
	if sum := w.timed("200 planted, report", false); sum.Found < int64(len(ids)) {
		t.Errorf("got %d faults, want %d at least", sum.Found, len(ids))
	}
	w.timed("200 planted, repair", true)
	repaired := w.timed("repaired", false)
	if repaired.Found != 0 {
		t.Errorf("got %d faults after a repair", repaired.Found)
	}
	trimmed := w.trimLong(500)
	sum = w.timed("trimmed to 500", false)
	if sum.Found != 0 || sum.Archives != int64(trimmed) || sum.Edges != repaired.Edges {
		t.Errorf("got %+v, want the same edges, %d archives and no fault", sum, trimmed)
	}
}

func (w *world) importFile(path string) {
	w.Helper()
	f, err := os.Open(path)
	if err != nil {
		w.Fatal(err)
	}
	defer f.Close()
	sum, err := graph.Import(w.Context(), graph.ImportConfig{Config: intake.Config{Reader: f}, Accounts: w.accounts, Rows: w.rows, Relations: w.Service, Now: time.Now})
	if err != nil {
		w.Fatal(err)
	}
	w.Logf("imported in %v", sum.Duration.Round(time.Millisecond))
}

// timed audits with the default bounds and logs what it took.
func (w *world) timed(what string, repair bool) audit.Summary {
	w.Helper()
	cfg := w.config()
	cfg.Now, cfg.Slices, cfg.Repair = time.Now, 0, repair
	shown := 0
	cfg.Report = func(f audit.Fault) {
		if shown++; shown <= 3 {
			w.Log(f)
		}
	}
	runtime.GC()
	var most atomic.Uint64
	ctx, stop := context.WithCancel(w.Context())
	defer stop()
	go watchHeap(ctx, &most)
	sum, err := audit.Run(w.Context(), cfg)
	if err != nil {
		w.Fatal(err)
	}
	w.Logf("%s: %v (first pass %v, %.0f rows/s), heap %d MiB at most, %+v", what, sum.Duration.Round(time.Millisecond),
		sum.FirstPass.Round(time.Millisecond), float64(sum.Rows)/sum.FirstPass.Seconds(), most.Load()>>20, sum)
	return sum
}

func watchHeap(ctx context.Context, most *atomic.Uint64) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var m runtime.MemStats
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.HeapAlloc))
		}
	}
}

// plantMany plants n faults of several kinds and returns whose rows it changed.
func (w *world) plantMany(n int) (ids []uint64) {
	w.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	if err := w.pool.SelectContext(w.Context(), &ids, `SELECT account_id FROM relation WHERE following > 20 ORDER BY bucket, account_id`); err != nil {
		w.Fatal(err)
	}
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	ids = ids[:n]
	for i, id := range ids {
		switch i % 8 {
		case 0:
			w.exist(1<<40 + id)
			w.plant(id, func(d *relation.Draft) { d.AddFollowing(1<<40+id, 77) })
		case 1:
			w.plant(id, func(d *relation.Draft) { d.DropFollowing(w.first(id)) })
		case 2:
			w.exec(`UPDATE relation SET followers = followers + 1 WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
		case 3:
			w.exist(1<<40 + id)
			w.plant(id, func(d *relation.Draft) { d.Put(list.Blocking, 1<<40+id, 5) })
		case 4:
			w.rewriteList(id, func(b []byte) []byte { return b[:len(b)-1] })
		case 5:
			w.rewriteList(id, func(b []byte) []byte { return overwrite(b, w.first(id), w.second(id)) })
		case 6:
			w.plant(id, func(d *relation.Draft) { d.AddFollowing(none, 77) })
		case 7: // an account that does not exist, and both sides say so
			w.plant(id, func(d *relation.Draft) { d.AddFollower(1<<41+id, 77) })
			w.plant(1<<41+id, func(d *relation.Draft) { d.AddFollowing(id, 77) })
		}
	}
	return ids
}

// first returns somebody whom an account follows, second somebody else.
func (w *world) first(id uint64) uint64  { return w.followed(id, 0) }
func (w *world) second(id uint64) uint64 { return w.followed(id, w.followed(id, 0)) }

// followed returns the last whom an account follows, but not the one given.
func (w *world) followed(id, but uint64) (found uint64) {
	w.Helper()
	v, err := w.row(id).View()
	if err != nil {
		w.Fatal(err)
	}
	for _, s := range []list.Section{list.Friends, list.Following} {
		_ = v.Each(s, func(other uint64, _, _ uint32) bool {
			if other != but {
				found = other
			}
			return other == but
		})
	}
	if found == 0 {
		w.Fatalf("%d follows nobody", id)
	}
	return found
}

func (w *world) trimLong(limit int) (n int) {
	w.Helper()
	after := relation.Outline{}
	for {
		page, err := w.rows.Long(w.Context(), limit, after, 100)
		if err != nil {
			w.Fatal(err)
		}
		if len(page) == 0 {
			return n
		}
		for _, r := range page {
			done, err := w.rows.Trim(w.Context(), r.AccountID, limit)
			if err != nil {
				w.Fatal(err)
			}
			if done > 0 {
				n++
			}
			after = r
		}
	}
}
