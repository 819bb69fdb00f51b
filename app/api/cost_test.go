package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"kith/app/api/core"
)

// What a request may cost, whoever asks and whoever is asked about.
const (
	maxRatio = 20      // of the time that the same request takes of small accounts
	maxBytes = 2 << 20 // that are allocated
)

// How a request is measured: the median of some runs counts, and the best of
// some rounds, since other work on the machine makes times longer and never
// shorter.
const (
	costRuns   = 5
	costRounds = slot / costRuns
	costTime   = 200 * time.Millisecond // after so long three runs are enough
	// costLimit is when a request is given up, which is too dear in any case.
	costLimit = 2 * time.Second
)

// request is one request of a test.
type request struct {
	as     uint64 // 0: anonymous
	method string
	path   string // with the query
	body   string
	before func()  // is not measured
	late   *string // the path, once before was called
}

// compared is a request that a large account has to do with, and the same one
// with small accounts only. Run n of them may be another request, where each
// changes something that is there once.
type compared struct {
	name         string
	status       int // 0: 200
	large, small func(n int) request
	after        func()
}

// cost is what a request took.
type cost struct {
	time  time.Duration
	bytes uint64
}

// costed is a line of the table.
type costed struct {
	route, name  string
	large, small cost
}

func (c costed) ratio() float64 { return float64(c.large.time) / float64(c.small.time) }
func (c costed) over() bool     { return c.ratio() > maxRatio || c.large.bytes > maxBytes }

// TestCost asks every route about the largest accounts and by them, and holds
// what it takes against small ones: no list, whoever owns it, may make a request expensive
// for the server. A route that has no
// requests here fails, so that none can be forgotten.
//
// What the race detector costs is no measure: make test runs this test without it.
func TestCost(t *testing.T) {
	if racing {
		t.Skip("not with the race detector: go test -run 'TestCost$' ./app/api")
	}
	w := newCostWorld(t)
	cases := w.cases()
	routes := slices.Clone(w.server.Routes())
	slices.SortStableFunc(routes, func(a, b core.Route) int { return strings.Compare(a.Method, b.Method) * -1 })
	slices.Reverse(routes) // what reads comes before what changes
	var table []costed
	for _, r := range routes {
		name := r.Method + " " + r.Path
		if len(cases[name]) == 0 {
			t.Errorf("%s: no request is measured: put some into cost_routes_test.go", name)
		}
		for _, c := range cases[name] {
			table = append(table, w.measure(name, c))
		}
		delete(cases, name)
	}
	for name := range cases {
		t.Errorf("%s: there is no such route", name)
	}
	report(t, table)
}

// report shows the dearest request of each route and all that are too dear.
func report(t *testing.T, table []costed) {
	t.Helper()
	worst := map[string]float64{}
	for _, c := range table {
		worst[c.route] = max(worst[c.route], c.ratio())
	}
	var out bytes.Buffer
	tab := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "\troute\tcase\tsmall\tlarge\tratio\tsmall bytes\tlarge bytes\n")
	dear := 0
	for _, c := range table {
		mark := ""
		if c.over() {
			dear, mark = dear+1, "!"
		}
		if mark != "" || c.ratio() == worst[c.route] {
			fmt.Fprintf(tab, "%s\t%s\t%s\t%v\t%v\t%.1f\t%d\t%d\n", mark, c.route, c.name, c.small.time, c.large.time, c.ratio(), c.small.bytes, c.large.bytes)
		}
	}
	tab.Flush()
	t.Logf("%d requests\n%s", len(table), out.String())
	if dear > 0 {
		t.Errorf("%d of %d requests (marked !) cost more than %d times what small accounts cost, or %d bytes", dear, len(table), maxRatio, maxBytes)
	}
}

// measure runs both requests in turns.
func (w *costWorld) measure(route string, c compared) costed {
	w.t.Helper()
	best := costed{route: route, name: c.name}
	rounds := costRounds
	if strings.HasPrefix(route, http.MethodGet) {
		rounds *= 8 // what only reads may be asked again
	}
	for round := range rounds {
		var large, small []cost
		var spent time.Duration
		for n := round * costRuns; n < (round+1)*costRuns && spent < costLimit && (spent < costTime || len(large) < 3); n++ {
			s, shown := w.run(route, c, c.small(n))
			l, also := w.run(route, c, c.large(n))
			if shown > 0 && also == 0 {
				w.t.Errorf("%s, %s: the answer shows no account", route, c.name)
			}
			large, small = append(large, l), append(small, s)
			spent += l.time
		}
		got := costed{route: route, name: c.name, large: median(large), small: median(small)}
		if round == 0 || got.ratio() < best.ratio() {
			best = got
		}
		if !best.over() || best.large.bytes > 2*maxBytes || spent >= costLimit {
			break
		}
	}
	if c.after != nil {
		c.after()
	}
	return best
}

func median(all []cost) (c cost) {
	slices.SortFunc(all, func(a, b cost) int { return int(a.time - b.time) })
	c.time = all[len(all)/2].time.Round(time.Microsecond)
	slices.SortFunc(all, func(a, b cost) int { return int(a.bytes) - int(b.bytes) })
	c.bytes = all[len(all)/2].bytes
	return c
}

// run runs a request, and tells how many accounts its answer shows, or leads to.
func (w *costWorld) run(route string, c compared, q request) (cost, int) {
	w.t.Helper()
	if q.before != nil {
		q.before()
	}
	r := q.http(w)
	w.answer.reset()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	w.server.ServeHTTP(&w.answer, r)
	took := time.Since(begun)
	runtime.ReadMemStats(&after)
	want := c.status
	if want == 0 {
		want = http.StatusOK
	}
	if w.answer.status != want {
		w.t.Errorf("%s, %s: %s as %d answers %d, not %d: %.200s", route, c.name, q.path, q.as, w.answer.status, want, w.answer.body)
	}
	shown := bytes.Count(w.answer.body, []byte(`"acct":`))
	if w.answer.Header().Get("Link") != "" {
		shown++ // an empty page that links to the next is one past blocked people
	}
	return cost{took, after.TotalAlloc - before.TotalAlloc}, shown
}

// do runs a request that is not measured, whatever the answer.
func (w *costWorld) do(q request) {
	w.answer.reset()
	w.server.ServeHTTP(&w.answer, q.http(w))
	if w.answer.status >= http.StatusInternalServerError {
		w.t.Errorf("%s %s as %d answers %d: %s", q.method, q.path, q.as, w.answer.status, w.answer.body)
	}
}

func (q request) http(w *costWorld) *http.Request {
	if q.late != nil {
		q.path = *q.late
	}
	r := httptest.NewRequest(q.method, "https://kith.example"+q.path, strings.NewReader(q.body))
	if q.as != 0 {
		if w.tokens[q.as] == "" {
			w.t.Fatalf("%s: %d has no token", q.path, q.as)
		}
		r.Header.Set("Authorization", w.tokens[q.as])
	}
	switch {
	case strings.HasPrefix(q.body, "{"):
		r.Header.Set("Content-Type", "application/json")
	case q.body != "":
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

// kept is an answer, in memory that was there before.
type kept struct {
	header http.Header
	status int
	body   []byte
}

func (k *kept) reset()              { k.header, k.status, k.body = http.Header{}, http.StatusOK, k.body[:0] }
func (k *kept) Header() http.Header { return k.header }
func (k *kept) WriteHeader(s int)   { k.status = s }
func (k *kept) Write(b []byte) (int, error) {
	k.body = append(k.body, b...)
	return len(b), nil
}
