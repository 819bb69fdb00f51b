package cache

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/repo/memcache"
)

// Entry is one cached row: its packed bytes and its ver. Ver 0 marks a row that
// is known to be absent; it has no bytes.
//
// The bytes are in two parts, so that the small part of many rows can be had
// without the long part: Value is always held whole, Body may be long. A kind of
// row that has no such parts has no Body.
//
// An Entry given to a cache belongs to the cache: the caller must not change
// its bytes afterwards. Nor may it change those it gets from one.
type Entry struct {
	Key   string
	Ver   uint64
	Value []byte
	Body  []byte
	// Partial says that Body is left out, not empty. Ver is that of Value.
	Partial bool
	// Token lets Put replace the entry it came with in one step. It is the
	// cache's own. Whoever packs the next ver of a row hands it on.
	Token Token
}

// Token stands for one state of an entry in memcached. The zero Token is none.
type Token = memcache.CAS

// Held is what a cache has of a key.
type Held struct {
	Entry
	Found bool // else the rest is zero
	kind  byte // how it is stored
}

// Cache keeps entries whose ver never goes back.
//
// Keys are at most 249 bytes, the cache's own prefix included, without spaces
// and control characters, and do not end with a plus sign; others are never held. A key
// carries the format version of its value. All methods may be called at the same time,
// and after Close, when they do nothing.
type Cache interface {
	// Get puts what the cache holds of each of keys into out, which is as long and
	// zero, in their order. A key that is missing, expired or on a server that is away
	// is not found; a broken cache is a miss, never an error. Get returns when ctx ends,
	// at the latest after a few time-outs of a server.
	Get(ctx context.Context, keys []string, out []Held)
	// Heads is Get for who shows rows and decides nothing by them: long bodies may be
	// left out, the entries are then Partial, and what another process put may
	// show up to a second later. What was put here shows at once.
	Heads(ctx context.Context, keys []string, out []Held)
	// Fill offers entries that a reader found in the database. It adds and
	// never replaces, except that a whole entry completes a partial one. When ctx
	// ends, Fill returns and some may not be added.
	Fill(ctx context.Context, entries []Entry)
	// Put stores rows that were just committed. An entry is stored unless the cache
	// holds the same or a higher Ver. Where a server does not answer, the key is dirty: it
	// is deleted there before anything is read. Put does not stop when ctx ends, because
	// the rows are committed; it waits for a server that hangs one time-out at most. It
	// returns the keys of which a higher ver is held, with that ver: mostly of a later
	// commit. Whoever finds in the database that it is not calls Disown.
	Put(ctx context.Context, entries []Entry) (ahead map[string]uint64)
	// Disown drops keys like Drop, whose entries the database has lost, and logs and
	// counts it: their vers are higher than those it has, or it has no such rows.
	Disown(ctx context.Context, keys []string)
	// Drop forgets keys. Like Put it leaves dirty keys behind, and does not stop when
	// ctx ends.
	Drop(ctx context.Context, keys []string)
	// Ping returns nil if every server answers, else an error that wraps
	// repo.ErrUnavailable and names those that are away. It is for readiness
	// pages: the cache works on either way.
	Ping(ctx context.Context) error
	// Close ends the work in the background and waits for it.
	Close() error
}

// Config says how long and where a cache holds rows.
type Config struct {
	// Client are the memcached servers of a Memcached. Who made it closes it, later.
	Client *memcache.Client
	// MaxBytes bounds the memory of entries in this process, by about ten per cent. The
	// least used ones go first. It must be above 0; for a Memcached, which
	// keeps heads and long bodies there, 0 means 64 MiB.
	MaxBytes int64
	// Expiry is how long a row is held, in memcached in whole seconds rounded up, at
	// most 30 days; 0 means 10 minutes.
	Expiry time.Duration
	// AbsentExpiry is the same for the mark of an absent row; 0 means 30 seconds.
	AbsentExpiry time.Duration
	// Late is how late Heads of a Memcached may be by itself; 0 means a second, below
	// 0 that the servers are always asked.
	Late time.Duration
	// Identity is that of the database, Identify asks whether it still is; nil means
	// that it never changes.
	Identity Identity
	Identify Identify
	// Log gets a line when the identity changes; nil means slog.Default.
	Log *slog.Logger
	// Registerer gets the metrics; nil means none.
	Registerer prometheus.Registerer
}

func (cfg Config) withDefaults() Config {
	cfg.Expiry = cmp.Or(cfg.Expiry, 10*time.Minute)
	cfg.AbsentExpiry = cmp.Or(cfg.AbsentExpiry, 30*time.Second)
	cfg.Late = cmp.Or(cfg.Late, time.Second)
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	return cfg
}

// expiry is how long an entry is held: a hole as short as the mark of an absent row.
func (cfg Config) expiry(e Entry) time.Duration {
	if e.Ver == 0 || e.tooLarge() {
		return cfg.AbsentExpiry
	}
	return cfg.Expiry
}

// None is a cache that holds nothing, for tools and tests.
type None struct{}

var _ Cache = None{}

// NewNone returns a cache that holds nothing.
func NewNone() None { return None{} }

func (None) Get(context.Context, []string, []Held)          {}
func (None) Heads(context.Context, []string, []Held)        {}
func (None) Fill(context.Context, []Entry)                  {}
func (None) Put(context.Context, []Entry) map[string]uint64 { return nil }
func (None) Disown(context.Context, []string)               {}
func (None) Drop(context.Context, []string)                 {}
func (None) Ping(context.Context) error                     { return nil }
func (None) Close() error                                   { return nil }
