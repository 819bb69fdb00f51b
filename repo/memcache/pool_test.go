package memcache

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kith/repo/waittest"
)

// serve answers each line that a client sends.
func serve(t *testing.T, answer func(line string) string) string {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			go func() {
				for in := bufio.NewScanner(conn); in.Scan(); {
					if _, err := conn.Write([]byte(answer(in.Text()))); err != nil {
						return
					}
				}
			}()
		}
	}()
	return path
}

// onePool is a pool of a session with a server that is not probed.
func onePool(t *testing.T, server string, timeout time.Duration, conns, keys int) *pool {
	s := newServer(server, Config{Timeout: timeout, Log: slog.New(slog.DiscardHandler)}, newMetrics(nil))
	ses := s.session.Load()
	ses.short = newPool(s, ses, conns, keys)
	t.Cleanup(ses.close)
	return ses.short
}

// asks asks for keys and returns what is held.
func (p *pool) asks(keys ...string) ([]Item, error) {
	at := make([]int, len(keys))
	for i := range at {
		at[i] = i
	}
	q := questions.Get().(*question)
	q.keys, q.at, q.out = keys, at, make([]Item, len(keys))
	err := p.ask(q)
	out := q.out
	questions.Put(q)
	return out, err
}

// wantIdle fails the test unless all connections are free and nobody waits.
func wantIdle(t *testing.T, p *pool, most int) {
	t.Helper()
	if n := int(p.made.Load()); n > most || len(p.free) != n {
		t.Errorf("in the end %d of %d connections are free, want all of at most %d", len(p.free), n, most)
	}
	select {
	case <-p.waiting:
		t.Error("somebody still waits")
	default:
	}
}

// TestPool_Get has many readers ask at once for keys that others ask for too,
// some of them twice, some of them not held.
func TestPool_Get(t *testing.T) {
	t.Parallel()
	p := onePool(t, serve(t, func(line string) string {
		var b strings.Builder
		for _, key := range strings.Fields(line)[1:] {
			if !strings.HasPrefix(key, "gone") {
				value := "of " + key + "\r\nEND\r\n"
				fmt.Fprintf(&b, "VALUE %s 0 %d %d\r\n%s\r\n", key, len(value), len(key), value)
			}
		}
		return b.String() + "END\r\n"
	}), 10*time.Second, shortConns, shortKeys)
	var readers sync.WaitGroup
	for range 40 {
		readers.Go(func() {
			for range 200 {
				keys := make([]string, 1+rand.IntN(8))
				for i := range keys {
					keys[i] = []string{"a", "bb", "gone", "c", "gone2"}[rand.IntN(5)]
				}
				items, err := p.asks(keys...)
				if err != nil {
					t.Error(err)
					return
				}
				for i, key := range keys {
					want, cas := "of "+key+"\r\nEND\r\n", uint64(len(key))
					if strings.HasPrefix(key, "gone") {
						want, cas = "", 0
					}
					if got := items[i]; string(got.Value) != want || got.CAS.id != cas {
						t.Errorf("%v: got %q, %d of key %d", keys, got.Value, got.CAS.id, i)
					}
				}
			}
		})
	}
	readers.Wait()
	wantIdle(t, p, shortConns)
}

// TestPool_Bad has the server answer what no reader can use. Nobody may be left
// waiting, and the next question is answered.
func TestPool_Bad(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"ERROR\r\n", "SERVER_ERROR out of memory\r\n", "VALUE k\r\n", "VALUE k 0 x 1\r\n", "VALUE k 0 -1 1\r\n",
		"VALUE k 0 1 x\r\nv\r\nEND\r\n", "VALUE other 0 1 1\r\nv\r\nEND\r\n",
		strings.Repeat("VALUE k 0 1 1\r\nv\r\n", 20) + "END\r\n", strings.Repeat("x", 40<<10) + "\r\n",
	} {
		t.Run(bad[:min(len(bad), 20)], func(t *testing.T) {
			var mu sync.Mutex
			good := false
			p := onePool(t, serve(t, func(string) string {
				mu.Lock()
				defer mu.Unlock()
				if good {
					return "VALUE k 0 1 7\r\nv\r\nEND\r\n"
				}
				return bad
			}), 10*time.Second, shortConns, shortKeys)
			var readers sync.WaitGroup
			for range 10 {
				readers.Go(func() {
					if _, err := p.asks("k"); err == nil {
						t.Error("got no error")
					}
				})
			}
			readers.Wait()
			mu.Lock()
			good = true
			mu.Unlock()
			items, err := p.asks("k")
			if err != nil || string(items[0].Value) != "v" || items[0].CAS.id != 7 {
				t.Errorf("afterwards: got %+v, %v", items[0], err)
			}
		})
	}
}

// TestPool_Huge has somebody else store more under a key than is ever read.
func TestPool_Huge(t *testing.T) {
	t.Parallel()
	p := onePool(t, serve(t, func(string) string {
		return "VALUE k 0 3000000 1\r\n" + strings.Repeat("x", 3000000) + "\r\nVALUE l 0 1 2\r\nv\r\nEND\r\n"
	}), 10*time.Second, shortConns, shortKeys)
	for range 3 {
		items, err := p.asks("k", "l")
		if err != nil || items[0].Value != nil || string(items[1].Value) != "v" {
			t.Errorf("got %d bytes and %q, %v", len(items[0].Value), items[1].Value, err)
		}
	}
}

// TestPool_Slow has a server that answers, but only one question after the
// other. Nobody waits for long, and nobody takes it for one that is away.
func TestPool_Slow(t *testing.T) {
	t.Parallel()
	const timeout = 200 * time.Millisecond
	p := onePool(t, serve(t, func(line string) string {
		time.Sleep(timeout / 2) // this server is slow: it is what is tested
		var b strings.Builder
		for _, key := range strings.Fields(line)[1:] {
			fmt.Fprintf(&b, "VALUE %s 0 1 1\r\nv\r\n", key)
		}
		return b.String() + "END\r\n"
	}), timeout, 1, 1)
	var readers sync.WaitGroup
	var found atomic.Int32
	for range 20 {
		readers.Go(func() {
			start := time.Now()
			_, err := p.asks("k")
			if err == nil {
				found.Add(1)
			} else if unanswered(err) || !errors.Is(err, errBusy) {
				t.Errorf("got %v", err)
			}
			if took := time.Since(start); took > 3*timeout {
				t.Errorf("waited %v", took)
			}
		})
	}
	readers.Wait()
	if n := found.Load(); n < 1 || n > 4 {
		t.Errorf("%d of 20 readers were answered", n)
	}
	wantIdle(t, p, 1)
}

// TestPool_Closed has the pool closed while one reader asks and others wait:
// nobody asks any more.
func TestPool_Closed(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan bool, 20), make(chan bool)
	p := onePool(t, serve(t, func(string) string {
		asked <- true
		<-answer
		return "END\r\n"
	}), 10*time.Second, 1, 1)
	var readers sync.WaitGroup
	var failed atomic.Int32
	begun := make(chan bool, 5)
	for range 5 {
		readers.Go(func() {
			begun <- true
			if _, err := p.asks("k"); errors.Is(err, ErrAway) {
				failed.Add(1)
			}
		})
	}
	for range 5 {
		waittest.Receive(t, patience, "load", begun)
	}
	waittest.Receive(t, patience, "answer", asked) // the others wait, or are about to
	p.close()
	close(answer)
	readers.Wait()
	if len(asked) != 0 || failed.Load() != 4 {
		t.Errorf("%d more questions, %d readers refused, want 4", len(asked), failed.Load())
	}
	if _, err := p.asks("k"); !errors.Is(err, ErrAway) {
		t.Errorf("afterwards: got %v", err)
	}
}

// TestPool_Hang has the server answer nobody: all get an error after one
// time-out, those who wait for their turn too.
func TestPool_Hang(t *testing.T) {
	t.Parallel()
	const timeout = 300 * time.Millisecond
	p := onePool(t, serve(t, func(string) string { return "" }), timeout, shortConns, shortKeys)
	var readers sync.WaitGroup
	for range 20 {
		readers.Go(func() {
			start := time.Now()
			_, err := p.asks("k")
			if took := time.Since(start); err == nil || took > 2*timeout-timeout/10 {
				t.Errorf("got %v after %v", err, took)
			}
		})
	}
	readers.Wait()
}

// TestPool_Long asks for more keys than are sent at once, on a connection that was idle for
// longer than a time-out: a deadline of the question before must not count.
func TestPool_Long(t *testing.T) {
	t.Parallel()
	p := onePool(t, serve(t, func(string) string { return "END\r\n" }), 500*time.Millisecond, 1, 1)
	if _, err := p.asks("k"); err != nil {
		t.Fatal(err)
	}
	c := waittest.Receive(t, patience, "connection", p.free)
	if err := c.net.SetWriteDeadline(time.Now().Add(-time.Second)); err != nil { // as after a pause
		t.Fatal(err)
	}
	p.free <- c
	keys := make([]string, 700)
	for i := range keys {
		keys[i] = strings.Repeat("k", 80)
	}
	if _, err := p.asks(keys...); err != nil {
		t.Errorf("a question of 56 KB: %v", err)
	}
}
