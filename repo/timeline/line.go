package timeline

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	"kith/repo/event"
	"kith/repo/memcache"
)

// Line is a hot home timeline: candidates, of which the reader takes what may be shown.
type Line struct {
	// Events are the newest first, each once, none below Floor. Of more than MaxEvents only
	// the newest are stored, with the Floor that they have. Of a line that Load returned only
	// some of the newest may be read yet: see Partial.
	Events []event.Event
	// Floor is the event id from which on nothing is missing; 0: nothing is missing at all.
	Floor uint64
	// RowVer is the ver of the reader's relation row when the line was built. Warm rows do
	// not keep it.
	RowVer uint64
	// Follows is a hash of the followed set that the line was built for, and since when each
	// is followed: what was posted while somebody was not followed is not in the line.
	Follows uint64
	// Pulled are the followed authors whose events are not pushed, ascending. Their events
	// are missing, or as of BuiltAt.
	Pulled []uint64
	// BuiltAt is when the reading of the author feeds began, by the clock of who read
	// them, to the millisecond.
	BuiltAt time.Time

	// Appended is how many events have been pushed since the line was stored. Past
	// CompactAt a reader stores the line again, so that it does not grow. Store takes no
	// notice of it.
	Appended int

	older event.List // events of the line that are not read yet
}

const (
	// MaxEvents is how many events of a line are stored, so that it does not outgrow what
	// holds it.
	MaxEvents = 10_000
	// CompactAt is how many appended events are as much work to read as some hundred
	// packed ones.
	CompactAt = 100
	// NewestEvents is how many events of a line are read at first. More are seldom looked at.
	NewestEvents = 200
)

// Token stands for the line of an account at one moment. The zero Token is none.
type Token struct {
	account uint64
	key     string // of the item, under the identity as it was
	nonce   uint64
	seen    []byte       // the item as it was
	cas     memcache.CAS // of that item; zero: not known
}

// Lines keeps the hot lines. A line may be gone at any time; one that Load returns holds
// every event whose Push to it has returned without an error, and all that the author feeds
// held when Begin returned. All methods may be called at the same time, and after Close,
// when nothing is held.
type Lines interface {
	// Load returns the line of an account, which may be Partial, or false where there is none that is whole: it is
	// missing, not yet built, or its presence was lost. It renews the line. The line is the
	// caller's.
	Load(ctx context.Context, account uint64) (Line, Token, bool)
	// Peek is Load for who does not read on behalf of the account: it does not renew the
	// line, which is whole, and what is seen cannot be stored again.
	Peek(ctx context.Context, account uint64) (Line, bool)
	// Begin begins a line, in place of any other: from now on what is pushed is kept. The
	// caller reads the author feeds AFTER Begin has returned, and stores what it made of
	// them with the token. Where the line cannot be begun, Store refuses the token.
	Begin(ctx context.Context, account uint64) Token
	// Store stores a line that was made from what Load returned, or since Begin. What was
	// pushed meanwhile is kept. False means that it was not stored: another was, or
	// memcached is away. The line can be shown all the same. An error says that the line
	// cannot be packed, see event.AppendList.
	Store(ctx context.Context, t Token, l Line) (bool, error)
	// Push adds events to the lines of those followers who are around. It is faster with
	// thousands of followers than with hundreds, again and again. The events must be
	// committed, and what a cache says of their authors' feeds must not be from before.
	// After an error, which wraps repo.ErrUnavailable or is that of ctx, some lines may lack
	// the events: push again. That is no longer needed once every line was built anew.
	Push(ctx context.Context, events []event.Event, followers []uint64) error
	// Window returns the window of an account, or false where there is none.
	Window(ctx context.Context, account uint64) (Window, bool)
	// Keep keeps a window for some time, in place of any other. It may be gone earlier.
	Keep(ctx context.Context, account uint64, w Window, life time.Duration)
	// Drop forgets the line and the window of an account. It does not stop when ctx ends.
	Drop(ctx context.Context, account uint64)
	// Close ends the work in the background.
	Close() error
}

// Partial reports whether the line has older events that are not read yet. Events has all
// that are newer than these.
func (l *Line) Partial() bool { return l.older.Left > 0 }

// Whole returns the line with all of its events. Where the older ones cannot be read, what is
// there is the line.
func (l Line) Whole() Line {
	if !l.Partial() {
		return l
	}
	events, err := l.older.Read(l.Events, l.older.Left)
	if l.Events = events; err != nil {
		l.Floor = max(l.Floor, events[len(events)-1].ID)
	}
	l.older = event.List{}
	return l
}

// Cut returns the newest n events of a line.
func (l Line) Cut(n int) Line {
	l = l.Whole()
	if len(l.Events) > n {
		l.Events = l.Events[:n]
		l.Floor = max(l.Floor, l.Events[n-1].ID)
	}
	return l
}

// DefaultExpiry is how long a line stays after it was last read, and longer by up to the
// half of that its presence.
const DefaultExpiry = time.Hour

// None holds no line, for tools.
type None struct{}

var _ Lines = None{}

// NewNone returns Lines that hold none.
func NewNone() None { return None{} }

func (None) Load(context.Context, uint64) (Line, Token, bool)    { return Line{}, Token{}, false }
func (None) Peek(context.Context, uint64) (Line, bool)           { return Line{}, false }
func (None) Begin(context.Context, uint64) Token                 { return Token{} }
func (None) Push(context.Context, []event.Event, []uint64) error { return nil }
func (None) Window(context.Context, uint64) (Window, bool)       { return Window{}, false }
func (None) Keep(context.Context, uint64, Window, time.Duration) {}
func (None) Drop(context.Context, uint64)                        {}
func (None) Close() error                                        { return nil }
func (None) Store(_ context.Context, _ Token, l Line) (bool, error) {
	_, err := pack(1, l)
	return false, err
}

// newNonce returns a number that no line had before. The randomness is the system's, so that
// a machine that was copied while it ran does not repeat itself.
func newNonce() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint64(b[:])
}
