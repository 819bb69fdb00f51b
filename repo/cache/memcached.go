package cache

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/repo"
)

const (
	defaultTimeout      = 100 * time.Millisecond
	defaultMaxIdle      = 64
	defaultExpiry       = 10 * time.Minute
	defaultAbsentExpiry = 30 * time.Second

	// maxExpiry is the longest expiry that memcached takes as a duration.
	maxExpiry = 30 * 24 * time.Hour
	// maxKey is the longest key that is taken, prefix included. Memcached's own
	// limit is one more, which bodyKey needs.
	maxKey           = 249
	defaultNearHeads = time.Second
	// defaultNear is how much a process keeps of long bodies.
	defaultNear = 64 << 20
)

// MemcachedConfig says where the memcached servers are and how to use them.
type MemcachedConfig struct {
	// Servers are host:port, or the path of a unix socket. Their order decides
	// which keys lie where, so every process must name them in the same order.
	Servers []string
	// Timeout bounds connecting to a server and each wait for its answer;
	// 0 means 100 ms.
	Timeout time.Duration
	// MaxIdle is how many connections to a server are kept, and how many are
	// used at the same time, at least 8; 0 means 64. Six are for readers, who share
	// them, a quarter is for commits, which send many rows through one.
	MaxIdle int
	// Expiry is how long a row is held, in whole seconds rounded up, at most 30
	// days; 0 means 10 minutes.
	Expiry time.Duration
	// AbsentExpiry is the same for the mark of an absent row; 0 means 30
	// seconds.
	AbsentExpiry time.Duration
	// Prefix stands before every key, to share servers with other programs.
	Prefix string
	// Identity is that of the database, Identify asks whether it still is; nil means
	// that it never changes.
	Identity Identity
	Identify Identify
	// Log gets a line when a server goes away and when it is back; nil means
	// slog.Default.
	Log *slog.Logger
	// Now tells the time, for how long a server was away; nil means time.Now.
	Now func() time.Time
	// NearHeads is how late Heads may be by itself; 0 means a second, below 0 that
	// the servers are always asked.
	NearHeads time.Duration
	// Near bounds the memory in which this process keeps bodies that are stored
	// apart, so that a long list is not sent again as long as it is the same;
	// 0 means 64 MiB. An eighth more is for heads.
	Near int64
	// Registerer gets the metrics; nil means none.
	Registerer prometheus.Registerer
}

// Memcached is a cache in memcached servers, shared by all processes.
type Memcached struct {
	drops    atomic.Uint64 // grows with each Drop, before and after
	disowned atomic.Bool   // what a lost history left has been found, and said

	prefix    string
	names     atomic.Pointer[names]
	lately    lately // used where the identity may change
	follows   bool   // it may
	watch     *watch
	log       *slog.Logger
	timeout   time.Duration
	nodes     []*node
	near      *near // whole entries with long bodies
	nearHeads *heads
	metrics   *metrics

	mu     sync.RWMutex // guards closed against calls that begin
	closed bool
	calls  sync.WaitGroup // calls and their goroutines under way
}

var _ Cache = (*Memcached)(nil)

// NewMemcached returns a cache in the servers of cfg. It does not wait for
// them: one that does not answer is found out by the first call. Close it.
func NewMemcached(cfg MemcachedConfig) (*Memcached, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	metrics, err := newMetrics(cfg.Registerer)
	if err != nil {
		return nil, err
	}
	names, err := newNames(cfg.Prefix, cfg.Identity)
	if err != nil {
		metrics.close()
		return nil, err
	}
	m := &Memcached{prefix: cfg.Prefix, log: cfg.Log, follows: cfg.Identify != nil, timeout: cfg.Timeout, nearHeads: newHeads(cfg.Near/8, cfg.NearHeads), metrics: metrics}
	m.names.Store(names)
	if m.near, err = newNear(cfg.Near, cfg.Expiry); err != nil {
		metrics.close()
		return nil, err
	}
	for _, server := range cfg.Servers {
		m.nodes = append(m.nodes, newNode(server, cfg, metrics))
	}
	if err := metrics.registerNodes(m.nodes); err != nil {
		return nil, err
	}
	for _, n := range m.nodes {
		go n.watch()
	}
	if m.follows {
		m.watch = newWatch(cfg.Identify, m.log, m.lately.ask, m.identified)
	}
	return m, nil
}

func (cfg MemcachedConfig) withDefaults() MemcachedConfig {
	cfg.Timeout = orDefault(cfg.Timeout, defaultTimeout)
	cfg.MaxIdle = orDefault(cfg.MaxIdle, defaultMaxIdle)
	cfg.Expiry = orDefault(cfg.Expiry, defaultExpiry)
	cfg.AbsentExpiry = orDefault(cfg.AbsentExpiry, defaultAbsentExpiry)
	cfg.Near = orDefault(cfg.Near, defaultNear)
	cfg.NearHeads = orDefault(cfg.NearHeads, defaultNearHeads)
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return cfg
}

func orDefault[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// pipes is how many connections are for storing.
func (cfg MemcachedConfig) pipes() int { return max(1, cfg.MaxIdle/4) }

// slots is how many connections the client library may use.
func (cfg MemcachedConfig) slots() int {
	return cfg.MaxIdle - cfg.pipes() - headLanes.lanes - bodyLanes.lanes
}

// minIdle leaves one connection each for a slot and a pipe.
var minIdle = headLanes.lanes + bodyLanes.lanes + 2

func (cfg MemcachedConfig) check() error {
	switch {
	case len(cfg.Servers) == 0:
		return errors.New("memcached: no servers")
	case cfg.MaxIdle < minIdle:
		return fmt.Errorf("memcached: %d connections are not enough, %d are", cfg.MaxIdle, minIdle)
	case cfg.Timeout < 0, cfg.Expiry < 0, cfg.AbsentExpiry < 0, cfg.Near < 0:
		return errors.New("memcached: a negative setting")
	case cfg.Expiry > maxExpiry, cfg.AbsentExpiry > maxExpiry:
		return fmt.Errorf("memcached: an expiry over %v", maxExpiry)
	case len(cfg.Prefix) > maxKey/2, !legal(cfg.Prefix):
		return fmt.Errorf("memcached: prefix %q: too long, or a space in it", cfg.Prefix)
	}
	seen := make(map[string]bool)
	for _, server := range cfg.Servers {
		if _, _, err := net.SplitHostPort(server); err != nil && network(server) == "tcp" {
			return fmt.Errorf("memcached: server %q: %w", server, err)
		}
		if seen[server] {
			return fmt.Errorf("memcached: server %q is named twice", server)
		}
		seen[server] = true
	}
	return nil
}

// legal tells whether memcached takes key, and that it is not that of a body.
func legal(key string) bool {
	if len(key) > maxKey || strings.HasSuffix(key, bodySuffix) {
		return false
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] == 0x7f {
			return false
		}
	}
	return true
}

// Fill adds entries whose keys are not held.
func (m *Memcached) Fill(ctx context.Context, entries []Entry) {
	if ctx.Err() != nil || !m.enter() {
		return
	}
	defer m.calls.Done()
	filled := make(chan struct{})
	m.calls.Go(func() {
		defer close(filled)
		m.tell(m.names.Load(), entries, func(n *node, names *names, entries []Entry) { n.fill(ctx, names, entries) })
	})
	select {
	case <-filled:
	case <-ctx.Done():
	}
}

// identified takes over the identity that the database was just found to have. Where
// it is a new one nothing that was known before is used again, and what this process
// told others under the old one since it last asked is dropped under the new.
func (m *Memcached) identified(id Identity) {
	if id == m.names.Load().identity {
		m.lately.same()
		return
	}
	next, err := newNames(m.prefix, id)
	if err != nil {
		m.log.Error("take over a new identity of the database", "error", err)
		return
	}
	m.names.Store(next)
	m.drops.Add(1) // a reader that asked before does not keep what it got
	m.near.forget()
	m.nearHeads.forget()
	m.disowned.Store(false)
	if keys := m.lately.take(); len(keys) > 0 {
		m.Drop(context.Background(), keys)
	}
	m.log.Info("the database has a new identity: the cache begins anew")
}

// Put stores entries whose Ver is higher than the held one, or remembers the
// keys where a server is away. Long bodies are kept near only then: while the server
// has the one before, that is asked for.
func (m *Memcached) Put(_ context.Context, entries []Entry) (ahead map[string]uint64) {
	if !m.enter() {
		return nil
	}
	defer m.calls.Done()
	for _, e := range entries {
		m.nearHeads.put(e.head())
	}
	var mu sync.Mutex
	if m.follows {
		m.lately.add(entries)
	}
	m.tell(m.names.Load(), entries, func(n *node, names *names, entries []Entry) {
		held := n.put(names, entries)
		mu.Lock()
		defer mu.Unlock()
		for key, ver := range held {
			if ahead == nil {
				ahead = map[string]uint64{}
			}
			ahead[strings.TrimPrefix(key, names.prefix)] = ver
		}
	})
	for _, e := range entries {
		if !e.Partial && e.kind() == kindApart && ahead[e.Key] == 0 {
			m.near.put(e)
		}
	}
	return ahead
}

// Disown drops keys of a lost history.
func (m *Memcached) Disown(ctx context.Context, keys []string) {
	m.metrics.disowned.Add(float64(len(keys)))
	if !m.disowned.Swap(true) {
		m.log.Warn("the cache has rows that the database has lost: type kith cache renew, as after every failover that loses commits and every restore")
	}
	m.Drop(ctx, keys)
}

// Drop forgets keys, or remembers them where a server is away.
func (m *Memcached) Drop(_ context.Context, keys []string) {
	if !m.enter() {
		return
	}
	defer m.calls.Done()
	entries := make([]Entry, len(keys))
	for i, key := range keys {
		m.near.drop(key)
		entries[i].Key = key
	}
	m.dropHeads(keys)
	if m.follows {
		m.lately.add(entries)
	}
	m.tell(m.names.Load(), entries, func(n *node, _ *names, entries []Entry) { n.drop(keysOf(entries)) })
	m.dropHeads(keys) // which readers had asked for before
}

// dropHeads forgets heads. A reader that asked before does not keep what it got.
func (m *Memcached) dropHeads(keys []string) {
	m.drops.Add(1)
	for _, key := range keys {
		m.nearHeads.drop(key)
	}
}

// Ping asks every server that is not known to be away.
func (m *Memcached) Ping(ctx context.Context) error {
	if !m.enter() {
		return fmt.Errorf("memcached: closed: %w", repo.ErrUnavailable)
	}
	defer m.calls.Done()
	answers := make(chan error, len(m.nodes))
	for _, n := range m.nodes {
		m.calls.Go(func() { answers <- n.ping() })
	}
	var errs []error
	for range m.nodes {
		select {
		case err := <-answers:
			errs = append(errs, err)
		case <-ctx.Done():
			return fmt.Errorf("ping memcached: %w", ctx.Err())
		}
	}
	return errors.Join(errs...)
}

// Close ends the probes and the connections and waits for the calls under way.
func (m *Memcached) Close() error {
	m.mu.Lock()
	closed := m.closed
	m.closed = true
	m.mu.Unlock()
	if closed {
		return nil
	}
	m.watch.close()
	m.calls.Wait()
	for _, n := range m.nodes {
		n.close()
	}
	m.near.close()
	m.metrics.close()
	return nil
}

// enter begins a call, which ends with calls.Done; it is false after Close.
func (m *Memcached) enter() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if !m.closed {
		m.calls.Add(1)
	}
	return !m.closed
}

// tell hands each node its entries, to all nodes at once.
func (m *Memcached) tell(names *names, entries []Entry, f func(*node, *names, []Entry)) {
	parts := make(map[*node]map[string]Entry)
	for _, e := range entries {
		e.Key = names.prefix + e.Key
		n := m.nodes[m.node(e.Key)]
		if !legal(e.Key) {
			continue
		}
		if parts[n] == nil {
			parts[n] = make(map[string]Entry)
		}
		// Of a key that is named twice only the highest ver counts.
		if old, found := parts[n][e.Key]; !found || old.Ver < e.Ver {
			parts[n][e.Key] = e
		}
	}
	if len(parts) == 1 {
		for n, part := range parts {
			f(n, names, entriesOf(part)) // a goroutine would cost as much as the server does
		}
		return
	}
	var told sync.WaitGroup
	for n, part := range parts {
		told.Go(func() { f(n, names, entriesOf(part)) })
	}
	told.Wait()
}

// batch is keys of one node that are asked for together, with their prefix, and
// their places among all that are asked for.
type batch struct {
	node  *node
	names *names
	keys  []string
	at    []int
}

// batches spreads keys over the nodes.
func (m *Memcached) batches(names *names, keys []string) []batch {
	batches := make([]batch, 0, 1)
	open := make([]int, len(m.nodes)) // the batch of a node that has room, from 1 on
	for i, key := range keys {
		key = names.prefix + key
		if !legal(strings.TrimSuffix(key, bodySuffix)) {
			continue
		}
		n := m.node(key)
		if open[n] == 0 || len(batches[open[n]-1].keys) == maxBatch {
			room := min(len(keys)-i, maxBatch)
			batches = append(batches, batch{m.nodes[n], names, make([]string, 0, room), make([]int, 0, room)})
			open[n] = len(batches)
		}
		b := &batches[open[n]-1]
		b.keys, b.at = append(b.keys, key), append(b.at, i)
	}
	return batches
}

// node returns the server of a key, by fnv-1a over the list of servers. A body
// is where its entry is.
func (m *Memcached) node(key string) int {
	if len(m.nodes) == 1 {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(strings.TrimSuffix(key, bodySuffix)))
	return int(h.Sum32() % uint32(len(m.nodes)))
}

// network returns the network of a server's address.
func network(server string) string {
	if strings.HasPrefix(server, "/") {
		return "unix"
	}
	return "tcp"
}
