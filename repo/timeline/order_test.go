package timeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kith/repo/event"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
	"kith/repo/waittest"
)

// An actor is what one process does with a line: a few trips to memcached or to the
// database. turn returns when its next trip is due.
type actor func(turn func(), lines *Memcached)

// inTurn is a client that waits for its turn before each trip.
type inTurn struct {
	*memcache.Client
	turn func()
}

func (c inTurn) Get(ctx context.Context, keys []string, out []memcache.Item) {
	c.turn()
	c.Client.Get(ctx, keys, out)
}

func (c inTurn) GetLong(ctx context.Context, keys []string, out []memcache.Item) {
	c.turn()
	c.Client.GetLong(ctx, keys, out)
}

func (c inTurn) Do(ctx context.Context, all []memcache.Command) {
	c.turn()
	c.Client.Do(ctx, all)
}

func (c inTurn) Write(all []memcache.Command) {
	if len(all) > 0 {
		c.turn()
	}
	c.Client.Write(all)
}

func (c inTurn) Touch(ctx context.Context, key string, expiry time.Duration) error {
	c.turn()
	return c.Client.Touch(ctx, key, expiry)
}

// orders plays all orders in which the trips of actors may come, or some of them.
type orders struct {
	choices []int // of the order under way: which of those who wait goes next
	widths  []int // how many waited
	random  *rand.Rand
}

// play lets actors make their trips in one order.
func (o *orders) play(t *testing.T, client *memcache.Client, actors []actor) {
	t.Helper()
	type sign struct {
		who  int
		over bool
	}
	signs, turns := make(chan sign), make([]chan struct{}, len(actors))
	for i, act := range actors {
		turns[i] = make(chan struct{})
		turn := func() {
			signs <- sign{who: i}
			<-turns[i]
		}
		go func() {
			defer func() { signs <- sign{i, true} }()
			turn()
			act(turn, openMemcached(t, inTurn{client, turn}, Config{}))
		}()
	}
	var waiting []int
	await := func() {
		if s := waittest.Receive(t, patience, "next trip", signs); !s.over {
			waiting = append(waiting, s.who)
			slices.Sort(waiting)
		}
	}
	for range actors {
		await()
	}
	for trip := 0; len(waiting) > 0; trip++ {
		if trip == len(o.choices) {
			o.choices = append(o.choices, 0)
		}
		if o.widths = append(o.widths[:trip], len(waiting)); o.random != nil {
			o.choices[trip] = o.random.IntN(len(waiting))
		}
		who := waiting[o.choices[trip]]
		waiting = slices.Delete(waiting, o.choices[trip], o.choices[trip]+1)
		turns[who] <- struct{}{}
		await()
	}
	o.choices = o.choices[:len(o.widths)]
}

// next turns to the next order; false after the last.
func (o *orders) next() bool {
	for i := len(o.choices) - 1; i >= 0; i-- {
		if o.choices[i]+1 < o.widths[i] {
			o.choices = append(o.choices[:i:i], o.choices[i]+1)
			return true
		}
	}
	return false
}

// TestMemcached_Orders plays one post, readers and losses, trip by trip, in every order. In
// none does a reader get a line that lacks what was pushed before it asked.
func TestMemcached_Orders(t *testing.T) {
	t.Parallel()
	client := newClient(t, memcachetest.Start(t).Addr)
	const some = 500 // of the orders of cases that have too many
	for name, c := range map[string]struct {
		held   string // at the beginning
		actors []string
		all    bool
	}{
		"Build":             {"", []string{"post", "read"}, true},
		"Rebuild":           {"line", []string{"post", "rebuild"}, true},
		"Compact":           {"line", []string{"post", "compact"}, true},
		"Presence":          {"presence", []string{"post", "read"}, true},
		"PresenceLost":      {"line", []string{"post", "read", "lose presence"}, false},
		"LineLost":          {"line", []string{"post", "read", "lose line"}, false},
		"Dropped":           {"line", []string{"post", "read", "drop"}, false},
		"TwoPosts":          {"line", []string{"post", "post", "compact"}, false},
		"BuildAndLoss":      {"", []string{"post", "read", "lose presence"}, false},
		"TwoReaders":        {"", []string{"post", "read", "read"}, false},
		"ReadAndRebuild":    {"line", []string{"post", "rebuild", "read"}, false},
		"TwoCompactors":     {"line", []string{"post", "compact", "compact"}, false},
		"RebuildAndCompact": {"line", []string{"post", "post", "rebuild", "compact"}, false},
		"Everything":        {"line", []string{"post", "post", "read", "rebuild", "compact", "lose line", "lose presence"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := &orders{}
			if !c.all {
				o.random = rand.New(rand.NewPCG(1, 2))
			}
			for played := 1; ; played++ {
				playOne(t, client, o, c.held, c.actors)
				if t.Failed() {
					t.Fatalf("order %d, of trips %v", played, o.choices)
				}
				if !c.all && played == some || c.all && !o.next() {
					t.Logf("%d orders", played)
					return
				}
			}
		})
	}
}

// playOne plays one order with an account of its own.
func playOne(t *testing.T, client *memcache.Client, o *orders, held string, names []string) {
	t.Helper()
	a, direct := newAccount(), openMemcached(t, client, Config{})
	f := &feed{}
	f.commit(post(1))
	f.pushed(post(1))
	switch held {
	case "line":
		begun(t, direct, a, posts(1))
	case "presence":
		begun(t, direct, a, posts(1))
		loseLine(direct, a)
	}
	var actors []actor
	for i, name := range names {
		actors = append(actors, play(t, f, a, name, post(2+i)))
	}
	o.play(t, client, actors)
	f.read(t, direct, a, false)
	f.read(t, direct, a, false)
}

// play returns the actor of a name.
func play(t *testing.T, f *feed, a uint64, name string, e event.Event) actor {
	return func(turn func(), lines *Memcached) {
		switch name {
		case "post":
			f.commit(e)
			turn()
			if err := lines.Push(t.Context(), []event.Event{e}, []uint64{a}); err != nil {
				t.Error(err)
			}
			f.pushed(e)
		case "read":
			f.read(t, lines, a, false)
			f.read(t, lines, a, false)
		case "rebuild":
			token := lines.Begin(t.Context(), a)
			turn()
			l := filled(f.newestFirst(false))
			turn()
			if _, err := lines.Store(t.Context(), token, l); err != nil {
				t.Error(err)
			}
			f.read(t, lines, a, false)
		case "compact":
			f.read(t, lines, a, true)
			f.read(t, lines, a, true)
		case "lose line":
			loseLine(lines, a)
		case "lose presence":
			lines.Client.Write(drop(lines.key(a))[1:])
		case "drop":
			lines.Drop(t.Context(), a)
		default:
			panic(fmt.Sprint("no actor ", name))
		}
	}
}

func loseLine(lines *Memcached, a uint64) { lines.Client.Write(drop(lines.key(a))[:1]) }
