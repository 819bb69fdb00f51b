package dbtest

import (
	"bytes"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// Lossy is a way to the database of a DSN that can lose an answer: what was asked is
// done, and who asked sees the connection end.
type Lossy struct {
	// DSN leads to the database through this.
	DSN string
	// Skip is how many requests with the words to Lose pass before.
	Skip int32

	network, address string
	lose             atomic.Pointer[string]
	passed           atomic.Int32
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

// Lose loses the answer to the next request that has words in it.
func (p *Lossy) Lose(words string) { p.lose.Store(&words) }

// Lost reports that it has.
func (p *Lossy) Lost() bool { return p.lose.Load() == nil }

func (p *Lossy) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial(p.network, p.address)
	if err != nil {
		return
	}
	defer server.Close()
	var losing atomic.Bool
	go func() {
		defer server.Close()
		buf := make([]byte, 1<<20)
		for {
			n, err := client.Read(buf)
			if err != nil {
				return
			}
			if words := p.lose.Load(); words != nil && bytes.Contains(buf[:n], []byte(*words)) && p.passed.Add(1) > p.Skip && p.lose.CompareAndSwap(words, nil) {
				losing.Store(true)
			}
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 1<<20)
	for {
		n, err := server.Read(buf)
		if err != nil || losing.Load() {
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}
