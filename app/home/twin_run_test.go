package home_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kith/app/marker"
	"kith/app/post"
	apptask "kith/app/task"
	"kith/repo/accepttest"
	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/feed"
	markers "kith/repo/marker"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
	posts "kith/repo/post"
	"kith/repo/row"
	"kith/repo/timeline"
	"kith/repo/waittest"
)

// machine is the processes in which a twin lives.
type machine struct {
	t       *testing.T
	worlds  []*world
	markers []*marker.Service // one of each process
	server  *memcachetest.Server
	clients []*memcache.Client
	killed  atomic.Bool // the last process carries out no task any more
	limit   int         // of pages
	slow    int64
}

// setting is how a machine is made.
type setting struct {
	name string
	config
	memcached bool // cache and lines are in a memcached, which is flushed in the middle
	processes int
	slow      int64 // how many times longer steps take; 0: 1
}

func newMachine(t *testing.T, s setting) *machine {
	m := &machine{t: t, limit: 9, slow: max(s.slow, 1)}
	if s.memcached {
		m.server = memcachetest.Start(t)
	}
	s.window = twinWindow
	for i := range max(s.processes, 1) {
		c := s.config
		if s.memcached {
			m.remember(&c)
		}
		if i > 0 {
			c.tasks = func(r *apptask.Runner) post.Runner { return crashing{r, &m.killed} }
		}
		w := newWorld(t, c)
		m.worlds = append(m.worlds, w)
		m.markers = append(m.markers, marker.New(marker.Config{Store: markers.New(dbtest.DB(t)), Homes: w.Service, Now: w.Now}))
	}
	return m
}

// remember has a process keep its cache and lines in memcached.
func (m *machine) remember(c *config) {
	m.t.Helper()
	client, err := memcache.New(memcache.Config{Servers: []string{m.server.Addr}, Timeout: time.Second})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { client.Close() })
	m.clients = append(m.clients, client)
	held, err := cache.NewMemcached(cache.Config{Client: client, MaxBytes: 16 << 20, Late: -1}) // else counts may be a second late
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { held.Close() })
	if c.lines, err = timeline.NewMemcached(timeline.Config{Client: client}); err != nil {
		m.t.Fatal(err)
	}
	c.cache = held
}

// one returns one of the processes.
func (m *machine) one(r *rand.Rand) *world { return m.worlds[r.IntN(len(m.worlds))] }

// tick has all clocks go on, by some seconds and a moment.
func (m *machine) tick(seconds int64) {
	for _, w := range m.worlds {
		w.Clock.Add(m.slow * seconds)
		w.Millis.Add(1)
	}
}

// flush restarts memcached, with nothing in it.
func (m *machine) flush() error {
	if m.server != nil {
		m.server.Restart()
	}
	return nil
}

// kill ends the last of several processes: what it commits from now on it does not carry out.
func (m *machine) kill() error {
	m.killed.Store(len(m.worlds) > 1)
	return nil
}

// settle waits until memcached is back for all, and all tasks are carried out. Those of a
// process that was killed, and of one for which memcached was away, are handed over at once,
// and not in a minute.
func (m *machine) settle() {
	m.t.Helper()
	m.killed.Store(false) // it has come back
	for _, c := range m.clients {
		waittest.Until(m.t, patience, "memcached is back", func() bool { return c.Ping(m.t.Context()) == nil })
	}
	tries := 0
	waittest.Until(m.t, patience, "all is pushed", func() bool {
		if m.server != nil && tries%100 == 0 {
			m.worlds[0].settleOf()
		}
		tries++
		n, _, err := m.worlds[0].Tasks.Backlog(m.t.Context(), 1000)
		return err == nil && n == 0
	})
}

// run carries out steps, until something differs; that is the error, and at which step.
func (tw *twin) run(steps []step) (at int, err error) {
	for i, s := range steps {
		if err := tw.do(s); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// shorter leaves out what steps it can so that the last still differs.
func shorter(m *machine, steps []step) []step {
	end := time.Now().Add(shortening)
	for size := len(steps) / 2; size > 0 && time.Now().Before(end); size /= 2 {
		for from := 0; from+size < len(steps) && time.Now().Before(end); {
			some := slices.Delete(slices.Clone(steps), from, from+size)
			if at, err := newTwin(m).run(some); errors.Is(err, errDiffers) {
				steps = some[:at+1]
			} else {
				from += size
			}
		}
	}
	return steps
}

// shortening is how long a history that differs is made shorter.
const shortening = 30 * time.Second

// check runs the steps of a history. One that differs is told in its shortest form, with
// how to run that again.
func check(t *testing.T, m *machine, seed uint64, steps []step) {
	t.Helper()
	tw := newTwin(m)
	at, err := tw.run(steps)
	if err == nil {
		return
	}
	if errors.Is(err, errDiffers) {
		steps = shorter(m, steps[:at+1])
		tw = newTwin(m)
		if _, shown := tw.run(steps); shown != nil {
			err = shown
		}
	}
	numbers := make([]string, len(steps))
	for i, s := range steps {
		numbers[i] = strconv.Itoa(s.no)
	}
	tw.fail(err)
	t.Fatalf("again: %s='%d %s' go test -run '%s' ./app/home", twinAgain, seed, strings.Join(numbers, ","), t.Name())
}

// fail tells what was done, and what differs then.
func (tw *twin) fail(err error) {
	tw.machine.t.Helper()
	tw.machine.t.Errorf("%s\n%v", strings.Join(tw.log, "\n"), err)
}

// twinAgain is the variable by which a history is run again: its seed, and the numbers of
// its steps.
const twinAgain = "KITH_TWIN"

// again returns the history of the variable.
func again(t *testing.T, value string) (seed uint64, steps []step) {
	t.Helper()
	first, numbers, _ := strings.Cut(value, " ")
	seed, err := strconv.ParseUint(first, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", twinAgain, err)
	}
	all := history(seed, twinSteps)
	for number := range strings.SplitSeq(numbers, ",") {
		no, err := strconv.Atoi(number)
		if err != nil || no >= len(all) {
			t.Fatalf("%s: step %q", twinAgain, number)
		}
		steps = append(steps, all[no])
	}
	return seed, steps
}

const twinSteps = 120

// Homes, walks, refreshes, counts and lists are those of the plain program, whichever way
// they come.
func TestService_Home_Plain(t *testing.T) { plainInAll(t, 3) }

// The same for many more histories.
func TestAccept_Plain(t *testing.T) {
	accepttest.Long(t)
	plainInAll(t, 60)
}

func plainInAll(t *testing.T, seeds uint64) {
	for i, s := range []setting{
		{name: "cold"},
		{name: "hot", config: config{lines: local(t)}},
		{name: "no push", config: config{lines: local(t), noPush: true}},
		{name: "some pulled", config: config{lines: local(t), limit: 3}},
		{name: "short", config: config{lines: local(t), cap: 10}},
		{name: "warm", config: config{lines: local(t), warm: true}},
		{name: "warm and short, no push", config: config{lines: local(t), warm: true, cap: 10, noPush: true}},
		{name: "few at once", config: config{lines: local(t), warm: true, cap: 10, atOnce: 2}},
		{name: "few at once, no push", config: config{lines: local(t), noPush: true, atOnce: 1}},
		{name: "windows", config: config{lines: local(t), cap: 10}, slow: 20},
		{name: "windows, no push", config: config{lines: local(t), cap: 10, noPush: true}, slow: 60, memcached: true},
		{name: "memcached flushed", memcached: true},
		{name: "two processes, one killed", memcached: true, processes: 2},
	} {
		t.Run(s.name, func(t *testing.T) {
			m := newMachine(t, s)
			if value := os.Getenv(twinAgain); value != "" {
				seed, steps := again(t, value)
				check(t, m, seed, steps)
				return
			}
			for n := range seeds {
				seed := uint64(i)*1000 + n // others in each setting
				check(t, m, seed, history(seed, twinSteps))
			}
		})
	}
}

// The same holds further down than author feeds go.
func TestService_Home_PlainDeep(t *testing.T) {
	m := newMachine(t, setting{config: config{lines: local(t), cap: 100}})
	m.limit = 80
	w, tw := m.worlds[0], newTwin(m)
	often, reposter := tw.people[10], tw.people[11]
	of, goes := w.Post(t, often, "is reposted behind three others, one of them deleted"), w.Post(t, often, "goes")
	for _, p := range []posts.Post{of, w.Post(t, often, "1"), w.Post(t, often, "2"), goes} {
		tw.model.Posts[p.ID] = &p
	}
	if _, err := w.Posts.Delete(t.Context(), often, goes.ID); err != nil {
		t.Fatal(err)
	}
	tw.model.Posts[goes.ID].State = posts.Deleted
	repost := w.repost(reposter, of.ID)
	tw.model.Posts[repost] = &posts.Post{Meta: row.Meta{ID: repost, Ver: 1}, Author: reposter, Origin: of.ID}

	steps := history(0, 190)
	for i := range steps {
		if s := &steps[i]; i < 2*twinReaders {
			*s = step{no: i, kind: "follow", who: i / 2, other: 10 + i%2}
		} else if s.kind != "flush" && i > 60 && i%3 > 0 {
			s.who = 10
		}
	}
	late := len(steps) - 50 // what happens then is about what is old
	_, err := tw.run(steps[:late])
	if err == nil {
		tw.writeMany(often, feed.MaxEvents)
		_, err = tw.run(steps[late:])
	}
	if err != nil {
		tw.fail(err)
	}
}

// writeMany has an account make posts, some at once, which takes less time.
func (tw *twin) writeMany(by uint64, n int) {
	const writers = 20
	made := make([][]posts.Post, writers)
	var g errgroup.Group
	for i := range writers {
		g.Go(func() error {
			for range n / writers {
				v, err := tw.machine.worlds[0].Posts.Create(tw.ctx, by, post.Draft{Content: posts.Content{Text: "more"}})
				if err != nil {
					return err
				}
				made[i] = append(made[i], v.Post)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		tw.machine.t.Fatal(err)
	}
	for _, p := range slices.Concat(made...) {
		tw.model.Posts[p.ID] = &p
	}
}
