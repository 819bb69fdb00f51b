package dbtest

import (
	"bytes"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// Lossy is a way to the database of a DSN that can lose a request or an answer: then
// whoever asked sees the connection end.
type Lossy struct {
	// DSN leads to the database through this.
	DSN string
	// Skip is how many requests with the words pass before one is lost.
	Skip int32
	// Meantime, if there is one, runs after an answer was lost and before whoever asked
	// sees it.
	Meantime func()

	network, address string
	next             atomic.Pointer[loss]
	passed           atomic.Int32
}

// loss is what shall be lost.
type loss struct {
	words   string
	request bool // else its answer
}

// NewLossy opens such a way for the length of a test.
func NewLossy(tb testing.TB, dsn string) *Lossy {
	tb.Helper()
	at := strings.LastIndexByte(dsn[:strings.LastIndexByte(dsn, '/')], '@')
	network, rest, ok := strings.Cut(dsn[at+1:], "(")
	address, database, ok2 := strings.Cut(rest, ")")
	if !ok || !ok2 {
		tb.Fatalf("the DSN of the tests has no address")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	p := &Lossy{DSN: dsn[:at+1] + "tcp(" + l.Addr().String() + ")" + database, network: network, address: address}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.carry(c)
		}
	}()
	return p
}

// Lose loses the answer to the next request that has words in it: what was asked is done.
func (p *Lossy) Lose(words string) { p.next.Store(&loss{words: words}) }

// LoseRequest loses the next request that has words in it, which is not done.
func (p *Lossy) LoseRequest(words string) { p.next.Store(&loss{words, true}) }

// Lost reports that it has.
func (p *Lossy) Lost() bool { return p.next.Load() == nil }

// carry carries the requests of one connection, and its answers, until one is lost.
func (p *Lossy) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial(p.network, p.address)
	if err != nil {
		return
	}
	defer server.Close()
	var losing atomic.Bool
	go pass(client, server, func(request []byte) bool {
		next := p.next.Load()
		if next == nil || !bytes.Contains(request, []byte(next.words)) || p.passed.Add(1) <= p.Skip || !p.next.CompareAndSwap(next, nil) {
			return true
		}
		losing.Store(!next.request)
		return !next.request
	})
	pass(server, client, func([]byte) bool {
		if losing.Load() && p.Meantime != nil {
			p.Meantime()
		}
		return !losing.Load()
	})
}

// pass copies what comes in until ok is false, and then ends both.
func pass(from, to net.Conn, ok func([]byte) bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 1<<20)
	for {
		n, err := from.Read(buf)
		if err != nil || !ok(buf[:n]) {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
