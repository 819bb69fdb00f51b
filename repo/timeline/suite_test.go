package timeline

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"kith/repo/event"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
)

// patience bounds the waits of tests; it is spent only when one fails.
const patience = 20 * time.Second

// holder is one implementation under test.
type holder struct {
	name  string
	holds bool // it keeps lines while there is room
	open  func(t testing.TB) Lines
}

var holders = []holder{
	{"Memcached", true, func(t testing.TB) Lines {
		return openMemcached(t, newClient(t, memcachetest.Addr(t)), Config{})
	}},
	{"Local", true, func(t testing.TB) Lines { return openLocal(t, Config{MaxBytes: 64 << 20}) }},
	{"None", false, func(testing.TB) Lines { return NewNone() }},
}

// newClient waits long for a server: a machine busy with other tests must not look like an
// outage.
func newClient(t testing.TB, addr string) *memcache.Client {
	t.Helper()
	client, err := memcache.New(memcache.Config{Servers: []string{addr}, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func openMemcached(t testing.TB, client Client, cfg Config) *Memcached {
	t.Helper()
	cfg.Client = client
	m, err := NewMemcached(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func openLocal(t testing.TB, cfg Config) *Local {
	t.Helper()
	l, err := NewLocal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// newAccount returns an account that no other test uses.
func newAccount() uint64 { return rand.Uint64N(1<<62) + 1 }

// post returns event n of the tests' author; later ones have higher n.
func post(n int) event.Event {
	const author = 3<<10 | 7
	return event.Event{ID: event.First(event.Epoch.Add(time.Duration(n)*time.Second)) | author&1023, Author: author}
}

// posts returns events in the order of their numbers.
func posts(n ...int) []event.Event {
	all := make([]event.Event, len(n))
	for i := range n {
		all[i] = post(n[i])
	}
	return all
}

// filled returns a line that has something in every field.
func filled(events []event.Event) Line {
	return Line{Events: events, Floor: 5, Follows: 1 << 63, Pulled: []uint64{3, 9, 1 << 40}, BuiltAt: time.UnixMilli(1_800_000_000_123).UTC()}
}

// begun stores a line of events and returns it.
func begun(t *testing.T, lines Lines, account uint64, events []event.Event) Line {
	t.Helper()
	l := filled(events)
	if ok, err := lines.Store(t.Context(), lines.Begin(t.Context(), account), l); err != nil || !ok {
		t.Fatalf("store: got %v, %v", ok, err)
	}
	return l
}

func push(t *testing.T, lines Lines, account uint64, events ...event.Event) {
	t.Helper()
	if err := lines.Push(t.Context(), events, []uint64{account}); err != nil {
		t.Fatal(err)
	}
}

// want loads a line, which is to be there.
func want(t *testing.T, lines Lines, account uint64, l Line, events []event.Event, appended int) Token {
	t.Helper()
	l.Events, l.Appended = events, appended
	if got, ok := lines.Peek(t.Context(), account); !ok || !reflect.DeepEqual(got, l) {
		t.Fatalf("peek: got %v, %+v\nwant %+v", ok, got, l)
	}
	got, token, ok := lines.Load(t.Context(), account)
	if got = got.Whole(); !ok || !reflect.DeepEqual(got, l) {
		t.Fatalf("got %v, %+v\nwant %+v", ok, got, l)
	}
	return token
}

func wantNone(t *testing.T, lines Lines, account uint64) {
	t.Helper()
	if l, _, ok := lines.Load(t.Context(), account); ok {
		t.Fatalf("got %+v, want none", l)
	}
	if l, ok := lines.Peek(t.Context(), account); ok {
		t.Fatalf("peek: got %+v, want none", l)
	}
}

func TestLines(t *testing.T) {
	for _, h := range holders {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			lines := h.open(t)
			for name, test := range map[string]func(*testing.T, Lines, uint64){
				"Absent": testAbsent, "NoLine": testNoLine, "Refused": testRefused, "Closed": testClosed(h),
			} {
				t.Run(name, func(t *testing.T) { test(t, lines, newAccount()) })
			}
			if !h.holds {
				return
			}
			for name, test := range map[string]func(*testing.T, Lines, uint64){
				"Store": testStore, "Empty": testEmpty, "Push": testPush, "PushWhileBuilt": testPushWhileBuilt, "Merge": testMerge, "Floor": testFloor,
				"Compact": testCompact, "PushWhileCompacted": testPushWhileCompacted, "TwoBuilders": testTwoBuilders,
				"TwoCompactors": testTwoCompactors, "Drop": testDrop, "Outgrown": testOutgrown, "Many": testMany, "Cut": testCut, "Owned": testOwned,
			} {
				t.Run(name, func(t *testing.T) { test(t, lines, newAccount()) })
			}
		})
	}
}

func testAbsent(t *testing.T, lines Lines, a uint64) {
	wantNone(t, lines, a)
	push(t, lines, a, post(1))
	wantNone(t, lines, a)
	lines.Drop(t.Context(), a)
	push(t, lines, a) // nothing, to somebody
	if err := lines.Push(t.Context(), posts(1), nil); err != nil {
		t.Error(err)
	}
}

// What has only begun is no line, whatever was pushed.
func testNoLine(t *testing.T, lines Lines, a uint64) {
	lines.Begin(t.Context(), a)
	wantNone(t, lines, a)
	push(t, lines, a, post(1))
	wantNone(t, lines, a)
}

func testRefused(t *testing.T, lines Lines, a uint64) {
	if ok, err := lines.Store(t.Context(), Token{}, filled(posts(1))); ok || err != nil {
		t.Errorf("without a token: got %v, %v, want that it is not stored", ok, err)
	}
	for name, events := range map[string][]event.Event{
		"rising": posts(1, 2), "twice": posts(1, 1), "of nobody": {{ID: 7}},
	} {
		if ok, err := lines.Store(t.Context(), lines.Begin(t.Context(), a), Line{Events: events}); ok || err == nil {
			t.Errorf("%s: got %v, %v, want an error", name, ok, err)
		}
		wantNone(t, lines, a)
	}
}

// A call whose time is over does nothing, or all.
func testClosed(h holder) func(*testing.T, Lines, uint64) {
	return func(t *testing.T, lines Lines, a uint64) {
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, ok := lines.Load(over, a); ok {
			t.Error("got a line after the end of the context")
		}
		if ok, _ := lines.Store(over, lines.Begin(over, a), filled(posts(1))); ok {
			t.Error("stored what was begun after the end of the context")
		}
		closed := h.open(t)
		if h.holds {
			begun(t, closed, a, posts(1))
		}
		token := closed.Begin(t.Context(), a)
		if err := closed.Close(); err != nil {
			t.Fatal(err)
		}
		closed.Close()
		closed.Store(t.Context(), token, filled(posts(1)))
		closed.Begin(t.Context(), a)
		push(t, closed, a, post(2))
		closed.Drop(t.Context(), a)
		wantNone(t, closed, a)
	}
}

func testStore(t *testing.T, lines Lines, a uint64) {
	l := begun(t, lines, a, posts(9, 5, 1))
	want(t, lines, a, l, posts(9, 5, 1), 0)
	again := begun(t, lines, a, posts(7))
	want(t, lines, a, again, posts(7), 0)
	wantNone(t, lines, a+1)
}

// An empty line is a line.
func testEmpty(t *testing.T, lines Lines, a uint64) {
	if ok, err := lines.Store(t.Context(), lines.Begin(t.Context(), a), Line{BuiltAt: time.UnixMilli(0).UTC()}); err != nil || !ok {
		t.Fatalf("got %v, %v", ok, err)
	}
	got, _, ok := lines.Load(t.Context(), a)
	if !ok || len(got.Events) != 0 || !got.BuiltAt.Equal(time.UnixMilli(0)) {
		t.Fatalf("got %+v, %v", got, ok)
	}
}

func testPush(t *testing.T, lines Lines, a uint64) {
	l := begun(t, lines, a, posts(9, 5, 1))
	push(t, lines, a, post(10))
	push(t, lines, a, post(12), post(11))
	want(t, lines, a, l, posts(12, 11, 10, 9, 5, 1), 3)
}

func testPushWhileBuilt(t *testing.T, lines Lines, a uint64) {
	token := lines.Begin(t.Context(), a)
	push(t, lines, a, post(10))
	push(t, lines, a, post(12))
	l := filled(posts(11, 10))
	if ok, err := lines.Store(t.Context(), token, l); err != nil || !ok {
		t.Fatalf("got %v, %v", ok, err)
	}
	want(t, lines, a, l, posts(12, 11, 10), 2)
}

// What is pushed stands in its place, once, however it comes.
func testMerge(t *testing.T, lines Lines, a uint64) {
	l := begun(t, lines, a, posts(9, 5, 2))
	for _, n := range []int{4, 9, 1, 10, 4, 10, 2} {
		push(t, lines, a, post(n))
	}
	want(t, lines, a, l, posts(10, 9, 5, 4, 2, 1), 7)
}

func testFloor(t *testing.T, lines Lines, a uint64) {
	l := filled(posts(9, 5, 4))
	l.Floor = post(5).ID
	if ok, err := lines.Store(t.Context(), lines.Begin(t.Context(), a), l); err != nil || !ok {
		t.Fatalf("got %v, %v", ok, err)
	}
	push(t, lines, a, post(3))
	push(t, lines, a, post(6))
	want(t, lines, a, l, posts(9, 6, 5), 2)
}

func testCompact(t *testing.T, lines Lines, a uint64) {
	l := begun(t, lines, a, posts(1))
	for n := range 30 {
		push(t, lines, a, post(n+2))
	}
	got, token, _ := lines.Load(t.Context(), a)
	got.Floor, got.Events = post(30).ID, got.Events[:2]
	if ok, err := lines.Store(t.Context(), token, got); err != nil || !ok {
		t.Fatalf("got %v, %v", ok, err)
	}
	l.Floor = post(30).ID
	want(t, lines, a, l, posts(31, 30), 0)
	push(t, lines, a, post(33))
	want(t, lines, a, l, posts(33, 31, 30), 1)
}

func testPushWhileCompacted(t *testing.T, lines Lines, a uint64) {
	l := begun(t, lines, a, posts(1))
	push(t, lines, a, post(2))
	got, token, _ := lines.Load(t.Context(), a)
	push(t, lines, a, post(3))
	push(t, lines, a, post(4))
	if ok, err := lines.Store(t.Context(), token, got); err != nil || !ok {
		t.Fatalf("got %v, %v", ok, err)
	}
	want(t, lines, a, l, posts(4, 3, 2, 1), 2)
}

// Whoever began last stores.
func testTwoBuilders(t *testing.T, lines Lines, a uint64) {
	one := lines.Begin(t.Context(), a)
	push(t, lines, a, post(8))
	two := lines.Begin(t.Context(), a)
	push(t, lines, a, post(9))
	if ok, err := lines.Store(t.Context(), one, filled(posts(1))); err != nil || ok {
		t.Fatalf("got %v, %v from the first, want that it is not stored", ok, err)
	}
	l := filled(posts(2))
	if ok, err := lines.Store(t.Context(), two, l); err != nil || !ok {
		t.Fatalf("got %v, %v", ok, err)
	}
	want(t, lines, a, l, posts(9, 2), 1)
	if ok, err := lines.Store(t.Context(), one, filled(posts(1))); err != nil || ok {
		t.Fatalf("got %v, %v from the first, want that it is not stored", ok, err)
	}
	want(t, lines, a, l, posts(9, 2), 1)
}

func testTwoCompactors(t *testing.T, lines Lines, a uint64) {
	begun(t, lines, a, posts(1))
	push(t, lines, a, post(2))
	first, one, _ := lines.Load(t.Context(), a)
	push(t, lines, a, post(3))
	second, two, _ := lines.Load(t.Context(), a)
	first.Follows, second.Follows = 1, 2
	if ok, err := lines.Store(t.Context(), two, second); err != nil || !ok {
		t.Fatalf("got %v, %v", ok, err)
	}
	for _, late := range []Token{one, two} {
		if ok, err := lines.Store(t.Context(), late, first); err != nil || ok {
			t.Fatalf("got %v, %v from a late one, want that it is not stored", ok, err)
		}
	}
	want(t, lines, a, second, posts(3, 2, 1), 0)
}

func testDrop(t *testing.T, lines Lines, a uint64) {
	begun(t, lines, a, posts(1))
	_, token, _ := lines.Load(t.Context(), a)
	building := lines.Begin(t.Context(), a+1)
	lines.Drop(t.Context(), a)
	lines.Drop(t.Context(), a+1)
	wantNone(t, lines, a)
	for _, gone := range []Token{token, building} {
		if ok, err := lines.Store(t.Context(), gone, filled(posts(1))); err != nil || ok {
			t.Errorf("got %v, %v of a dropped line, want that it is not stored", ok, err)
		}
	}
	push(t, lines, a, post(2))
	wantNone(t, lines, a)
}

// A line that cannot grow any more is gone, not incomplete.
func testOutgrown(t *testing.T, lines Lines, a uint64) {
	begun(t, lines, a, nil)
	batch, pushed := make([]event.Event, 5000), 0
	for range 30 {
		for i := range batch {
			pushed++
			batch[i] = post(pushed)
		}
		push(t, lines, a, batch...)
		l, _, ok := lines.Load(t.Context(), a)
		if !ok {
			push(t, lines, a, batch...)
			wantNone(t, lines, a)
			begun(t, lines, a, posts(1)) // as any other
			return
		}
		if len(l.Events) != pushed {
			t.Fatalf("got %d events, want %d or no line", len(l.Events), pushed)
		}
	}
	t.Fatalf("%d events are held, more than memcached takes", pushed)
}

// One Push reaches all who are around, whatever their number.
func testMany(t *testing.T, lines Lines, a uint64) {
	var followers []uint64
	for i := range uint64(1000) {
		followers = append(followers, a+i)
	}
	for _, f := range followers {
		if f%3 == 0 {
			begun(t, lines, f, posts(1))
		}
	}
	if err := lines.Push(t.Context(), posts(3, 2), followers); err != nil {
		t.Fatal(err)
	}
	for _, f := range followers {
		if f%3 == 0 {
			want(t, lines, f, filled(nil), posts(3, 2, 1), 2)
		} else {
			wantNone(t, lines, f)
		}
	}
}

// Of too many events the newest are stored, whatever was pushed while nobody read.
func testCut(t *testing.T, lines Lines, a uint64) {
	const more = 7
	all := make([]event.Event, MaxEvents+more)
	for i := range all {
		all[i] = post(len(all) - i)
	}
	l := begun(t, lines, a, all[more:])
	push(t, lines, a, all[:more]...)
	token := want(t, lines, a, l, all, more)
	l.Events = all
	if ok, err := lines.Store(t.Context(), token, l); !ok || err != nil {
		t.Fatalf("got %v, %v", ok, err)
	}
	l.Floor = post(more + 1).ID
	want(t, lines, a, l, all[:MaxEvents], 0)
}

// The line that Load returns is the caller's.
func testOwned(t *testing.T, lines Lines, a uint64) {
	l := begun(t, lines, a, posts(2, 1))
	push(t, lines, a, post(3))
	got, _, _ := lines.Load(t.Context(), a)
	clear(got.Events)
	clear(got.Pulled)
	got.Events = append(got.Events[:1], posts(8)...)
	want(t, lines, a, l, posts(3, 2, 1), 1)
}
