package memcache

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxConns is how many connections to a server may be in use.
	maxConns = 16
	// shortConns is how many questions about short values are on their way to a server at
	// once, shortKeys how many keys each asks for at least before callers are left to the
	// next.
	shortConns = 2
	shortKeys  = 128
	// longKeys is the same for long values: nobody is to wait for many.
	longKeys = 4
)

// errBusy is what a caller gets whose turn did not come although the server answers.
var errBusy = errors.New("the memcached server is busy")

// pool is the connections of a session for one use, and those who wait for one.
//
// No goroutine stands behind a connection: a caller who gets one asks, for itself and for
// whoever waits.
type pool struct {
	server  *server
	session *session
	keys    int            // of a question that is asked for several callers
	made    atomic.Int64   // connections
	free    chan *conn     // has room for as many as there may be
	waiting chan *question // has no room: a sender waits for its turn
	over    atomic.Bool    // the session has ended
}

func newPool(s *server, of *session, conns, keys int) *pool {
	return &pool{server: s, session: of, keys: keys, free: make(chan *conn, conns), waiting: make(chan *question)}
}

// idle returns a connection that nobody uses, or nil.
func (p *pool) idle() *conn {
	select {
	case c := <-p.free:
		return c
	default:
	}
	if p.made.Add(1) <= int64(cap(p.free)) {
		return &conn{}
	}
	p.made.Add(-1)
	return nil
}

// question is the keys that one caller asks for: those of all keys that are at the
// given indices, where their items belong in out.
type question struct {
	keys  []string
	at    []int
	out   []Item
	dials uint64      // when it was asked
	done  chan error  // where another caller asks for it
	timer *time.Timer // for a turn that does not come
}

var questions = sync.Pool{New: func() any {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &question{done: make(chan error, 1), timer: timer}
}}

// ask gets the answer to a question. The turn to ask comes within little more than a
// time-out, or never.
func (p *pool) ask(q *question) error {
	if c := p.idle(); c != nil {
		return p.lead(c, q)
	}
	q.timer.Reset(p.server.timeout * 5 / 4) // so that a server that hangs is found out before, by who asks
	defer q.timer.Stop()
	select {
	case c := <-p.free:
		return p.lead(c, q)
	case p.waiting <- q:
		return <-q.done
	case <-q.timer.C:
		return errBusy
	}
}

// lead asks for q and for those that wait.
func (p *pool) lead(c *conn, q *question) error {
	defer p.give(c)   // when the others have their answers: the next leader finds them waiting again
	runtime.Gosched() // to those who are about to ask
	together := append(c.together[:0], q)
	for keys := len(q.at); keys < p.keys; keys += len(together[len(together)-1].at) {
		select {
		case other := <-p.waiting:
			together = append(together, other)
			continue
		default:
		}
		break
	}
	err := p.use(c, func() error { return c.ask(together, p.server.timeout) })
	for _, other := range together[1:] {
		other.done <- err
	}
	clear(together)
	c.together = together
	return err
}

// do carries out a batch.
func (p *pool) do(all []Command, at []int) error {
	c := p.idle()
	if c == nil {
		c = <-p.free
	}
	defer p.give(c)
	return p.use(c, func() error { return c.do(all, at, p.server.timeout) })
}

// use runs f on a connection that is dialled if need be. Where the server does not answer,
// the session is over before another gets the connection: those who wait are not to try it
// one after the other.
func (p *pool) use(c *conn, f func() error) error {
	if p.over.Load() {
		return ErrAway
	}
	err := c.dial(p.server)
	if err == nil { // one deadline for all that is sent, also before a buffer is flushed
		err = c.net.SetWriteDeadline(time.Now().Add(p.server.timeout))
	}
	if err == nil {
		p.server.metrics.trips.Inc()
		err = f()
	}
	if err != nil {
		c.hangUp()
		if unanswered(err) {
			p.server.down(p.session, err)
		}
	}
	return err
}

// give lets others use a connection.
func (p *pool) give(c *conn) {
	p.free <- c
	if p.over.Load() {
		p.close()
	}
}

// close hangs up what is not in use; the rest follows when it is given back. Those
// who wait get their turn, and ErrAway.
func (p *pool) close() {
	p.over.Store(true)
	for range cap(p.free) {
		select {
		case c := <-p.free:
			c.hangUp()
			p.free <- c
		default:
			return
		}
	}
}
