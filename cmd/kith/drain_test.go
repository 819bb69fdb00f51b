package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// After SIGTERM a server says at once that it is not ready, and answers all the same;
// a second signal ends that in order.
func TestServe_Drain(t *testing.T) {
	p, address, token := served(t, append(migrated(t), "KITH_DRAIN=10m"))
	_, finish := follow(t, address, token)
	p.cmd.Process.Signal(syscall.SIGTERM)
	if body := waitReady(t, address, http.StatusServiceUnavailable); !strings.Contains(body, `"not_ready":["draining"]`) {
		t.Errorf("draining, /readyz says %s", body)
	}
	answer, err := http.Get("http://" + address + "/api/v1/accounts/1")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK || !answer.Close {
		t.Errorf("draining, a request on a new connection gets %s, to be closed: %v; want 200 and a close", answer.Status, answer.Close)
	}
	<-time.After(2 * echo)
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.waitFor(t, "the drain is cut short")
	if answer := finish(); answer.StatusCode != http.StatusOK {
		t.Errorf("the request under way is answered %s, want 200", answer.Status)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// balancer sends requests in turns to the servers that said last that they are ready.
type balancer struct {
	proxies []*httputil.ReverseProxy

	mu    sync.Mutex
	ready []bool
	next  int
	news  chan struct{} // closed and replaced when a server has been asked
}

// newBalancer makes a balancer that asks /readyz of each server now and then, as long
// as the test lasts.
func newBalancer(t *testing.T, every time.Duration, addresses ...string) *balancer {
	b := &balancer{ready: make([]bool, len(addresses)), news: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	var probes sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		probes.Wait()
	})
	for i, address := range addresses {
		b.proxies = append(b.proxies, httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address}))
		// It tells its clients what went wrong, and keeps connections as balancers do.
		b.proxies[i].Transport = &http.Transport{MaxIdleConnsPerHost: 64}
		b.proxies[i].ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
		probes.Go(func() {
			for tick := time.NewTicker(every); ; {
				b.probe(ctx, i, address)
				select {
				case <-tick.C:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	return b
}

func (b *balancer) probe(ctx context.Context, i int, address string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return
	}
	answer, err := http.DefaultClient.Do(request)
	if err == nil {
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ready[i] = err == nil && answer.StatusCode == http.StatusOK
	close(b.news)
	b.news = make(chan struct{})
}

// pick returns a server whose turn it is, -1 where none is ready, and what tells of
// the next probe.
func (b *balancer) pick() (i int, news chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.ready {
		b.next = (b.next + 1) % len(b.ready)
		if b.ready[b.next] {
			return b.next, b.news
		}
	}
	return -1, b.news
}

// ServeHTTP waits while no server is known to be ready, as balancers do for a while.
func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for {
		i, news := b.pick()
		if i >= 0 {
			b.proxies[i].ServeHTTP(w, r)
			return
		}
		select {
		case <-news:
		case <-r.Context().Done():
			return
		}
	}
}

// until waits for a server to be known as ready, or not.
func (b *balancer) until(t *testing.T, i int, ready bool) {
	t.Helper()
	for late := time.After(patience); ; {
		b.mu.Lock()
		is, news := b.ready[i], b.news
		b.mu.Unlock()
		if is == ready {
			return
		}
		select {
		case <-news:
		case <-late:
			t.Fatalf("in %v server %d is not taken for ready: %v", patience, i, ready)
		}
	}
}

// Two servers behind a balancer are restarted in turns under load, and no request
// fails.
func TestServe_RollingRestart(t *testing.T) {
	env := append(migrated(t), "KITH_DRAIN=2s", "KITH_LOG_LEVEL=warn")
	first, one, token := served(t, env)
	second := startKith(t, t.TempDir(), env, "serve", "--log-level", "info")
	two, _, _ := strings.Cut(second.waitFor(t, "msg=serving address="), " ")
	processes, addresses := []*process{first, second}, []string{one, two}
	b := newBalancer(t, 100*time.Millisecond, addresses...)
	front := httptest.NewServer(b)
	defer front.Close()

	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	var asked, failed atomic.Int64
	for range 8 {
		load.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				asked.Add(1)
				if err := change(ctx, front.URL, token, n); err != nil && ctx.Err() == nil && failed.Add(1) < 10 {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		for i := range processes {
			b.until(t, i, true)
			processes[i].cmd.Process.Signal(syscall.SIGTERM)
			b.until(t, i, false)
			if code := processes[i].wait(t); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			processes[i] = startKith(t, t.TempDir(), append(env, "KITH_LISTEN="+addresses[i]), "serve")
		}
	}
	b.until(t, 1, true)
	stop()
	load.Wait()
	t.Logf("%d requests, %d failed", asked.Load(), failed.Load())
}

// change asks for what is not asked twice by anybody on the way: a change.
func change(ctx context.Context, base, token string, n int) error {
	what := []string{"follow", "unfollow", "mute", "unmute"}[n%4]
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/api/v1/accounts/2/"+what, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", what, err, body)
	}
	return nil
}
