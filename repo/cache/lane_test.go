package cache

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// serve answers each line that a client sends.
func serve(t *testing.T, answer func(line string) string) address {
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
	return address{"unix", path}
}

// TestLanes_Get has many readers ask at once for keys that others ask for too,
// some of them twice, some of them not held.
func TestLanes_Get(t *testing.T) {
	t.Parallel()
	l := newLanes(serve(t, func(line string) string {
		var b strings.Builder
		for _, key := range strings.Fields(line)[1:] {
			if !strings.HasPrefix(key, "gone") {
				value := "of " + key + "\r\nEND\r\n"
				fmt.Fprintf(&b, "VALUE %s 0 %d %d\r\n%s\r\n", key, len(value), len(key), value)
			}
		}
		return b.String() + "END\r\n"
	}), 10*time.Second, headLanes)
	defer l.close()
	var readers sync.WaitGroup
	for range 40 {
		readers.Go(func() {
			for range 200 {
				keys := make([]string, 1+rand.IntN(8))
				for i := range keys {
					keys[i] = []string{"a", "bb", "gone", "c", "gone2"}[rand.IntN(5)]
				}
				a, err := l.ask(keys)
				if err != nil {
					t.Error(err)
					return
				}
				for i, key := range keys {
					want, cas := "of "+key+"\r\nEND\r\n", uint64(len(key))
					if strings.HasPrefix(key, "gone") {
						want, cas = "", 0
					}
					if got := a.items[i]; string(got.value) != want || got.cas != cas {
						t.Errorf("%v: got %q, %d of key %d", keys, got.value, got.cas, i)
					}
				}
				a.release()
			}
		})
	}
	readers.Wait()
	if len(l.free) != headLanes.lanes || len(l.waiting) != 0 {
		t.Errorf("in the end %d lanes are free and %d readers wait", len(l.free), len(l.waiting))
	}
}

// TestLanes_Bad has the server answer what no reader can use. Nobody may be left
// waiting, and the next question is answered.
func TestLanes_Bad(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"ERROR\r\n", "SERVER_ERROR out of memory\r\n", "VALUE k\r\n", "VALUE k 0 x 1\r\n", "VALUE k 0 -1 1\r\n",
		"VALUE k 0 1 x\r\nv\r\nEND\r\n", "VALUE other 0 1 1\r\nv\r\nEND\r\n",
		strings.Repeat("VALUE k 0 1 1\r\nv\r\n", 20) + "END\r\n", strings.Repeat("x", 40<<10) + "\r\n",
	} {
		t.Run(bad[:min(len(bad), 20)], func(t *testing.T) {
			var mu sync.Mutex
			good := false
			l := newLanes(serve(t, func(string) string {
				mu.Lock()
				defer mu.Unlock()
				if good {
					return "VALUE k 0 1 7\r\nv\r\nEND\r\n"
				}
				return bad
			}), 10*time.Second, headLanes)
			defer l.close()
			var readers sync.WaitGroup
			for range 10 {
				readers.Go(func() {
					a, err := l.ask([]string{"k"})
					if a.release(); err == nil {
						t.Error("got no error")
					}
				})
			}
			readers.Wait()
			mu.Lock()
			good = true
			mu.Unlock()
			a, err := l.ask([]string{"k"})
			if err != nil || string(a.items[0].value) != "v" || a.items[0].cas != 7 {
				t.Errorf("afterwards: got %q, %d, %v", a.items[0].value, a.items[0].cas, err)
			}
		})
	}
}

// TestLanes_Huge has somebody else store more under a key than is ever read.
func TestLanes_Huge(t *testing.T) {
	t.Parallel()
	l := newLanes(serve(t, func(string) string {
		return "VALUE k 0 3000000 1\r\n" + strings.Repeat("x", 3000000) + "\r\nVALUE l 0 1 2\r\nv\r\nEND\r\n"
	}), 10*time.Second, headLanes)
	defer l.close()
	for range 3 {
		a, err := l.ask([]string{"k", "l"})
		if err != nil || a.items[0].value != nil || string(a.items[1].value) != "v" {
			t.Errorf("got %d bytes and %q, %v", len(a.items[0].value), a.items[1].value, err)
		}
		a.release()
	}
}

// TestLanes_Slow has a server that answers, but only one question after the
// other. Nobody waits for long, and nobody takes it for one that is away.
func TestLanes_Slow(t *testing.T) {
	t.Parallel()
	const timeout = 200 * time.Millisecond
	l := newLanes(serve(t, func(line string) string {
		time.Sleep(timeout / 2)
		var b strings.Builder
		for _, key := range strings.Fields(line)[1:] {
			fmt.Fprintf(&b, "VALUE %s 0 1 1\r\nv\r\n", key)
		}
		return b.String() + "END\r\n"
	}), timeout, kindOfLanes{1, 1})
	defer l.close()
	var readers sync.WaitGroup
	var found atomic.Int32
	for range 20 {
		readers.Go(func() {
			start := time.Now()
			a, err := l.ask([]string{"k"})
			if err == nil {
				found.Add(1)
			} else if unanswered(err) || !errors.Is(err, errBusy) {
				t.Errorf("got %v", err)
			}
			if took := time.Since(start); took > 3*timeout {
				t.Errorf("waited %v", took)
			}
			a.release()
		})
	}
	readers.Wait()
	if n := found.Load(); n < 1 || n > 4 {
		t.Errorf("%d of 20 readers were answered", n)
	}
	if len(l.free) != 1 || len(l.waiting) != 0 {
		t.Errorf("in the end %d lanes are free and %d readers wait", len(l.free), len(l.waiting))
	}
}

// TestLanes_Closed has the lanes closed while one reader asks and others wait:
// nobody asks any more.
func TestLanes_Closed(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan bool, 20), make(chan bool)
	l := newLanes(serve(t, func(string) string {
		asked <- true
		<-answer
		return "END\r\n"
	}), 10*time.Second, kindOfLanes{1, 1})
	var readers sync.WaitGroup
	var failed atomic.Int32
	for range 5 {
		readers.Go(func() {
			if _, err := l.ask([]string{"k"}); errors.Is(err, errAway) {
				failed.Add(1)
			}
		})
	}
	<-asked
	for l.waits() < 4 {
		time.Sleep(time.Millisecond)
	}
	l.close()
	close(answer)
	readers.Wait()
	if len(asked) != 0 || failed.Load() != 4 {
		t.Errorf("%d more questions, %d readers refused, want 4", len(asked), failed.Load())
	}
	if _, err := l.ask([]string{"k"}); !errors.Is(err, errAway) {
		t.Errorf("afterwards: got %v", err)
	}
}

// waits returns how many readers wait for a lane.
func (l *lanes) waits() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}

// TestLanes_Hang has the server answer nobody: all get an error after one
// time-out, those who wait for a lane too.
func TestLanes_Hang(t *testing.T) {
	t.Parallel()
	const timeout = 300 * time.Millisecond
	l := newLanes(serve(t, func(string) string { return "" }), timeout, headLanes)
	defer l.close()
	var readers sync.WaitGroup
	for range 20 {
		readers.Go(func() {
			start := time.Now()
			_, err := l.ask([]string{"k"})
			if took := time.Since(start); err == nil || took > 2*timeout-timeout/10 {
				t.Errorf("got %v after %v", err, took)
			}
		})
	}
	readers.Wait()
}
