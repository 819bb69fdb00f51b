package cache

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"kith/repo"
)

const (
	// maxBatch is how many keys one multi-get asks for.
	maxBatch = 64
	// maxWorkers is how many deletes one call has under way on a node: the client
	// has no pipelining, each waits for its answer.
	maxWorkers = 16
	// maxSwaps is how often Put tries to store a key. Each lost race means that
	// another writer stored, mostly of a higher ver, so as many tries as there
	// are writers of one key are enough.
	maxSwaps = 32
)

// errAway is what a call gets at once while its node is away.
var errAway = errors.New("the server is away")

// node is one memcached server with its connections, its breaker and the keys
// that it could not be told. Its keys have their prefix.
type node struct {
	name    string
	timeout time.Duration
	expiry  time.Duration
	absent  time.Duration
	log     *slog.Logger
	now     func() time.Time
	metrics *metrics

	slots   chan struct{}           // one for each call of the client under way
	pipes   chan struct{}           // one for each call of a pipe under way
	dials   atomic.Uint64           // connections made for storing
	session atomic.Pointer[session] // nil while away; changed under mu
	breaker
}

// session is the client of a node from one return to the next fall. A node
// that is back is first told what is untold, and then opened for readers.
type session struct {
	*memcache.Client
	pipe          *pipe
	heads, bodies *lanes // so that nobody waits for long answers who asks for short ones
	open          atomic.Bool
}

// Close closes the connections that are not in use.
func (s *session) Close() error {
	return errors.Join(s.Client.Close(), s.pipe.close(), s.heads.close(), s.bodies.close())
}

func newNode(server string, cfg MemcachedConfig, m *metrics) *node {
	n := &node{
		name: server, timeout: cfg.Timeout,
		expiry: cfg.Expiry, absent: cfg.AbsentExpiry,
		log: cfg.Log.With("server", server), now: cfg.Now, metrics: m,
		slots:   make(chan struct{}, cfg.slots()),
		pipes:   make(chan struct{}, cfg.pipes()),
		breaker: newBreaker(),
	}
	s := n.connect()
	s.open.Store(true)
	n.session.Store(s)
	return n
}

// connect returns a new session. It dials when it is used.
func (n *node) connect() *session {
	a := address{network(n.name), n.name}
	c := memcache.NewFromSelector(a)
	c.Timeout, c.MaxIdleConns = n.timeout, cap(n.slots)
	return &session{Client: c, pipe: newPipe(a, n.timeout, cap(n.pipes), &n.dials), heads: newLanes(a, n.timeout, headLanes), bodies: newLanes(a, n.timeout, bodyLanes)}
}

// address is the one server of a client. Its name is looked up at each dial,
// unlike memcache.ServerList, which does so once.
type address struct{ network, name string }

func (a address) Network() string                       { return a.network }
func (a address) String() string                        { return a.name }
func (a address) PickServer(string) (net.Addr, error)   { return a, nil }
func (a address) Each(visit func(net.Addr) error) error { return visit(a) }

// call runs f, unless the node is away. If the server does not answer f, the
// node is away from then on. The slot is given back after that, so that
// whoever waited for it does not try again.
func (n *node) call(f func(*session) error) error { return n.callIn(n.slots, false, f) }

// store sends storings through a pipe. Readers must wait until nothing is untold.
func (n *node) store(reading bool, all []storing) error {
	if len(all) == 0 {
		return nil
	}
	return n.callIn(n.pipes, reading, func(s *session) error { return s.pipe.store(all) })
}

func (n *node) callIn(slots chan struct{}, reading bool, f func(*session) error) error {
	if n.session.Load() == nil {
		return errAway
	}
	slots <- struct{}{}
	defer func() { <-slots }()
	s := n.session.Load()
	if s == nil || reading && !s.open.Load() {
		return errAway
	}
	err := f(s)
	if unanswered(err) {
		n.fall(s, err)
	}
	if n.session.Load() != s {
		s.Close() // else f's connection would stay in a client that is not used again
	}
	return err
}

// unanswered tells a server that is away from one that refused a call.
func unanswered(err error) bool {
	var broken net.Error
	var dial *memcache.ConnectTimeoutError
	return errors.As(err, &broken) || errors.As(err, &dial) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func (n *node) ping() error {
	if err := n.callIn(n.slots, true, func(s *session) error { return s.Ping() }); err != nil {
		return fmt.Errorf("memcached %s: %w: %w", n.name, repo.ErrUnavailable, err)
	}
	return nil
}

// get puts what is held of at most maxBatch keys, all of them of bodies or none,
// into out, where at says; false if the node is away.
func (n *node) get(names *names, keys []string, at []int, out []Held) bool {
	s := n.session.Load()
	if s == nil || !s.open.Load() {
		return false
	}
	dials := n.dials.Load()
	from := s.heads
	if strings.HasSuffix(keys[0], bodySuffix) {
		from = s.bodies
	}
	asked, err := from.ask(keys)
	defer asked.release()
	if unanswered(err) {
		n.fall(s, err)
	}
	if err != nil || n.session.Load() != s {
		return false
	}
	for i, it := range asked.items {
		if it.value == nil {
			continue
		}
		e, kind, err := names.decode(keys[i], it.value)
		if err != nil {
			n.metrics.refused.Inc()
			n.drop([]string{keys[i]})
			continue
		}
		e.Token = Token{it.cas, dials}
		out[at[i]] = Held{e, true, kind}
	}
	return true
}

// items returns what is held of at most maxBatch keys, for a writer.
func (n *node) items(keys []string) (items map[string]*memcache.Item, err error) {
	err = n.call(func(s *session) error {
		items, err = s.GetMulti(keys)
		return err
	})
	return items, err
}

// allItems is items for any number of keys.
func (n *node) allItems(keys []string) (map[string]*memcache.Item, error) {
	var (
		mu    sync.Mutex
		all   = make(map[string]*memcache.Item, len(keys))
		first error
	)
	each(chunks(keys), func(keys []string) {
		items, err := n.items(keys)
		mu.Lock()
		defer mu.Unlock()
		if err != nil && first == nil {
			first = err
		}
		for key, item := range items {
			all[key] = item
		}
	})
	return all, first
}

func (n *node) stored(e Entry) {
	if e.tooLarge() {
		n.metrics.tooLarge.Inc()
		return
	}
	n.metrics.stored.Inc()
}

// verOf returns the ver of an item; false where there is none. Bytes that are not
// ours hold no ver.
func (n *names) verOf(item *memcache.Item) (uint64, bool) {
	if item == nil {
		return 0, false
	}
	e, _, err := n.decode(item.Key, item.Value)
	return e.Ver, err == nil
}

// decode takes apart what memcached holds of a key.
func (n *names) decode(key string, b []byte) (Entry, byte, error) {
	b, err := n.open(key, b)
	if err != nil {
		return Entry{}, 0, err
	}
	return decode(b)
}

// lostRace tells whether somebody else changed the key in between.
func lostRace(err error) bool {
	return errors.Is(err, memcache.ErrNotStored) || errors.Is(err, memcache.ErrCASConflict) ||
		errors.Is(err, memcache.ErrCacheMiss)
}

// drop deletes keys. Those that it cannot delete are untold.
func (n *node) drop(keys []string) {
	each(keys, func(key string) {
		if err := n.call(func(s *session) error { return s.remove(key) }); err != nil {
			n.untold([]string{key}, err)
		}
	})
}

// remove deletes a key that may be missing.
func (s *session) remove(key string) error {
	if err := s.Delete(key); err != nil && !errors.Is(err, memcache.ErrCacheMiss) {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}

// item returns e as memcached holds it.
func (n *node) item(names *names, e Entry) *memcache.Item {
	expiry := n.expiry
	if e.Ver == 0 || e.tooLarge() {
		expiry = n.absent
	}
	return &memcache.Item{Key: e.Key, Value: names.seal(e.Key, encode(e)), Expiration: seconds(expiry)}
}

// seconds is an expiry as memcached takes it, rounded up.
func seconds(expiry time.Duration) int32 { return int32((expiry + time.Second - 1) / time.Second) }

// each runs f on every element, maxWorkers at a time, the caller among them.
func each[T any](all []T, f func(T)) {
	var (
		next    atomic.Int64
		workers sync.WaitGroup
	)
	work := func() {
		for i := next.Add(1) - 1; i < int64(len(all)); i = next.Add(1) - 1 {
			f(all[i])
		}
	}
	for range min(maxWorkers, len(all)) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
}

// chunks cuts keys into batches.
func chunks(keys []string) [][]string { return slices.Collect(slices.Chunk(keys, maxBatch)) }

func keysOf(entries []Entry) []string {
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
	}
	return keys
}

func entriesOf(part map[string]Entry) []Entry { return slices.Collect(maps.Values(part)) }
