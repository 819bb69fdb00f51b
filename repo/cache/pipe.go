package cache

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

const (
	// maxPiped is how many commands are sent before their answers are read.
	maxPiped = 128
	// maxPipedBytes bounds the same in bytes, roughly.
	maxPipedBytes = 512 << 10
)

// pipe stores many items at once. The client has no pipelining, and a commit
// tells hundreds of rows: with a round trip each, that took more time than the
// commit itself. Commands of a batch are sent together and answered together.
type pipe struct {
	address net.Addr
	timeout time.Duration
	free    chan *pipeConn // has room for all there may be
	dials   *atomic.Uint64 // of the node, over all its sessions
}

// pipeConn is a connection with its buffers.
type pipeConn struct {
	net.Conn
	in     *bufio.Reader
	out    *bufio.Writer
	number uint64 // of the dial that made it
}

// storing is one command: set, add or cas.
type storing struct {
	verb string
	*memcache.Item
	entry Entry  // that it stores
	dials uint64 // of a cas: a connection of a later number may not carry it out
	err   error  // what became of it; nil is stored
}

func newPipe(address net.Addr, timeout time.Duration, conns int, dials *atomic.Uint64) *pipe {
	return &pipe{address: address, timeout: timeout, free: make(chan *pipeConn, conns), dials: dials}
}

// store carries commands out in order and notes what became of each. It returns
// an error if the server went away meanwhile; then some are not answered.
func (p *pipe) store(all []storing) error {
	c, err := p.connect()
	if err != nil {
		return err
	}
	for left := all; len(left) > 0; {
		n := piped(left)
		if err := p.exchange(c, left[:n]); err != nil {
			c.Close()
			return err
		}
		left = left[n:]
	}
	p.release(c, all)
	return nil
}

// release keeps a connection for others. One on which something else than usual was
// answered may be about to close, or out of step.
func (p *pipe) release(c *pipeConn, all []storing) {
	if slices.ContainsFunc(all, func(s storing) bool { return s.err != nil && !lostRace(s.err) }) {
		c.Close()
		return
	}
	select {
	case p.free <- c:
	default:
		c.Close()
	}
}

// piped returns how many commands to send at once.
func piped(all []storing) int {
	bytes := 0
	for i, s := range all {
		if bytes += len(s.Value); i == maxPiped || i > 0 && bytes > maxPipedBytes {
			return i
		}
	}
	return len(all)
}

func (p *pipe) connect() (*pipeConn, error) {
	select {
	case c := <-p.free:
		return c, nil
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.timeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, p.address.Network(), p.address.String())
	if err != nil {
		return nil, err
	}
	return &pipeConn{conn, bufio.NewReader(conn), bufio.NewWriterSize(conn, 64<<10), p.dials.Add(1)}, nil
}

func (p *pipe) exchange(c *pipeConn, all []storing) error {
	if err := c.SetDeadline(time.Now().Add(p.timeout)); err != nil {
		return err
	}
	for i, s := range all {
		if s.verb == "cas" && s.dials < c.number {
			all[i].err = memcache.ErrCASConflict // as far as anybody can know
			continue
		}
		if err := c.command(s); err != nil {
			return err
		}
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	for i := range all {
		if all[i].err != nil {
			continue // not sent
		}
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		all[i].err = outcome(string(line))
	}
	return nil
}

// command writes a storing: verb key flags expiry length [token], and the value.
func (c *pipeConn) command(s storing) error {
	var room [64]byte
	b := append(room[:0], " 0 "...)
	b = strconv.AppendInt(b, int64(s.Expiration), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(len(s.Value)), 10)
	if s.verb == "cas" {
		b = append(b, ' ')
		b = strconv.AppendUint(b, s.CasID, 10)
	}
	for _, part := range []string{s.verb, " ", s.Key, string(append(b, "\r\n"...))} {
		c.out.WriteString(part)
	}
	c.out.Write(s.Value)
	_, err := c.out.WriteString("\r\n") // a bufio.Writer remembers its first error
	return err
}

// outcome reads what a storing was answered with, as the client does.
func outcome(line string) error {
	switch line {
	case "STORED\r\n":
		return nil
	case "NOT_STORED\r\n":
		return memcache.ErrNotStored
	case "EXISTS\r\n":
		return memcache.ErrCASConflict
	case "NOT_FOUND\r\n":
		return memcache.ErrCacheMiss
	default:
		return fmt.Errorf("memcached answers %q", line)
	}
}

// close closes the connections that are not in use; the others are closed when
// they are given back to a pipe that is full, or by their errors.
func (p *pipe) close() error {
	var errs []error
	for {
		select {
		case c := <-p.free:
			errs = append(errs, c.Close())
		default:
			return errors.Join(errs...)
		}
	}
}
