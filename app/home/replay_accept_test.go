package home_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kith/app"
	"kith/app/home"
	"kith/app/home/hometest"
	"kith/app/post"
	apprelation "kith/app/relation"
	apptask "kith/app/task"
	"kith/repo/accepttest"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/feed"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
	posts "kith/repo/post"
	"kith/repo/task"
	"kith/repo/timeline"
)

// replay is a real graph and events on it, carried out by two processes that share a
// database and a memcached.
type replay struct {
	t       *testing.T
	a, b    *world
	killed  atomic.Bool
	server  *memcachetest.Server
	follows []hometest.Pair
	readers []uint64

	mu     sync.Mutex
	newest map[uint64]uint64 // the newest post of each account
	failed atomic.Int64
}

// happened is that an account reposts the newest post of another (RT), answers it (RE), or
// posts something, which may mention the other (MT).
type happened struct {
	actor, target uint64
	kind          string
}

// crashing is a Runner whose process ends: what it has not done it never does.
type crashing struct {
	*apptask.Runner
	dead *atomic.Bool
}

func (c crashing) Do(ctx context.Context, t task.Task) error {
	if c.dead.Load() {
		return nil
	}
	return c.Runner.Do(ctx, t)
}

func (c crashing) Go(t task.Task) {
	if !c.dead.Load() {
		c.Runner.Go(t)
	}
}

// The events of the days around the announcement of the Higgs boson, replayed over a
// fragment of the follow graph of the same accounts: the homes of many readers are what a
// plain program makes of posts and follows, whatever tier they come from.
//
// KITH_EVENTS bounds the number of events, here and below.
func TestAccept_Higgs(t *testing.T) {
	accepttest.Long(t)
	graph, file := accepttest.File(t, "higgs-follows-part.txt.gz"), accepttest.File(t, "higgs-activity_time.txt.gz")
	r := newReplay(t, graph)
	var events []happened
	for line := range accepttest.Lines(t, file) {
		f := strings.Fields(line)
		if len(events) == most(1<<30) {
			break
		}
		actor, _ := strconv.ParseUint(f[0], 10, 63)
		target, _ := strconv.ParseUint(f[1], 10, 63)
		events = append(events, happened{actor, target, f[3]})
	}
	r.compare(events)
}

// The same over a graph of Twitter, which is five times as large, with events drawn: who has
// more followers posts more, and reposts and answers somebody it follows.
func TestAccept_Twitter(t *testing.T) {
	accepttest.Long(t)
	r := newReplay(t, accepttest.File(t, "ego-twitter.txt.gz"))
	following := map[uint64][]uint64{}
	authors := make([]uint64, 0, len(r.follows)) // each as often as it has followers
	for _, p := range r.follows {
		following[p.From] = append(following[p.From], p.To)
		authors = append(authors, p.To)
	}
	random := rand.New(rand.NewPCG(3, 4))
	var events []happened
	for range most(200_000) {
		e := happened{actor: authors[random.IntN(len(authors))], kind: []string{"RT", "RT", "RT", "RT", "RE", "RE", "MT", "", "", ""}[random.IntN(10)]}
		e.target = e.actor
		if others := following[e.actor]; len(others) > 0 {
			e.target = others[random.IntN(len(others))]
		}
		events = append(events, e)
	}
	r.compare(events)
}

// most returns how many events there are to be, by KITH_EVENTS, or all.
func most(all int) int {
	n, err := strconv.Atoi(os.Getenv("KITH_EVENTS"))
	if err != nil {
		return all
	}
	return min(n, all)
}

// compare carries out events, and compares the homes of the readers in each setting.
func (h *replay) compare(events []happened) {
	h.t.Helper()
	h.replay(events)
	h.a.pushedWithin(10 * time.Minute) // what found the queue full waits until its claim runs out
	want := h.plain()
	if n := h.failed.Load(); n > 0 {
		h.t.Errorf("%d events failed", n)
	}
	for name, s := range h.settings() {
		begun, entries, sources, equal := time.Now(), 0, 0, 0
		for i, reader := range h.readers {
			got := entriesOf(h.t, s, reader)
			if slices.EqualFunc(got, want[i], alike) {
				equal++
			} else {
				h.t.Errorf("%s: the home of %d differs: %s", name, reader, differ(got, want[i]))
			}
			for _, e := range got {
				entries, sources = entries+1, sources+len(e.Sources)
			}
		}
		h.t.Logf("%s: %d of %d homes are equal, %d entries, %d sources, in %v", name, equal, len(h.readers), entries, sources, time.Since(begun).Round(time.Millisecond))
	}
}

func newReplay(t *testing.T, graph string) *replay {
	server := memcachetest.Start(t, "-m", "512")
	h := &replay{t: t, server: server, newest: map[uint64]uint64{}}
	client := func() *memcache.Client {
		c, err := memcache.New(memcache.Config{Servers: []string{server.Addr}, Timeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	process := func(tasks func(*apptask.Runner) post.Runner) *world {
		servers := client()
		c, err := cache.NewMemcached(cache.Config{Client: servers, MaxBytes: 256 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		lines, err := timeline.NewMemcached(timeline.Config{Client: servers})
		if err != nil {
			t.Fatal(err)
		}
		return newWorld(t, config{cache: c, lines: lines, recheck: 24 * time.Hour, tasks: tasks, every: time.Second})
	}
	h.a = process(nil)
	h.b = process(func(r *apptask.Runner) post.Runner { return crashing{r, &h.killed} })
	h.load(graph)
	return h
}

// load makes the accounts and follows of the graph, and chooses the readers.
func (h *replay) load(path string) {
	h.t.Helper()
	begun, following := time.Now(), map[uint64]int{}
	for line := range accepttest.Lines(h.t, path) {
		from, to, ok := strings.Cut(line, " ")
		a, errA := strconv.ParseUint(from, 10, 63)
		b, errB := strconv.ParseUint(to, 10, 63)
		if !ok || errA != nil || errB != nil || a == b {
			continue // the file is cut short
		}
		h.follows = append(h.follows, hometest.Pair{From: a, To: b})
		following[a]++
		following[b] += 0
	}
	h.ensure(slices.Collect(maps.Keys(following)))
	h.parallel(len(h.follows), func(i int) error {
		p := h.follows[i]
		_, err := h.a.Follow(context.Background(), p.From, p.To, apprelation.FollowOptions{})
		return err
	})
	all := slices.SortedFunc(maps.Keys(following), func(a, b uint64) int { return following[b] - following[a] })
	h.readers = slices.Clone(all[:20])
	all = slices.DeleteFunc(slices.Sorted(slices.Values(all)), func(id uint64) bool { return following[id] == 0 })
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		h.readers = append(h.readers, all[random.IntN(len(all))])
	}
	h.t.Logf("%d accounts and %d follows in %v; the readers follow up to %d", len(following), len(h.follows), time.Since(begun).Round(time.Millisecond), following[h.readers[0]])
}

func (h *replay) ensure(ids []uint64) {
	h.t.Helper()
	for part := range slices.Chunk(ids, account.MaxRows) {
		h.a.Make(part...)
	}
}

// parallel runs fn for 0 to n-1, many at once.
func (h *replay) parallel(n int, fn func(i int) error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 128 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				h.a.Millis.Add(1)
				h.b.Millis.Store(h.a.Millis.Load())
				err := fn(i)
				for range 5 { // as a client does; a post that is made twice is one of the plain program's, too
					if app.KindOf(err) != app.Busy {
						break
					}
					err = fn(i)
				}
				if err != nil && h.failed.Add(1) <= 10 {
					h.t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// replay carries out the events, some thousand at a time. A repost is of the newest post
// that its target had before, a target without a post makes one. In the middle memcached is
// flushed, and after two thirds one process ends with tasks that it has not carried out.
func (h *replay) replay(events []happened) {
	h.t.Helper()
	known := map[uint64]bool{}
	for _, e := range events {
		known[e.actor], known[e.target] = true, true
	}
	h.ensure(slices.Collect(maps.Keys(known)))
	begun, done := time.Now(), 0
	for part := range slices.Chunk(events, 4096) {
		h.chunk(part)
		for _, r := range h.readers[:len(h.readers)/2] { // half of the readers are around
			if _, err := h.a.Home(h.t.Context(), r, home.Range{Limit: 20}); err != nil {
				h.t.Fatal(err)
			}
		}
		before := done
		if done += len(part); done/50_000 > before/50_000 {
			h.t.Logf("%d events in %v", done, time.Since(begun).Round(time.Second))
		}
		if before < len(events)/2 && done >= len(events)/2 {
			h.server.Restart() // with nothing in it
		}
		if before < len(events)*2/3 && done >= len(events)*2/3 {
			h.killed.Store(true)
		}
	}
	h.b.settleOf()
	h.t.Logf("%d events in %v", len(events), time.Since(begun).Round(time.Millisecond))
}

// settleOf hands over the tasks of a process that ended, which otherwise takes a minute.
func (w *world) settleOf() {
	w.t.Helper()
	if _, err := dbtest.DB(w.t).ExecContext(w.t.Context(), `UPDATE task SET claimed_until = 1`); err != nil {
		w.t.Fatal(err)
	}
}

func (h *replay) chunk(events []happened) {
	var first []uint64
	made := map[uint64]bool{}
	for _, e := range events {
		if (e.kind == "RT" || e.kind == "RE") && h.newest[e.target] == 0 && !made[e.target] {
			made[e.target] = true
			first = append(first, e.target)
		}
	}
	h.parallel(len(first), func(i int) error { return h.write(h.a, first[i], post.Draft{Content: posts.Content{Text: "first"}}) })
	was := maps.Clone(h.newest)
	h.parallel(len(events), func(i int) error {
		e, w := events[i], h.a
		if i%2 == 0 && !h.killed.Load() {
			w = h.b
		}
		switch e.kind {
		case "RT":
			_, err := w.Posts.Repost(context.Background(), e.actor, was[e.target], 0)
			return err
		case "RE":
			return h.write(w, e.actor, post.Draft{Content: posts.Content{Text: "reply"}, ReplyTo: was[e.target]})
		case "MT":
			return h.write(w, e.actor, post.Draft{Content: posts.Content{Text: fmt.Sprintf("hello @u%d", e.target)}})
		default:
			return h.write(w, e.actor, post.Draft{Content: posts.Content{Text: "hello"}})
		}
	})
}

func (h *replay) write(w *world, by uint64, d post.Draft) error {
	v, err := w.Posts.Create(context.Background(), by, d)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.newest[by] = max(h.newest[by], v.Post.ID)
	return err
}

// plain returns the homes of the readers as a plain program makes them.
func (h *replay) plain() [][]hometest.Entry {
	h.t.Helper()
	w := hometest.World{Now: h.a.Now(), Posts: map[uint64]*posts.Post{}, Follows: map[hometest.Pair]hometest.Follow{}, Window: 80, Reach: 800}
	for _, p := range h.follows {
		w.Follows[p] = hometest.Follow{}
	}
	for after, more := uint64(0), true; more; {
		more = false
		err := h.a.Stored.Walk(h.t.Context(), after, 10_000, func(p posts.Post) error {
			after, more = p.ID, true
			w.Posts[p.ID] = &p
			return nil
		})
		if err != nil {
			h.t.Fatal(err)
		}
	}
	h.t.Logf("%d posts and reposts", len(w.Posts))
	out := make([][]hometest.Entry, len(h.readers))
	for i, r := range h.readers {
		out[i] = w.Home(r)
	}
	return out
}

// settings are the ways in which a home is read.
func (h *replay) settings() map[string]*home.Service {
	lines, err := timeline.NewLocal(timeline.Config{MaxBytes: 64 << 20})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { lines.Close() })
	base := home.Config{Relations: h.a.Rows, Posts: h.a.Stored, Feeds: h.a.Feeds, Now: h.a.Now}
	cold, pulled, small, warm := base, base, base, base
	cold.Lines = timeline.NewNone()
	pulled.Lines = lines
	small.Lines, small.Cap, small.Push = lines, 100, true
	rows := timeline.NewStore(dbtest.DB(h.t), h.a.Now, slog.New(slog.DiscardHandler))
	for _, reader := range h.readers { // as they are for half of them
		if l, ok := h.a.lines.Peek(h.t.Context(), reader); ok {
			if _, err := rows.Save(h.t.Context(), reader, l); err != nil {
				h.t.Fatal(err)
			}
		}
	}
	warm.Lines, warm.Warm, warm.WarmFrom, warm.Push = timeline.NewNone(), rows, 1, true
	warm.Feeds = uncached{h.a.Feeds}
	return map[string]*home.Service{
		"pushed only, memcached flushed in the middle, one of two processes killed": h.a.Service,
		"no lines": home.New(cold), "push off": home.New(pulled), "short lines": home.New(small), "warm": home.New(warm),
	}
}

// uncached are feeds of which the cache has none.
type uncached struct{ *feed.Store }

func (uncached) Cached(_ context.Context, ids []uint64) (rows []feed.Row, missing []int) {
	for i := range ids {
		missing = append(missing, i)
	}
	return make([]feed.Row, len(ids)), missing
}

func entriesOf(t *testing.T, s *home.Service, reader uint64) (out []hometest.Entry) {
	t.Helper()
	for r := (home.Range{Limit: 40}); ; {
		page, err := s.Home(t.Context(), reader, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			e := hometest.Entry{ID: i.Event.ID, Post: i.Event.Post()}
			for _, s := range i.Sources {
				e.Sources = append(e.Sources, s.ID)
			}
			out = append(out, e)
		}
		if page.Next == 0 {
			return out
		}
		if r.Before = page.Next; len(out) > 2000 {
			r.Limit = 400 // a page costs much down there
		}
	}
}

func alike(a, b hometest.Entry) bool {
	return a.ID == b.ID && a.Post == b.Post && slices.Equal(a.Sources, b.Sources)
}

// differ names the first entry in which two homes differ.
func differ(got, want []hometest.Entry) string {
	for i := range min(len(got), len(want)) {
		if !alike(got[i], want[i]) {
			return fmt.Sprintf("entry %d of %d is %+v, want %+v", i, len(got), got[i], want[i])
		}
	}
	return fmt.Sprintf("%d entries, want %d", len(got), len(want))
}
