package cache

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"sync"
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
	}), 10*time.Second)
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
	if len(l.free) != maxLanes || len(l.waiting) != 0 {
		t.Errorf("in the end %d lanes are free and %d readers wait", len(l.free), len(l.waiting))
	}
}

// TestLanes_Bad has the server answer what no reader can use. Nobody may be left
// waiting, and the next question is answered.
func TestLanes_Bad(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"ERROR\r\n", "SERVER_ERROR out of memory\r\n", "VALUE k\r\n", "VALUE k 0 x 1\r\n", "VALUE k 0 -1 1\r\n",
		"VALUE k 0 1 x\r\nv\r\nEND\r\n", "VALUE other 0 1 1\r\nv\r\nEND\r\n", "VALUE k 0 3000000 1\r\n",
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
			}), 10*time.Second)
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

// TestLanes_Hang has the server answer nobody: all get an error after one
// time-out, those who wait for a lane too.
func TestLanes_Hang(t *testing.T) {
	t.Parallel()
	const timeout = 300 * time.Millisecond
	l := newLanes(serve(t, func(string) string { return "" }), timeout)
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
