package cache

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"kith/repo/memcache"
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

// renewed is what the log says once everything held under the identity before is forgotten.
const renewed = "the database has a new identity: the cache starts empty"

// Identify asks the database for its identity.
type Identify func(context.Context) (Identity, error)

// tagBytes is the length of a checksum: whoever guesses is right once in 2^64 tries,
// each of which is counted.
const tagBytes = 8

// sealer is what depends on the identity: how keys begin, and the checksum of items.
type sealer struct {
	identity Identity
	prefix   string
	gcm      cipher.AEAD
	last     cipher.Block
}

func newSealer(id Identity) *sealer {
	s := &sealer{identity: id, last: block(id.Secret[SecretBytes/2:])}
	if id != (Identity{}) {
		s.prefix = strconv.FormatUint(id.ID&(1<<40-1), 36) + ":"
	}
	var err error
	if s.gcm, err = cipher.NewGCM(block(id.Secret[:SecretBytes/2])); err != nil {
		panic(err) // of a block that is as long as GCM wants it
	}
	return s
}

func block(key []byte) cipher.Block {
	b, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // of a key of 16 bytes
	}
	return b
}

// legal reports whether a row may have a key behind a prefix: bodies have theirs.
func legal(prefix, key string) bool {
	return len(prefix)+len(key)+len(bodySuffix) <= memcache.MaxKey && !strings.HasSuffix(key, bodySuffix) && memcache.Legal(key)
}

// names returns keys as memcached knows them, with a suffix, in one piece of memory;
// nothing for those that are not legal.
func (s *sealer) names(keys []string, suffix string) []string {
	size := 0
	for _, key := range keys {
		size += len(s.prefix) + len(key) + len(suffix)
	}
	var all strings.Builder
	all.Grow(size)
	names := make([]string, len(keys))
	for i, key := range keys {
		from := all.Len()
		all.WriteString(s.prefix)
		all.WriteString(key)
		if legal(s.prefix, key) {
			all.WriteString(suffix)
			names[i] = all.String()[from:]
		}
	}
	return names
}

// unique returns entries under the keys that memcached knows, without those that are not
// legal. Of a key that is named twice only the highest ver counts.
func (s *sealer) unique(entries []Entry) []Entry {
	at := make(map[string]int, len(entries))
	all := make([]Entry, 0, len(entries))
	for _, e := range entries {
		e.Key = s.prefix + e.Key
		i, twice := at[e.Key]
		switch {
		case twice && all[i].Ver < e.Ver:
			all[i] = e
		case !twice && legal(s.prefix, e.Key[len(s.prefix):]):
			at[e.Key] = len(all)
			all = append(all, e)
		}
	}
	return all
}

// scratch is room for a key and a tag.
type scratch [memcache.MaxKey + 16]byte

var scratches = sync.Pool{New: func() any { return new(scratch) }}

var zeroNonce [12]byte

// tag is the checksum of an item under its key: AES of the tag of AES-GCM, whose
// additional data are the bytes and whose text is the key. The nonce is always the
// same, which GCM alone would not bear; but nobody sees its tag, only what another
// key makes of it, and nobody sees the text that was made of the key.
func (s *sealer) tag(key string, b []byte) (out [tagBytes]byte) {
	room := scratches.Get().(*scratch)
	defer scratches.Put(room)
	text := append(room[:0], key...)
	sum := s.gcm.Seal(text[:0], zeroNonce[:], text, b)[len(key):]
	s.last.Encrypt(sum, sum)
	copy(out[:], sum)
	return out
}

// seal appends the checksum to the bytes of an item.
func (s *sealer) seal(key string, b []byte) []byte {
	tag := s.tag(key, b)
	return append(b, tag[:]...)
}

// open returns the bytes of an item without its checksum, or errLayout where that is
// not what whoever knows the secret has put under this key.
func (s *sealer) open(key string, b []byte) ([]byte, error) {
	end := len(b) - tagBytes
	if end < 0 {
		return nil, fmt.Errorf("%d bytes: %w", len(b), errLayout)
	}
	tag := s.tag(key, b[:end])
	if subtle.ConstantTimeCompare(tag[:], b[end:]) == 0 {
		return nil, fmt.Errorf("the checksum is wrong: %w", errLayout)
	}
	return b[:end:end], nil
}

// decode takes apart what memcached holds of a key.
func (s *sealer) decode(key string, b []byte) (Entry, byte, error) {
	b, err := s.open(key, b)
	if err != nil {
		return Entry{}, 0, err
	}
	return decode(b)
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

// newWatch begins to ask. before runs ahead of each question, answered gets each answer,
// whether it is another identity or not.
func newWatch(ask Identify, log *slog.Logger, before func(), answered func(Identity)) *watch {
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
				answered(id)
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

// maxRecent is how many keys are remembered from one answer to the next.
const maxRecent = 1 << 20

// recent are the keys that were put or dropped since the database was last found to have
// the same identity. Other processes may have learned of a new one meanwhile and have
// filled the cache under it with rows from before: these keys are dropped there.
type recent struct {
	mu    sync.Mutex
	keys  []string
	asked int // how many of them are from before the question under way
}

func (r *recent) add(keys ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = append(r.keys, keys[:min(len(keys), maxRecent-len(r.keys))]...)
}

// ask begins a question.
func (r *recent) ask() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = len(r.keys)
}

// same ends a question whose answer was that nothing changed.
func (r *recent) same() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = slices.Delete(r.keys, 0, r.asked)
}

// take ends a question whose answer was another identity, and returns all keys.
func (r *recent) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.keys
	r.keys = nil
	return all
}
