package cache

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"
)

// maxItem is the longest value that is read; we store none as long.
const maxItem = 2 << 20

// kindOfLanes is how many lanes there are, which is how many questions are on
// their way to a server at once, and how many keys a question has that is asked
// for several callers.
type kindOfLanes struct{ lanes, keys int }

var (
	headLanes = kindOfLanes{2, 128}
	bodyLanes = kindOfLanes{4, 4} // each may be long: nobody is to wait for many
)

// errBusy is what a caller gets whose turn did not come although the server answers.
var errBusy = errors.New("the server is busy")

// lanes ask for the keys of many callers together. While all lanes are on their
// way, callers queue up; a lane that comes back takes all that wait. At low load a
// caller waits for nobody. What is saved is system calls, here and in the server,
// which are most of what a short answer costs.
//
// No goroutine stands behind a lane: the caller who finds one free asks, for
// itself and for whoever waits, and then hands it to the first that waits.
type lanes struct {
	address address
	timeout time.Duration
	keys    int // of a question

	mu      sync.Mutex
	free    []*lane // those nobody uses; as long as there is one, nobody waits
	waiting []*asking
	closed  bool
}

// lane is a connection, which is made when it is first used.
type lane struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
	// together are those it asks for now, the caller who asks first.
	together []*asking
}

// item is a value and its compare-and-swap id; nil where nothing is held.
type item struct {
	value []byte
	cas   uint64
}

// asking is one caller's keys.
type asking struct {
	keys  []string
	items []item
	// turn gets a lane, if the caller is to ask, or nil when the answer is there.
	turn  chan *lane
	timer *time.Timer // for a turn that does not come
	err   error
}

var askings = sync.Pool{New: func() any {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &asking{turn: make(chan *lane, 1), timer: timer}
}}

func newLanes(a address, timeout time.Duration, k kindOfLanes) *lanes {
	l := &lanes{address: a, timeout: timeout, keys: k.keys}
	for range k.lanes {
		l.free = append(l.free, &lane{})
	}
	return l
}

// ask returns what the server holds of keys. Whoever has read it calls release. It
// takes little more than one time-out at most to get a turn, and another until the
// first answer, or the next, is there.
func (l *lanes) ask(keys []string) (*asking, error) {
	a := askings.Get().(*asking)
	a.keys, a.items = keys, slices.Grow(a.items[:0], len(keys))[:len(keys)]
	if mine := l.board(a); mine != nil {
		l.lead(mine, a)
	}
	return a, a.err
}

// release forgets a question and its answer.
func (a *asking) release() {
	clear(a.items)
	a.keys, a.err = nil, nil
	askings.Put(a)
}

// board returns a lane if a is to ask, nil if somebody else asked for it, or
// nobody can.
func (l *lanes) board(a *asking) *lane {
	mine, waits := l.queue(a)
	if !waits {
		return mine
	}
	a.timer.Reset(l.timeout * 5 / 4) // so that a server that hangs is found out before, by who asks
	defer a.timer.Stop()
	select {
	case mine := <-a.turn:
		return mine
	case <-a.timer.C:
	}
	if l.leave(a) {
		a.err = errBusy
		return nil
	}
	return <-a.turn // somebody is asking for it
}

// queue returns a free lane, or lets a wait for one; once the lanes are closed
// neither.
func (l *lanes) queue(a *asking) (mine *lane, waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		a.err = errAway
		return nil, false
	}
	if n := len(l.free); n > 0 {
		mine = l.free[n-1]
		l.free = l.free[:n-1]
		return mine, false
	}
	l.waiting = append(l.waiting, a)
	return nil, true
}

// leave takes a out of those who wait, if it still does.
func (l *lanes) leave(a *asking) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.waiting, a)
	if at < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, at, at+1)
	return true
}

// lead asks for a and for all that wait, and hands the lane on.
func (l *lanes) lead(mine *lane, a *asking) {
	mine.together = append(mine.together[:0], a)
	runtime.Gosched() // to those who are about to ask
	l.join(mine)
	err := mine.ask(l.address, l.timeout)
	a.err = err
	for _, b := range mine.together[1:] {
		b.err = err
		b.turn <- nil
	}
	clear(mine.together)
	l.hand(mine, err)
}

// join takes those who wait along, as far as their keys fit into one question.
func (l *lanes) join(mine *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, keys := 0, len(mine.together[0].keys)
	for n < len(l.waiting) && keys+len(l.waiting[n].keys) <= l.keys {
		keys += len(l.waiting[n].keys)
		n++
	}
	mine.together = append(mine.together, l.waiting[:n]...)
	l.waiting = slices.Delete(l.waiting, 0, n)
}

// hand gives a lane to the first that waits. Where the server did not answer, or is
// not to be asked any more, all that wait get an error instead.
func (l *lanes) hand(mine *lane, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		err = errAway
	}
	if l.closed || unanswered(err) {
		for _, b := range l.waiting {
			b.err = err
			b.turn <- nil
		}
		clear(l.waiting)
		l.waiting = l.waiting[:0]
	}
	if l.closed {
		mine.hangUp()
	}
	if len(l.waiting) > 0 {
		l.waiting[0].turn <- mine
		l.waiting = slices.Delete(l.waiting, 0, 1)
		return
	}
	l.free = append(l.free, mine)
}

// close closes the connections that are not in use; the others are closed when
// they come back.
func (l *lanes) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	var errs []error
	for _, mine := range l.free {
		errs = append(errs, mine.hangUp())
	}
	return errors.Join(errs...)
}

// hangUp closes the connection, if there is one. The next question dials anew.
func (c *lane) hangUp() error {
	if c.conn == nil {
		return nil
	}
	conn := c.conn
	c.conn = nil
	return conn.Close()
}

// ask asks for everybody's keys in one command and reads the answers.
func (c *lane) ask(a address, timeout time.Duration) error {
	err := c.dial(a, timeout)
	if err == nil {
		err = c.conn.SetDeadline(time.Now().Add(timeout))
	}
	if err == nil {
		err = c.send()
	}
	if err == nil {
		err = c.read(timeout)
	}
	if err != nil {
		c.hangUp()
	}
	return err
}

func (c *lane) dial(a address, timeout time.Duration) error {
	if c.conn != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, a.Network(), a.String())
	if err != nil {
		return err
	}
	c.conn, c.in = conn, bufio.NewReaderSize(conn, 32<<10)
	return nil
}

func (c *lane) send() error {
	c.out = append(c.out[:0], "gets"...)
	for _, a := range c.together {
		for _, key := range a.keys {
			c.out = append(append(c.out, ' '), key...)
		}
	}
	c.out = append(c.out, "\r\n"...)
	_, err := c.conn.Write(c.out)
	return err
}

// read reads answers. They come in the order of the keys, without those that
// the server does not hold. As long as something comes the server is there.
func (c *lane) read(timeout time.Duration) error {
	at := place{together: c.together}
	for first := true; ; first = false {
		if !first && c.in.Buffered() == 0 {
			if err := c.conn.SetReadDeadline(time.Now().Add(timeout)); err != nil {
				return err
			}
		}
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if bytes.Equal(line, answerEnd) {
			return nil
		}
		key, size, cas, err := parseValue(line)
		if err != nil {
			return err
		}
		to := at.next(key)
		if to == nil {
			return fmt.Errorf("memcached answers %q, which was not asked for", key)
		}
		if size > maxItem { // nobody stored that here
			if _, err := c.in.Discard(size + 2); err != nil {
				return err
			}
			continue
		}
		value := make([]byte, size+2)
		if _, err := io.ReadFull(c.in, value); err != nil {
			return err
		}
		*to = item{value[:size:size], cas}
	}
}

var answerEnd = []byte("END\r\n")

// place is where an answer stands among what was asked for.
type place struct {
	together []*asking
	who, key int
}

// next returns where the item of key goes, nil if nobody asked for it.
func (p *place) next(key []byte) *item {
	for ; p.who < len(p.together); p.who, p.key = p.who+1, 0 {
		for a := p.together[p.who]; p.key < len(a.keys); {
			i := p.key
			p.key++
			if a.keys[i] == string(key) {
				return &a.items[i]
			}
		}
	}
	return nil
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
