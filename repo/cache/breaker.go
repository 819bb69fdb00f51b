package cache

import (
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// probeEvery is the pause between two probes of a node that is away.
	probeEvery = 250 * time.Millisecond
	// mendFor is how long a server answers again before it is read from: the
	// other processes find it back meanwhile, and tell it what it missed.
	mendFor = 2*probeEvery + 100*time.Millisecond
	// againAfter is when keys are deleted a second time, because calls that
	// timed out may be carried out late.
	againAfter = time.Second
	// maxUntold bounds the keys a node remembers: some 100 MB of them.
	maxUntold = 1 << 20
)

// breaker is the part of a node that knows whether it is away. A node with
// untold keys is away: it is up again when they are deleted.
type breaker struct {
	mu       sync.Mutex
	keys     map[string]struct{} // untold
	again    map[string]struct{} // deleted, and to be deleted once more
	overflow bool                // keys were forgotten since the node fell
	since    time.Time           // when the node fell
	limit    int                 // of keys and of again

	fell chan struct{} // has room for one: the node went away
	stop chan struct{} // closed: no more probes
	done chan struct{} // closed: watch has ended
}

func newBreaker() breaker {
	return breaker{
		keys: make(map[string]struct{}), again: make(map[string]struct{}), limit: maxUntold,
		fell: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
}

// fall takes the node down after a call in session s went unanswered. If s is
// over, the call began before the node was last away.
func (n *node) fall(s *session, cause error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.session.Load() == s {
		n.down(cause)
	}
}

// untold remembers keys of rows that are committed and not told, and takes
// the node down until they are deleted.
func (n *node) untold(keys []string, cause error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.session.Load() != nil {
		n.down(cause)
	}
	for _, key := range keys {
		n.remember(key)
	}
}

// down ends the session. mu is held.
func (n *node) down(cause error) {
	s := n.session.Swap(nil)
	s.Close()
	if !s.open.Load() {
		return // it was not back yet
	}
	n.since = n.now()
	n.overflow = false
	n.log.Warn("memcached server away", "cause", cause)
	select {
	case n.fell <- struct{}{}:
	default: // watch has not yet looked
	}
}

// remember adds an untold key. mu is held.
func (n *node) remember(key string) {
	if _, found := n.keys[key]; found || len(n.keys) < n.limit {
		n.keys[key] = struct{}{}
		return
	}
	n.metrics.forgotten.Inc()
	if !n.overflow {
		n.overflow = true
		n.log.Error("too many keys untold: their rows may be stale until they expire", "limit", n.limit)
	}
}

// watch brings the node back whenever it fell, until stop.
func (n *node) watch() {
	defer close(n.done)
	again := time.NewTimer(againAfter)
	again.Stop()
	for {
		select {
		case <-n.stop:
			return
		case <-n.fell:
			n.probe()
			again.Reset(againAfter)
		case <-again.C:
			n.dropAgain()
		}
	}
}

// probe tries until the node is up or stop.
func (n *node) probe() {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for !n.reopen() {
		select {
		case <-n.stop:
			return
		case <-tick.C:
		}
	}
}

// reopen brings the node up if the server answers and every untold key could
// be deleted. Once it answers, writers tell it what they commit, so that the
// keys to be deleted do not become more; readers wait until there are none.
//
// The session is new: the last one may have connections to a server that has
// since been restarted.
func (n *node) reopen() bool {
	s := n.connect()
	if err := s.Ping(); err != nil {
		s.Close()
		return false
	}
	each(n.begin(s), func(key string) {
		// After the first failure the rest is not tried: it would time out too.
		if n.session.Load() != s || n.stopped() {
			n.untold([]string{key}, errAway)
			return
		}
		if err := s.remove(key); err != nil {
			n.untold([]string{key}, err)
			return
		}
		n.deleted(key)
	})
	n.wait(mendFor)
	return n.open(s)
}

// wait pauses, but not past stop.
func (n *node) wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-n.stop:
	}
}

// begin lets writers use session s, and takes the keys untold before.
func (n *node) begin(s *session) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.session.Store(s)
	return take(n.keys)
}

// deleted notes that a key is to be deleted once more.
func (n *node) deleted(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.again) < n.limit {
		n.again[key] = struct{}{}
	}
}

// open lets readers use session s, if it is not over. It is over if any key
// became untold since it began.
func (n *node) open(s *session) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.session.Load() != s {
		return false
	}
	s.open.Store(true)
	n.log.Info("memcached server back", "away_seconds", n.now().Sub(n.since).Seconds())
	return true
}

// dropAgain deletes keys for the second time.
func (n *node) dropAgain() {
	each(n.takeAgain(), func(key string) {
		if !n.stopped() {
			n.drop([]string{key})
		}
	})
}

// takeAgain takes the keys to be deleted once more off the node.
func (n *node) takeAgain() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return take(n.again)
}

// take empties a set.
func take(set map[string]struct{}) []string {
	keys := slices.Collect(maps.Keys(set))
	clear(set)
	return keys
}

// untoldKeys returns how many keys are untold.
func (n *node) untoldKeys() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.keys)
}

func (n *node) stopped() bool {
	select {
	case <-n.stop:
		return true
	default:
		return false
	}
}

// close ends watch and the connections. No call may be under way.
func (n *node) close() {
	close(n.stop)
	<-n.done
	if s := n.session.Swap(nil); s != nil {
		s.Close()
	}
}
