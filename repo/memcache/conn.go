package memcache

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
)

// maxItem is the longest value that is read.
const maxItem = 2 << 20

// Verb says what a command does.
type Verb string

const (
	Set            Verb = "set"    // stores Value
	Add            Verb = "add"    // stores Value where nothing is held; else ErrHeld
	CompareAndSwap Verb = "cas"    // replaces the item that CAS stands for by Value; else ErrHeld, or ErrMissing
	Append         Verb = "append" // puts Value behind what is held; else ErrMissing. The expiry stays.
	Delete         Verb = "delete" // else ErrMissing
)

// Command is one command and what became of it.
type Command struct {
	Verb   Verb
	Key    string
	Value  []byte
	Expiry time.Duration // in whole seconds rounded up, at most MaxExpiry; 0 means never
	CAS    CAS

	// Err is nil where the command was carried out; ErrHeld or ErrMissing where it could
	// not be, as its Verb says; ErrAway where the server is away. Another error is a refusal
	// of the server, or the end of a connection: then nobody knows.
	Err error
}

// CAS stands for one state of an item. The zero CAS is none.
type CAS struct {
	id uint64 // the server's; it counts anew when it starts again
	// dials is how many connections had been made when it was read. One that is
	// made later may be to a server that has started again.
	dials uint64
}

// conn is a connection to a server, which is made when it is first used.
type conn struct {
	net    net.Conn // nil while there is none
	in     *bufio.Reader
	out    *bufio.Writer
	number uint64 // of the dial that made it

	together []*question // room for those that are asked for at once
}

func (c *conn) dial(s *server) error {
	if c.net != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	// The name is looked up at each dial: a server may have moved.
	made, err := new(net.Dialer).DialContext(ctx, network(s.name), s.name)
	if err != nil {
		return err
	}
	c.net, c.in, c.out = made, bufio.NewReaderSize(made, 32<<10), bufio.NewWriterSize(made, 32<<10)
	c.number = s.dials.Add(1)
	return nil
}

// hangUp closes the connection, if there is one. The next use dials anew.
func (c *conn) hangUp() {
	if c.net != nil {
		c.net.Close()
		c.net = nil
	}
}

// unanswered reports whether err means that the server is away, not that it refused a call.
func unanswered(err error) bool {
	var broken net.Error
	var late *gomemcache.ConnectTimeoutError
	return errors.As(err, &broken) || errors.As(err, &late) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// await gives the server a time-out for the next n bytes, where they are not here yet. As
// long as something comes it is there.
func (c *conn) await(n int, timeout time.Duration) error {
	if c.in.Buffered() >= n {
		return nil
	}
	return c.net.SetReadDeadline(time.Now().Add(timeout))
}

// line reads the next line of an answer.
func (c *conn) line(timeout time.Duration) ([]byte, error) {
	if err := c.await(1, timeout); err != nil {
		return nil, err
	}
	return c.in.ReadSlice('\n')
}

// ask asks for everybody's keys in one command and reads the answers. They come in
// the order of the keys, without those that the server does not hold.
func (c *conn) ask(together []*question, timeout time.Duration) error {
	c.out.WriteString("gets")
	for _, q := range together {
		for _, i := range q.at {
			c.out.WriteByte(' ')
			c.out.WriteString(q.keys[i])
		}
	}
	c.out.WriteString("\r\n")
	if err := c.out.Flush(); err != nil {
		return err
	}
	who, key := 0, 0
	for {
		line, err := c.line(timeout)
		if err != nil || string(line) == "END\r\n" {
			return err
		}
		name, size, id, err := parseValue(line)
		if err != nil {
			return err
		}
		for who < len(together) {
			q := together[who]
			if key == len(q.at) {
				who, key = who+1, 0
				continue
			}
			if key++; q.keys[q.at[key-1]] == string(name) {
				break
			}
		}
		if who == len(together) {
			return fmt.Errorf("memcached answers %q, which was not asked for", name)
		}
		q := together[who]
		if err := c.await(size+2, timeout); err != nil {
			return err
		}
		if size > maxItem {
			if _, err := c.in.Discard(size + 2); err != nil {
				return err
			}
			continue
		}
		value := make([]byte, size+2)
		if _, err := io.ReadFull(c.in, value); err != nil {
			return err
		}
		q.out[q.at[key-1]] = Item{Value: value[:size:size], CAS: CAS{id, q.dials}}
	}
}

// parseValue takes a line apart: VALUE key flags size cas.
func parseValue(line []byte) (key []byte, size int, cas uint64, err error) {
	rest, ok := bytes.CutPrefix(line, []byte("VALUE "))
	key, rest, more := bytes.Cut(rest, []byte(" "))
	_, rest, _ = bytes.Cut(rest, []byte(" "))
	length, last, _ := bytes.Cut(rest, []byte(" "))
	if ok && more {
		if size, err = strconv.Atoi(string(length)); err == nil {
			cas, err = strconv.ParseUint(string(bytes.TrimSuffix(last, []byte("\r\n"))), 10, 64)
		}
	}
	if !ok || !more || err != nil || size < 0 {
		return nil, 0, 0, fmt.Errorf("memcached answers %q", line)
	}
	return key, size, cas, nil
}

// do sends the commands at the given indices of all and reads their answers. An error
// says that the connection is of no use any more; then some are not answered.
func (c *conn) do(all []Command, at []int, timeout time.Duration) error {
	for _, i := range at {
		if cmd := &all[i]; cmd.Verb == CompareAndSwap && cmd.CAS.dials < c.number {
			cmd.Err = ErrHeld // as far as anybody can know; it is not sent
		} else {
			c.write(cmd)
		}
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	strange := false
	for _, i := range at {
		cmd := &all[i]
		if cmd.Err == ErrHeld {
			continue
		}
		line, err := c.line(timeout)
		if err != nil {
			return err
		}
		cmd.resolve(string(bytes.TrimSuffix(line, []byte("\r\n"))))
		if cmd.Err == nil || cmd.Err == ErrHeld || cmd.Err == ErrMissing {
			continue
		}
		if strange = true; cmd.Verb == Delete { // it is still held: as if nobody had answered
			err, cmd.Err = cmd.Err, errUnanswered
			return err
		}
	}
	if strange { // it may be about to close, or out of step
		c.hangUp()
	}
	return nil
}

// write writes a command. A bufio.Writer remembers its first error.
func (c *conn) write(cmd *Command) {
	var room [64]byte
	b := room[:0]
	number := func(n uint64) { b = strconv.AppendUint(append(b, ' '), n, 10) }
	if cmd.Verb != Delete {
		number(0) // flags
		number(uint64(seconds(cmd.Expiry)))
		number(uint64(len(cmd.Value)))
	}
	if cmd.Verb == CompareAndSwap {
		number(cmd.CAS.id)
	}
	c.out.WriteString(string(cmd.Verb))
	c.out.WriteByte(' ')
	c.out.WriteString(cmd.Key)
	c.out.Write(append(b, "\r\n"...))
	if cmd.Verb != Delete {
		c.out.Write(cmd.Value)
		c.out.WriteString("\r\n")
	}
}

// seconds is how memcached takes an expiry.
func seconds(d time.Duration) int32 { return int32((d + time.Second - 1) / time.Second) }

// resolve notes what the server answered.
func (cmd *Command) resolve(answer string) {
	cmd.Err = nil
	switch answer {
	case "STORED", "DELETED":
		return
	case "NOT_FOUND":
		cmd.Err = ErrMissing
		return
	case "EXISTS":
		cmd.Err = ErrHeld
		return
	case "NOT_STORED":
		cmd.Err = ErrHeld
		if cmd.Verb == Append {
			cmd.Err = ErrMissing
		}
		return
	}
	cmd.Err = fmt.Errorf("memcached answers %q", answer)
}
