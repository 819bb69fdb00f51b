package cache

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// Identity says whose rows a cache holds: those of one database, from one renewal
// to the next. The zero Identity is for tests.
type Identity struct {
	// ID stands in every key, so that databases that share servers do not mix.
	ID uint64
	// Secret keys the checksum of every item. It is in no key and no log.
	Secret [SecretBytes]byte
}

// SecretBytes is the length of the secret of an identity.
const SecretBytes = 32

// Identify asks the database for its identity.
type Identify func(context.Context) (Identity, error)

// tagBytes is the length of a checksum: whoever guesses is right once in 2^64 tries,
// each of which is counted.
const tagBytes = 8

// names is what depends on the identity: how keys begin, and what seals items.
type names struct {
	identity Identity
	prefix   string
	gcm      cipher.AEAD
	last     cipher.Block
}

func newNames(prefix string, id Identity) (*names, error) {
	n := &names{identity: id, prefix: prefix}
	if id != (Identity{}) {
		n.prefix += strconv.FormatUint(id.ID&(1<<40-1), 36) + ":"
	}
	first, err := aes.NewCipher(id.Secret[:SecretBytes/2])
	if err == nil {
		n.gcm, err = cipher.NewGCM(first)
	}
	if err == nil {
		n.last, err = aes.NewCipher(id.Secret[SecretBytes/2:])
	}
	if err != nil {
		return nil, fmt.Errorf("make the checksum of cached items: %w", err)
	}
	return n, nil
}

// scratch is room for a key and a tag.
type scratch [maxKey + 1 + 16]byte

var scratches = sync.Pool{New: func() any { return new(scratch) }}

var zeroNonce [12]byte

// tag is the checksum of an item under its key: AES of the tag of AES-GCM, whose
// additional data are the bytes and whose text is the key. The nonce is always the
// same, which GCM alone would not bear; but nobody sees its tag, only what another
// key makes of it, and nobody sees the text that was made of the key.
func (n *names) tag(key string, b []byte) (out [tagBytes]byte) {
	room := scratches.Get().(*scratch)
	defer scratches.Put(room)
	text := append(room[:0], key...)
	sum := n.gcm.Seal(text[:0], zeroNonce[:], text, b)[len(key):]
	n.last.Encrypt(sum, sum)
	copy(out[:], sum)
	return out
}

// seal appends the checksum to the bytes of an item.
func (n *names) seal(key string, b []byte) []byte {
	tag := n.tag(key, b)
	return append(b, tag[:]...)
}

// open returns the bytes of an item without its checksum, or errLayout where that is
// not what whoever knows the secret has put under this key.
func (n *names) open(key string, b []byte) ([]byte, error) {
	end := len(b) - tagBytes
	if end < 0 {
		return nil, fmt.Errorf("%d bytes: %w", len(b), errLayout)
	}
	tag := n.tag(key, b[:end])
	if subtle.ConstantTimeCompare(tag[:], b[end:]) == 0 {
		return nil, fmt.Errorf("the checksum is wrong: %w", errLayout)
	}
	return b[:end:end], nil
}

const (
	// identifyEvery is how often a process asks whether the identity is still the same.
	identifyEvery = time.Second
	// identifyTime is how long it waits for the answer.
	identifyTime = 5 * time.Second
)

// watch asks for the identity until it is closed.
type watch struct {
	stop context.CancelFunc
	done chan struct{}
}

// newWatch begins to ask. before runs ahead of each question, told gets each answer,
// whether it is another identity or not.
func newWatch(ask Identify, log *slog.Logger, before func(), told func(Identity)) *watch {
	ctx, stop := context.WithCancel(context.Background())
	w := &watch{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		every := time.NewTicker(identifyEvery)
		defer every.Stop()
		for failed := false; ; {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			before()
			asking, cancel := context.WithTimeout(ctx, identifyTime)
			id, err := ask(asking)
			cancel()
			if err == nil {
				told(id)
			} else if !failed && ctx.Err() == nil {
				log.Warn("the identity of the database cannot be read", "error", err)
			}
			failed = err != nil
		}
	}()
	return w
}

// close ends the asking and waits for it; a nil watch has none.
func (w *watch) close() {
	if w != nil {
		w.stop()
		<-w.done
	}
}

// maxLately is how many keys are remembered from one answer to the next.
const maxLately = 1 << 20

// lately are the keys that were told since the database was last found to have the
// same identity. Other processes may have learned of a new one meanwhile and have
// filled the cache under it with rows from before: these keys are dropped there.
type lately struct {
	mu          sync.Mutex
	asked, told []string // before the question under way, and since
}

func (l *lately) add(entries []Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		if len(l.asked)+len(l.told) < maxLately {
			l.told = append(l.told, e.Key)
		}
	}
}

// ask begins a question.
func (l *lately) ask() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked, l.told = append(l.asked, l.told...), nil
}

// same ends a question whose answer was that nothing changed.
func (l *lately) same() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = nil
}

// take ends a question whose answer was another identity, and returns all keys.
func (l *lately) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := append(l.asked, l.told...)
	l.asked, l.told = nil, nil
	return all
}
