package memcache

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
)

// singleConns is how many single commands are on their way to a server at once.
const singleConns = 2

// Touch gives what is held of a key a new expiry, as of Command.Expiry. Errors are those
// of Command.
func (c *Client) Touch(ctx context.Context, key string, expiry time.Duration) error {
	_, err := c.single(ctx, key, func(g *gomemcache.Client) (uint64, error) {
		return 0, g.Touch(key, seconds(expiry))
	})
	return err
}

// Incr adds delta to the decimal number that is held of a key, and returns the sum.
// Errors are those of Command.
func (c *Client) Incr(ctx context.Context, key string, delta uint64) (uint64, error) {
	return c.single(ctx, key, func(g *gomemcache.Client) (uint64, error) { return g.Increment(key, delta) })
}

func (c *Client) single(ctx context.Context, key string, f func(*gomemcache.Client) (uint64, error)) (uint64, error) {
	if !Legal(key) {
		return 0, errKey
	}
	var n atomic.Uint64 // where ctx ends first, it may still be written
	outcome := []error{nil}
	err := bounded(ctx, c, outcome, func(outcome []error) {
		s := c.servers[c.serverOf(key)]
		ses := s.session.Load()
		if outcome[0] = ErrAway; ses != nil && ses.open.Load() {
			outcome[0] = ses.single.do(func(g *gomemcache.Client) error {
				sum, err := f(g)
				n.Store(sum)
				return err
			})
		}
	})
	if err == nil {
		err = outcome[0]
	}
	if err != nil {
		return 0, err
	}
	return n.Load(), nil
}

// single sends the single commands of a session, which need no connection of our own.
type single struct {
	server  *server
	session *session
	client  *gomemcache.Client
	turns   chan struct{} // has room for as many commands as may be on their way
	over    atomic.Bool   // the session has ended
}

func (g *single) close() {
	g.over.Store(true)
	g.client.Close()
}

func newSingle(s *server, of *session) *single {
	client := gomemcache.NewFromSelector(address(s.name))
	client.Timeout, client.MaxIdleConns = s.timeout, singleConns
	return &single{server: s, session: of, client: client, turns: make(chan struct{}, singleConns)}
}

// do sends a command. Where the server does not answer, the session is over.
func (g *single) do(f func(*gomemcache.Client) error) error {
	turn := time.NewTimer(g.server.timeout * 5 / 4) // as for questions
	defer turn.Stop()
	select {
	case g.turns <- struct{}{}:
		defer func() { <-g.turns }()
	case <-turn.C:
		return errBusy
	}
	if g.over.Load() { // those who wait are not to try a server that hangs
		return ErrAway
	}
	g.server.metrics.trips.Inc()
	err := f(g.client)
	if errors.Is(err, gomemcache.ErrCacheMiss) {
		return ErrMissing
	}
	if err != nil && unanswered(err) {
		g.server.down(g.session, err)
	}
	return err
}

// address is the one server of a gomemcache client, whose name is looked up at each dial.
type address string

var (
	_ net.Addr                  = address("")
	_ gomemcache.ServerSelector = address("")
)

func (a address) Network() string                     { return network(string(a)) }
func (a address) String() string                      { return string(a) }
func (a address) PickServer(string) (net.Addr, error) { return a, nil }
func (a address) Each(f func(net.Addr) error) error   { return f(a) }
