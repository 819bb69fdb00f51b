package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo/accepttest"
	"kith/repo/memcachetest"
	"kith/repo/mysqld"
	"kith/repo/waittest"
)

// storm is two servers under posts, which are killed again and again, with all they stand
// on.
type storm struct {
	*testing.T
	dir       string
	env       []string
	front     *front
	data      string // the folder of the database
	database  *mysqld.Server
	memcached *memcachetest.Server
	tokens    map[int]string

	mu       sync.Mutex
	servers  [2]*process
	addrs    [2]string
	posted   map[string]int // acknowledged: post to author
	requests atomic.Int64
	kills    int
}

const (
	stormAuthors = 20 // followed by some readers; the first one by all, so that it is not pushed
	stormReaders = 40 // from id 101 on
	stormLimit   = 30
)

func reads(reader, author int) bool { return author == 1 || (reader+author)%3 == 0 }

// Two servers are killed every few seconds, memcached hangs and is emptied, and the database
// dies twice, under posts. Every post that was acknowledged is in the end in every home
// where it belongs, once, and the audit finds nothing.
//
// KITH_STORM is how long it blows; 2 minutes if it is not set.
func TestAccept_Storm(t *testing.T) {
	accepttest.Long(t)
	blows, err := time.ParseDuration(os.Getenv("KITH_STORM"))
	if err != nil {
		blows = 2 * time.Minute
	}
	s := newStorm(t)
	ctx, cancel := context.WithTimeout(t.Context(), blows)
	defer cancel()
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() { s.write(ctx, i) })
	}
	for i := range 4 {
		clients.Go(func() { s.look(ctx, i) })
	}
	s.blow(ctx, blows)
	clients.Wait()
	t.Logf("%d posts acknowledged in %d requests, %d kills of servers", len(s.posted), s.requests.Load(), s.kills)
	if len(s.posted) < 100 {
		t.Errorf("only %d posts", len(s.posted))
	}
	s.calm()
	for reader := 101; reader <= 100+stormReaders; reader++ {
		s.complete(reader, reader%2)
	}
	if r := runKith(t, s.dir, s.env, nil, "audit"); r.code != 0 {
		t.Errorf("the audit ends with %d:\n%s%s", r.code, r.out, r.err)
	}
}

func newStorm(t *testing.T) *storm {
	s := &storm{T: t, dir: t.TempDir(), data: t.TempDir(), front: newFront(t), memcached: memcachetest.Start(t), tokens: map[int]string{}, posted: map[string]int{}}
	s.startDatabase()
	if err := s.database.CreateDatabase(t.Context(), "kith"); err != nil {
		t.Fatal(err)
	}
	s.env = append(on(s.front.dsn()), "KITH_MEMCACHED="+s.memcached.Addr, fmt.Sprintf("KITH_PUSH_LIMIT=%d", stormLimit), "KITH_LOG_LEVEL=warn")
	runKith(t, s.dir, s.env, nil, "migrate", "up").wants(t)
	var graph strings.Builder
	for reader := 101; reader <= 100+stormReaders; reader++ {
		for author := 1; author <= stormAuthors; author++ {
			if reads(reader, author) {
				fmt.Fprintln(&graph, reader, author)
			}
		}
	}
	runKith(t, s.dir, s.env, strings.NewReader(graph.String()), "import", "-").wants(t)
	for _, from := range []int{1, 101} {
		for id := from; id < from+stormReaders && (from > 1 || id <= stormAuthors); id++ {
			s.tokens[id] = strings.TrimSpace(runKith(t, s.dir, s.env, nil, "token", "--account", fmt.Sprint(id)).wants(t))
		}
	}
	s.env = append(s.env, "KITH_LOG_LEVEL=info")
	for i := range s.servers {
		s.startServer(i)
	}
	return s
}

func (s *storm) startDatabase() {
	s.Helper()
	server, err := mysqld.Start(context.Background(), mysqld.Options{Dir: s.data, Durable: true})
	if err != nil {
		s.Fatal(err)
	}
	s.database = server
	s.front.move(server.Socket())
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		server.Stop(ctx)
	})
}

func (s *storm) startServer(i int) {
	s.Helper()
	p := startKith(s.T, s.dir, s.env, "serve")
	address, _, _ := strings.Cut(p.waitFor(s.T, "msg=serving address="), " ")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers[i], s.addrs[i] = p, address
}

// blow kills and hangs one thing after the other.
func (s *storm) blow(ctx context.Context, all time.Duration) {
	s.Helper()
	deaths := 0
	begun := time.Now()
	wait := func(d time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(d): // the time between two blows is what is tested
		}
	}
	for n := 0; ctx.Err() == nil; n++ {
		wait(time.Duration(2000+rand.IntN(2000)) * time.Millisecond)
		switch {
		case n%3 == 1:
			s.memcached.Pause()
			wait(time.Second)
			s.memcached.Resume()
		case n%5 == 4:
			s.memcached.Restart()
		case deaths < 2 && time.Since(begun) > all*time.Duration(deaths+1)/3:
			deaths++
			syscall.Kill(s.database.Pid(), syscall.SIGKILL)
			waittest.Receive(s.T, patience, "the end of the database", s.database.Done())
			s.database.Stop(context.Background()) // gives its folder free
			s.startDatabase()
		default:
			i := n % 2
			s.mu.Lock()
			p := s.servers[i]
			s.mu.Unlock()
			p.cmd.Process.Kill()
			waittest.Receive(s.T, patience, "the end of a server", p.ended)
			s.kills++
			s.startServer(i)
		}
	}
}

// do sends a request to one of the servers, and returns the answer of one that is no error.
func (s *storm) do(method, path string, as, server int, form url.Values, key string) ([]byte, string, bool) {
	s.mu.Lock()
	address := s.addrs[server]
	s.mu.Unlock()
	s.requests.Add(1)
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.Error(err)
		return nil, "", false
	}
	r.Header.Set("Authorization", "Bearer "+s.tokens[as])
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, "", false // killed
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusServiceUnavailable {
		s.Errorf("%s %s as %d: %s: %s", method, path, as, answer.Status, body)
	}
	return body, answer.Header.Get("Link"), err == nil && answer.StatusCode == http.StatusOK
}

// write posts until the storm is over. A post that is not acknowledged is sent again with
// its key, to the other server.
func (s *storm) write(ctx context.Context, client int) {
	for n := 0; ctx.Err() == nil; n++ {
		author, key := 1+rand.IntN(stormAuthors), fmt.Sprintf("%d-%d", client, n)
		for try := 0; ; try++ {
			body, _, ok := s.do(http.MethodPost, "/api/v1/statuses", author, (client+try)%2, url.Values{"status": {"post " + key}}, key)
			var made struct{ ID string }
			if ok && json.Unmarshal(body, &made) == nil && made.ID != "" {
				s.mu.Lock()
				s.posted[made.ID] = author
				s.mu.Unlock()
				break
			}
			if ctx.Err() != nil && try > 50 {
				return
			}
			time.Sleep(50 * time.Millisecond) // a server is starting
		}
	}
}

// look has readers around, so that their homes are hot.
func (s *storm) look(ctx context.Context, client int) {
	for ctx.Err() == nil {
		reader := 101 + rand.IntN(stormReaders)
		if _, _, ok := s.do(http.MethodGet, "/api/v1/timelines/home", reader, rand.IntN(2), nil, ""); !ok {
			time.Sleep(50 * time.Millisecond) // a server is starting
		}
	}
}

// calm waits until all tasks are done: those of servers that were killed run out after a
// minute. The table is asked, since the metric of a server that has just started says 0.
func (s *storm) calm() {
	s.Helper()
	pool, err := sqlx.Connect("mysql", s.database.DSN("kith"))
	if err != nil {
		s.Fatal(err)
	}
	defer pool.Close()
	left := 0
	waittest.Until(s.T, 3*time.Minute, "all tasks are done", func() bool {
		err = pool.Get(&left, `SELECT COUNT(*) FROM task`)
		return err == nil && left == 0
	})
}

// complete checks that a home has every post that belongs there, once.
func (s *storm) complete(reader, server int) {
	s.Helper()
	seen := map[string]int{}
	for path := "/api/v1/timelines/home?limit=40"; path != ""; {
		body, link, ok := s.do(http.MethodGet, path, reader, server, nil, "")
		var page []struct{ ID string }
		if !ok || json.Unmarshal(body, &page) != nil {
			s.Fatalf("no home of %d: %s", reader, body)
		}
		for _, p := range page {
			seen[p.ID]++
		}
		path = ""
		if next, _, found := strings.Cut(link, `>; rel="next"`); found {
			_, after, _ := strings.Cut(strings.TrimPrefix(next, "<http://"), "/")
			path = "/" + after
		}
	}
	missing, twice := 0, 0
	for id, author := range s.posted {
		if reads(reader, author) && seen[id] == 0 {
			missing++
		}
	}
	for _, n := range seen {
		if n > 1 {
			twice++
		}
	}
	if missing > 0 || twice > 0 {
		s.Errorf("home of %d: %d of the acknowledged posts are missing, %d stand twice", reader, missing, twice)
	}
}
