package memcache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/repo"
)

const (
	// MaxKey is the longest key that memcached takes, in bytes.
	MaxKey = 250
	// MaxExpiry is the longest expiry that memcached takes as a duration.
	MaxExpiry = 30 * 24 * time.Hour
	// companion ends the key of an item that lies on the server of the key without it.
	companion = "+"
)

var (
	// ErrMissing says that the command needs an item and the server holds none.
	ErrMissing = fmt.Errorf("nothing is held: %w", repo.ErrNotFound)
	// ErrHeld says that the server holds an item, or another than the one named.
	ErrHeld = fmt.Errorf("another item is held: %w", repo.ErrConflict)
	// ErrAway says that the server did not answer, lately or now.
	ErrAway = fmt.Errorf("the memcached server is away: %w", repo.ErrUnavailable)

	errKey        = errors.New("memcached takes no such key")
	errUnanswered = errors.New("the command is not yet answered")
)

// Config says where the servers are and how to use them.
type Config struct {
	// Servers are host:port, or the path of a unix socket. Their order decides
	// which keys lie where, so every process must name them in the same order.
	Servers []string
	// Timeout bounds connecting to a server and each wait for its answer; 0 means
	// 100 ms.
	Timeout time.Duration
	// Log gets a line when a server goes away and when it is back; nil means
	// slog.Default.
	Log *slog.Logger
	// Registerer gets the metrics; nil means none.
	Registerer prometheus.Registerer
}

// Client talks to servers. All methods may be called at the same time, and after
// Close, when every server is away.
type Client struct {
	timeout    time.Duration
	servers    []*server
	metrics    *metrics
	registerer prometheus.Registerer

	mu     sync.RWMutex // guards closed against calls that begin
	closed bool
	calls  sync.WaitGroup // calls and their goroutines under way
}

// New returns a client of the servers of cfg. It does not wait for them: one that
// does not answer is found out by the first call. Close it.
func New(cfg Config) (*Client, error) {
	cfg.Timeout = cmp.Or(cfg.Timeout, 100*time.Millisecond)
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	if err := cfg.check(); err != nil {
		return nil, err
	}
	c := &Client{timeout: cfg.Timeout, registerer: cfg.Registerer}
	c.metrics = newMetrics(func() []*server { return c.servers })
	for _, name := range cfg.Servers {
		s := newServer(name, cfg, c.metrics)
		c.servers = append(c.servers, s)
		c.metrics.show(s)
	}
	if c.registerer != nil {
		if err := c.registerer.Register(c.metrics.all); err != nil {
			return nil, fmt.Errorf("register the metrics of memcached: %w", err)
		}
	}
	for _, s := range c.servers {
		go s.watch()
	}
	return c, nil
}

func (cfg Config) check() error {
	switch {
	case len(cfg.Servers) == 0:
		return errors.New("memcached: no servers")
	case cfg.Timeout < 0:
		return errors.New("memcached: a negative time-out")
	}
	for i, name := range cfg.Servers {
		if _, _, err := net.SplitHostPort(name); err != nil && network(name) == "tcp" {
			return fmt.Errorf("memcached: server %q: %w", name, err)
		}
		if slices.Contains(cfg.Servers[:i], name) {
			return fmt.Errorf("memcached: server %q is named twice", name)
		}
	}
	return nil
}

// network returns the network of a server's address.
func network(server string) string {
	if strings.HasPrefix(server, "/") {
		return "unix"
	}
	return "tcp"
}

// Legal reports whether memcached takes key: at most MaxKey bytes, no spaces, no
// control characters.
func Legal(key string) bool {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] == 0x7f {
			return false
		}
	}
	return 0 < len(key) && len(key) <= MaxKey
}

// Item is what a server holds of a key.
type Item struct {
	// Value is nil where nothing is held, and only there.
	Value []byte
	// CAS stands for this state of the item.
	CAS CAS
	// Away says that the server was not asked or did not answer.
	Away bool
}

// Get puts what the servers hold of keys into out, which is as long and zero, in their
// order. What has no answer when ctx ends is away. Values are meant to be short, a
// few KB; see GetLong. A value over 2 MiB is not read: it counts as missing.
func (c *Client) Get(ctx context.Context, keys []string, out []Item) { c.get(ctx, keys, out, false) }

// GetLong is Get for long values. It does not hold up those who ask for short ones.
func (c *Client) GetLong(ctx context.Context, keys []string, out []Item) { c.get(ctx, keys, out, true) }

func (c *Client) get(ctx context.Context, keys []string, out []Item, long bool) {
	if a, ok := ctx.Value(aheadKey{}).(*ahead); ok && a.client == c && a.take(keys, out) {
		return
	}
	err := bounded(ctx, c, out, func(out []Item) {
		c.spread(len(keys), func(i int) string { return keys[i] }, func(s *server, at []int) { s.get(keys, at, out, long) })
	})
	if err != nil {
		for i := range out {
			out[i] = Item{Away: true}
		}
	}
}

// Do carries commands out and notes in each what became of it. Those on keys of one
// server, or of a key and its companion (the key with a plus sign), are carried out in
// their order. Where a server is away, or ctx ends, the rest fails.
func (c *Client) Do(ctx context.Context, all []Command) {
	err := bounded(ctx, c, all, func(all []Command) { c.do(all, false) })
	if err != nil {
		for i := range all {
			all[i].Err = err
		}
	}
}

// Write is Do for what must not be lost, because something was committed: it does not
// stop for a context, and a key whose command was not answered is dirty. It is deleted
// before its server is read again.
func (c *Client) Write(all []Command) {
	if !c.enter() {
		for i := range all {
			all[i].Err = ErrAway
		}
		return
	}
	defer c.calls.Done()
	c.do(all, true)
}

func (c *Client) do(all []Command, sure bool) {
	for i := range all {
		all[i].Err = errKey // unless it gets to a server
	}
	c.spread(len(all), func(i int) string { return all[i].Key }, func(s *server, at []int) { s.do(all, at, sure) })
}

// Ping returns nil if every server may be read, else an error that wraps
// repo.ErrUnavailable and names those that may not.
func (c *Client) Ping(ctx context.Context) error {
	errs := make([]error, len(c.servers))
	err := bounded(ctx, c, errs, func(errs []error) {
		var asked sync.WaitGroup
		for i, s := range c.servers {
			asked.Go(func() { errs[i] = s.ping() })
		}
		asked.Wait()
	})
	return errors.Join(append(errs, err)...)
}

// Close ends the probes and the connections and waits for the calls under way.
func (c *Client) Close() error {
	c.mu.Lock()
	closed := c.closed
	c.closed = true
	c.mu.Unlock()
	if closed {
		return nil
	}
	c.calls.Wait()
	for _, s := range c.servers {
		s.close()
	}
	if c.registerer != nil {
		c.registerer.Unregister(c.metrics.all)
	}
	return nil
}

// enter begins a call, which ends with calls.Done; it is false after Close.
func (c *Client) enter() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !c.closed {
		c.calls.Add(1)
	}
	return !c.closed
}

// bounded runs f on all, and returns an error if ctx ends first. Then f goes on with a
// copy. A goroutine costs a third of an answer, so there is one only where ctx may end
// before what bounds f anyway.
func bounded[T any](ctx context.Context, c *Client, all []T, f func([]T)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !c.enter() {
		return ErrAway
	}
	if deadline, ends := ctx.Deadline(); !ends || time.Until(deadline) > 3*c.timeout {
		defer c.calls.Done()
		f(all)
		return nil
	}
	own, done := slices.Clone(all), make(chan struct{})
	go func() {
		defer c.calls.Done()
		defer close(done)
		f(own)
	}()
	select {
	case <-done:
		copy(all, own)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// spread runs f for each server that has some of n keys, all at once. at are the
// indices of its keys. Keys that memcached does not take belong to no server.
func (c *Client) spread(n int, key func(int) string, f func(s *server, at []int)) {
	at := make([][]int, len(c.servers))
	for i := range n {
		k := key(i)
		if !Legal(k) {
			continue
		}
		s := c.serverOf(k)
		if at[s] == nil {
			at[s] = make([]int, 0, n-i)
		}
		at[s] = append(at[s], i)
	}
	var busy sync.WaitGroup
	for i, s := range c.servers {
		switch {
		case len(at[i]) == 0:
		case len(at[i]) == n:
			f(s, at[i])
		default:
			busy.Go(func() { f(s, at[i]) })
		}
	}
	busy.Wait()
}

// serverOf returns which server has a key, by fnv-1a over the list of servers.
func (c *Client) serverOf(key string) int {
	if len(c.servers) == 1 {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(strings.TrimSuffix(key, companion)))
	return int(h.Sum32() % uint32(len(c.servers)))
}
