package timeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"kith/repo"
	"kith/repo/event"
	"kith/repo/memcache"
)

const (
	// pushChunk is how many followers one question asks after, pushWorkers how many chunks
	// of one Push are under way. 10,000 followers took 5.0 ms, and 8.8 ms where 1,000 of
	// them were around; with chunks of 100 it was 7.6 and 14 ms, with 480 6.5 and 10 ms,
	// with 8 workers no less (BenchmarkMemcached_Push, 2 cores that others used, too).
	pushChunk   = 250
	pushWorkers = 4
	// storeTries is how often Store tries to keep what is pushed meanwhile.
	storeTries = 8
)

// Client is what Memcached needs of a memcache.Client.
type Client interface {
	Get(ctx context.Context, keys []string, out []memcache.Item)
	GetLong(ctx context.Context, keys []string, out []memcache.Item)
	Do(ctx context.Context, all []memcache.Command)
	Write(all []memcache.Command)
	Touch(ctx context.Context, key string, expiry time.Duration) error
}

var _ Client = (*memcache.Client)(nil)

// Config says where lines are held, and how long.
type Config struct {
	// Client are the servers of a Memcached. Who made it closes it, later.
	Client Client
	// Prefix begins all keys of a Memcached. It is that of the database's identity (see
	// cache.Memcached.Prefix), and may change; nil means none.
	Prefix func() string
	// MaxBytes bounds the memory of a Local's lines; those that are read least go first.
	// Windows have a quarter as much beside them.
	MaxBytes int64
	// Expiry is how long a line stays after it was last read, in whole seconds, at most 20
	// days; 0 means DefaultExpiry.
	Expiry time.Duration
	// Now is the time; nil means time.Now. It only decides how often a line is renewed.
	Now func() time.Time
	// Metrics count what is done; nil means that nobody sees it.
	Metrics *Metrics
}

func (cfg Config) withDefaults() (Config, error) {
	cfg.Expiry = cmp.Or(cfg.Expiry, DefaultExpiry)
	if cfg.Expiry < 0 || cfg.Expiry > maxExpiry {
		return cfg, fmt.Errorf("hot timelines: an expiry of %v: must be between 0 and %v", cfg.Expiry, maxExpiry)
	}
	if cfg.Prefix == nil {
		cfg.Prefix = func() string { return "" }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(nil)
	}
	return cfg, nil
}

// maxExpiry leaves room for that of the presence.
const maxExpiry = memcache.MaxExpiry * 2 / 3

// Memcached keeps lines in memcached servers, shared by all processes.
type Memcached struct{ Config }

var _ Lines = (*Memcached)(nil)

// NewMemcached returns lines in the servers of cfg.Client.
func NewMemcached(cfg Config) (*Memcached, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Memcached{cfg}, nil
}

// Keys of lines carry the version of their form. The presence is the companion of the line:
// it lies on the same server.
const (
	keyKind   = "h1:"
	companion = "+"
)

func (m *Memcached) key(account uint64) string {
	return m.Prefix() + keyKind + strconv.FormatUint(account, 36)
}

// presences returns the keys of presences, in one piece of memory.
func (m *Memcached) presences(accounts []uint64) []string {
	prefix, b, ends := m.Prefix()+keyKind, []byte(nil), make([]int, len(accounts))
	for i, id := range accounts {
		b = append(strconv.AppendUint(append(b, prefix...), id, 36), companion...)
		ends[i] = len(b)
	}
	all, keys, from := string(b), make([]string, len(accounts)), 0
	for i, end := range ends {
		keys[i], from = all[from:end], end
	}
	return keys
}

func (m *Memcached) presence(key string, nonce uint64) memcache.Command {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, presenceBytes), nonce)
	b = binary.BigEndian.AppendUint64(b, uint64(m.Now().Unix()))
	return memcache.Command{Verb: memcache.Set, Key: key + companion, Value: b, Expiry: m.Expiry + m.Expiry/2}
}

// Names are the keys that Load asks for, for memcache.Client.Ahead.
func (m *Memcached) Names(account uint64) []string {
	key := m.key(account)
	return []string{key, key + companion}
}

// Load asks for the line and its presence in one trip, and now and then renews both.
func (m *Memcached) Load(ctx context.Context, account uint64) (Line, Token, bool) {
	l, t, presence, ok := m.load(ctx, account)
	if ok {
		m.renew(ctx, t.key, t.nonce, presence)
	}
	return l, t, ok
}

// Peek asks for the line and its presence in one trip.
func (m *Memcached) Peek(ctx context.Context, account uint64) (Line, bool) {
	l, _, _, ok := m.load(ctx, account)
	return l.Whole(), ok
}

func (m *Memcached) load(ctx context.Context, account uint64) (l Line, t Token, presence memcache.Item, ok bool) {
	key := m.key(account)
	var held [2]memcache.Item
	m.Client.GetLong(ctx, []string{key, key + companion}, held[:])
	item, presence := held[0], held[1]
	if item.Away || presence.Away {
		m.Metrics.away.Inc()
		return l, t, presence, false
	}
	var err error
	if item.Value != nil && len(presence.Value) == presenceBytes {
		t = Token{account: account, key: key, nonce: binary.BigEndian.Uint64(presence.Value), seen: item.Value, cas: item.CAS}
		l, ok, err = unpack(item.Value, t.nonce)
	}
	if !ok {
		t = Token{}
	}
	m.Metrics.load(ok, err)
	return l, t, presence, ok
}

// renew has both items live on, if a quarter of their time has passed. The presence is
// replaced only where it is still the one that was read: another line may have begun.
func (m *Memcached) renew(ctx context.Context, key string, nonce uint64, presence memcache.Item) {
	passed := m.Now().Unix() - int64(binary.BigEndian.Uint64(presence.Value[8:]))
	if time.Duration(max(passed, -passed))*time.Second < m.Expiry/4 {
		return
	}
	again := m.presence(key, nonce)
	again.Verb, again.CAS = memcache.CompareAndSwap, presence.CAS
	m.Client.Do(ctx, []memcache.Command{again})
	m.Client.Touch(ctx, key, m.Expiry) // what is not renewed is built anew, some time
}

// Begin puts an empty line and a presence with its nonce.
func (m *Memcached) Begin(ctx context.Context, account uint64) Token {
	key, nonce := m.key(account), newNonce()
	t := Token{account: account, key: key, nonce: nonce, seen: empty(nonce)}
	all := []memcache.Command{{Verb: memcache.Set, Key: key, Value: t.seen, Expiry: m.Expiry}, m.presence(key, nonce)}
	m.Client.Do(ctx, all)
	if all[0].Err != nil || all[1].Err != nil {
		return Token{}
	}
	return t
}

// Store replaces what was seen by the line and leaves what stands behind that.
func (m *Memcached) Store(ctx context.Context, t Token, l Line) (bool, error) {
	base, err := pack(t.nonce, l)
	if err != nil || t.key == "" {
		return false, err
	}
	for range storeTries {
		if t.cas != (memcache.CAS{}) {
			all := []memcache.Command{{Verb: memcache.CompareAndSwap, Key: t.key, Value: base, Expiry: m.Expiry, CAS: t.cas}}
			m.Client.Do(ctx, all)
			if all[0].Err != memcache.ErrHeld {
				return all[0].Err == nil, nil
			}
		}
		var held [1]memcache.Item
		m.Client.GetLong(ctx, []string{t.key}, held[:])
		pushed, same := bytes.CutPrefix(held[0].Value, t.seen)
		if !same {
			return false, nil
		}
		t.seen, t.cas = held[0].Value, held[0].CAS
		base = append(base, pushed...)
	}
	return false, nil
}

// Push asks for the presence of followers, a chunk at a time, and appends to the lines of
// those who are there.
func (m *Memcached) Push(ctx context.Context, events []event.Event, followers []uint64) error {
	var records []byte
	for _, e := range events {
		records = event.AppendRecord(records, e)
	}
	if len(records) == 0 {
		return nil
	}
	var chunks errgroup.Group
	chunks.SetLimit(pushWorkers)
	for at := 0; at < len(followers); at += pushChunk {
		chunk := followers[at:min(at+pushChunk, len(followers))]
		chunks.Go(func() error { return m.push(ctx, records, chunk) })
	}
	return chunks.Wait()
}

func (m *Memcached) push(ctx context.Context, records []byte, followers []uint64) error {
	keys := m.presences(followers)
	held := make([]memcache.Item, len(keys))
	m.Client.Get(ctx, keys, held)
	var appends []memcache.Command
	var err error
	for i, presence := range held {
		switch {
		case presence.Away:
			err = cmp.Or(ctx.Err(), memcache.ErrAway)
		case presence.Value != nil:
			key := keys[i][:len(keys[i])-len(companion)]
			appends = append(appends, memcache.Command{Verb: memcache.Append, Key: key, Value: records})
		}
	}
	m.Client.Write(appends)
	var drops []memcache.Command
	for _, c := range appends {
		if c.Err != nil {
			drops = append(drops, drop(c.Key)...)
		}
		if c.Err != nil && c.Err != memcache.ErrMissing {
			err = c.Err
		}
	}
	m.Client.Write(drops)
	m.Metrics.appended.Add(float64(len(appends) - len(drops)/2))
	m.Metrics.gone.Add(float64(len(drops) / 2))
	m.Metrics.absent.Add(float64(len(followers) - len(appends)))
	if err != nil {
		return fmt.Errorf("push to the hot timelines of %d followers: %w: %w", len(followers), repo.ErrUnavailable, err)
	}
	return nil
}

// Drop deletes the line, its presence and the window. A server that does not answer deletes
// them before it is read again.
func (m *Memcached) Drop(_ context.Context, account uint64) {
	key := m.key(account)
	m.Client.Write(append(drop(key), memcache.Command{Verb: memcache.Delete, Key: m.windowKey(key)}))
}

func drop(key string) []memcache.Command {
	return []memcache.Command{{Verb: memcache.Delete, Key: key}, {Verb: memcache.Delete, Key: key + companion}}
}

// Close does nothing: the client is another's.
func (m *Memcached) Close() error { return nil }
