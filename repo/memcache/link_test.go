package memcache

import (
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// link is a network in front of a memcached: a TCP address that can be cut
// while the server keeps its items.
type link struct {
	addr     string
	accepted atomic.Int64 // connections so far
	noDelete atomic.Bool  // break the connection of the next delete

	t      *testing.T
	server string // path of a unix socket, or host:port
	work   sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener
	conns    []net.Conn
}

func openLink(t *testing.T, server string) *link {
	t.Helper()
	l := &link{t: t, server: server, addr: "127.0.0.1:0"}
	l.heal()
	t.Cleanup(func() {
		l.cut()
		l.work.Wait()
	})
	return l
}

// heal takes connections, at the same address as before.
func (l *link) heal() {
	l.t.Helper()
	listener, err := net.Listen("tcp", l.addr)
	if err != nil {
		l.t.Fatalf("listen: %v", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listener, l.addr = listener, listener.Addr().String()
	l.work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // cut
			}
			l.accepted.Add(1)
			l.join(conn)
		}
	})
}

// cut breaks all connections and refuses new ones.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listener.Close()
	for _, conn := range l.conns {
		conn.Close()
	}
	l.conns = nil
}

// join carries bytes between conn and the server.
func (l *link) join(conn net.Conn) {
	network := "tcp"
	if l.server[0] == '/' {
		network = "unix"
	}
	server, err := net.Dial(network, l.server)
	if err != nil {
		conn.Close()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, conn, server)
	l.work.Go(func() {
		io.Copy(server, io.TeeReader(conn, censor{l, conn}))
		server.Close()
	})
	l.work.Go(func() {
		io.Copy(conn, server)
		conn.Close()
	})
}

// censor sees what a client sends before the server does.
type censor struct {
	*link
	conn net.Conn
}

func (c censor) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("delete ")) && c.noDelete.CompareAndSwap(true, false) {
		c.conn.Close()
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}
