package memcache

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
)

const (
	// maxBatch is how many commands are sent before their answers are read.
	maxBatch = 128
	// maxBatchBytes bounds the same in bytes, roughly.
	maxBatchBytes = 512 << 10
	// probeEvery is the pause between two probes of a server that is away.
	probeEvery = 250 * time.Millisecond
	// repairFor is how long a server answers again before it is read from: the
	// other processes find it back meanwhile, and delete their dirty keys.
	repairFor = 2*probeEvery + 100*time.Millisecond
	// againAfter is when dirty keys are deleted a second time, because commands that
	// timed out may be carried out late.
	againAfter = time.Second
	// maxDirty bounds the keys that are remembered for a server: some 100 MB of them.
	maxDirty = 1 << 20
)

// server is one memcached server with its connections, its breaker and its dirty keys.
type server struct {
	name    string
	timeout time.Duration
	log     *slog.Logger
	metrics *metrics

	dials   atomic.Uint64           // connections made, over all sessions
	session atomic.Pointer[session] // nil while away; changed under mu

	mu       sync.Mutex
	dirty    map[string]struct{}
	again    []string  // deleted, and to be deleted once more
	overflow bool      // keys were forgotten since the server went away
	since    time.Time // when it did
	limit    int       // of dirty and of again

	fell chan struct{} // has room for one: the server went away
	stop chan struct{} // closed: no more probes
	done chan struct{} // closed: watch has ended
}

// session is the connections to a server from one return until it goes away again:
// a connection of an earlier one may be to a server that has been restarted since.
type session struct {
	short, long *pool
	single      *single
	open        atomic.Bool // for readers: no key is dirty
}

func (s *session) close() {
	s.short.close()
	s.long.close()
	s.single.close()
}

func newServer(name string, cfg Config, m *metrics) *server {
	s := &server{
		name: name, timeout: cfg.Timeout, log: cfg.Log.With("server", name), metrics: m,
		dirty: make(map[string]struct{}), limit: maxDirty,
		fell: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	first := s.newSession()
	first.open.Store(true)
	s.session.Store(first)
	return s
}

func (s *server) newSession() *session {
	ses := &session{}
	ses.short, ses.long = newPool(s, ses, shortConns, shortKeys), newPool(s, ses, maxConns-shortConns-singleConns, longKeys)
	ses.single = newSingle(s, ses)
	return ses
}

// get puts the items of the keys at the given indices into out.
func (s *server) get(keys []string, at []int, out []Item, long bool) {
	ses, err := s.session.Load(), error(nil)
	if ses == nil || !ses.open.Load() {
		err = ErrAway
	} else {
		q := questions.Get().(*question)
		q.keys, q.at, q.out, q.dials = keys, at, out, s.dials.Load()
		from := ses.short
		if long {
			from = ses.long
		}
		err = from.ask(q)
		q.keys, q.at, q.out = nil, nil, nil
		questions.Put(q)
	}
	if err != nil || s.session.Load() != ses {
		for _, i := range at {
			out[i] = Item{Away: true}
		}
	}
}

// do carries out the commands at the given indices, batch by batch. sure is for
// Write: it goes on while dirty keys are deleted, and the key of a command that is not
// answered is dirty.
func (s *server) do(all []Command, at []int, sure bool) {
	for _, i := range at {
		all[i].Err = errUnanswered
	}
	for err := error(nil); len(at) > 0 && err == nil; {
		n, bytes := 0, 0
		for n < len(at) && n < maxBatch && (n == 0 || bytes < maxBatchBytes) {
			bytes += len(all[at[n]].Value)
			n++
		}
		ses := s.session.Load()
		if err = ErrAway; ses != nil && (sure || ses.open.Load()) {
			err = ses.long.do(all, at[:n])
		}
		if err != nil {
			var dirty []string
			for _, i := range at {
				if all[i].Err == errUnanswered {
					all[i].Err = err
					dirty = append(dirty, all[i].Key)
				}
			}
			if sure {
				s.addDirty(dirty, err)
			}
		}
		at = at[n:]
	}
}

func (s *server) ping() error {
	ses := s.session.Load()
	if ses == nil || !ses.open.Load() {
		return fmt.Errorf("memcached %s: %w", s.name, ErrAway)
	}
	if err := ses.single.do((*gomemcache.Client).Ping); err != nil {
		return fmt.Errorf("memcached %s: %w: %w", s.name, ErrAway, err)
	}
	return nil
}

// down closes the server after a call in a session was not answered. If the session
// is over, the call began before the server was last away.
func (s *server) down(of *session, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session.Load() == of {
		s.end(of, cause)
	}
}

// addDirty remembers keys, and closes the server until they are deleted.
func (s *server) addDirty(keys []string, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ses := s.session.Load(); ses != nil {
		s.end(ses, cause)
	}
	for _, key := range keys {
		if _, found := s.dirty[key]; found || len(s.dirty) < s.limit {
			s.dirty[key] = struct{}{}
			continue
		}
		s.metrics.forgotten.Inc()
		if !s.overflow {
			s.overflow = true
			s.log.Error("too many dirty keys: what is held of the others may be outdated until it expires", "limit", s.limit)
		}
	}
}

// end ends the session. mu is held.
func (s *server) end(ses *session, cause error) {
	s.session.Store(nil)
	ses.close()
	if !ses.open.Load() {
		return // it was not back yet
	}
	s.since, s.overflow = time.Now(), false
	s.log.Warn("memcached server away", "cause", cause)
	select {
	case s.fell <- struct{}{}:
	default: // watch has not yet looked
	}
}

// watch brings the server back whenever it went away, until stop.
func (s *server) watch() {
	defer close(s.done)
	again := time.NewTimer(againAfter)
	again.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-s.fell:
			for !s.reopen() && s.wait(probeEvery) {
			}
			again.Reset(againAfter)
		case <-again.C:
			s.mu.Lock()
			keys := s.again
			s.again = nil
			s.mu.Unlock()
			all, at := deletes(keys)
			s.do(all, at, true)
		}
	}
}

// wait pauses; false if it is time to stop.
func (s *server) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.stop:
		return false
	}
}

// reopen brings the server up if it answers and every dirty key could be deleted. Once
// it answers, writers write, so that the keys to be deleted do not become more;
// readers wait until there are none.
func (s *server) reopen() bool {
	ses := s.newSession()
	if ses.single.do((*gomemcache.Client).Ping) != nil {
		ses.close()
		return false
	}
	s.mu.Lock()
	keys := slices.Collect(maps.Keys(s.dirty))
	clear(s.dirty)
	s.session.Store(ses)
	s.mu.Unlock()
	for len(keys) > 0 {
		batch := keys[:min(len(keys), maxBatch)]
		all, at := deletes(batch)
		err := ses.long.do(all, at)
		if err != nil || !s.wait(0) {
			s.addDirty(keys, err)
			return false
		}
		keys = keys[len(batch):]
		s.mu.Lock()
		s.again = append(s.again, batch[:max(0, min(len(batch), s.limit-len(s.again)))]...)
		s.mu.Unlock()
	}
	return s.wait(repairFor) && s.open(ses)
}

// open lets readers use a session, if it is not over. It is over if any key
// became dirty since it began.
func (s *server) open(ses *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session.Load() != ses {
		return false
	}
	ses.open.Store(true)
	s.log.Info("memcached server back", "away_seconds", time.Since(s.since).Seconds())
	return true
}

// deletes returns commands that delete keys, and their indices.
func deletes(keys []string) (all []Command, at []int) {
	for i, key := range keys {
		all, at = append(all, Command{Verb: Delete, Key: key}), append(at, i)
	}
	return all, at
}

// close ends watch and the connections. No call may be under way.
func (s *server) close() {
	close(s.stop)
	<-s.done
	if ses := s.session.Swap(nil); ses != nil {
		ses.close()
	}
}
