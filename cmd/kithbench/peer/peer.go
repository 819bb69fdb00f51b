// Package peer keeps the same follow graph in all the ways that a product could choose:
// kith, two tables, Redis, and kith's rows with a read-swap loop in each client.
//
// Each peer is written as its own users would write it, with indexes, pipelines and bulk
// loads, and has a server on a unix socket. All peers give the same answers, which package
// work checks before it times anything.
package peer

import (
	"context"
	"errors"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/server"
)

// State is what another account is to a viewer.
type State struct{ Following, FollowedBy bool }

// Entry is one line of a page: an account, and the time of the follow.
type Entry struct {
	ID uint64
	At uint32
}

// List is one of the two lists of an account.
type List string

// Who follows the account, and whom it follows.
const (
	Followers List = "followers"
	Following List = "following"
)

// Counts are the numbers on an account's page.
type Counts struct{ Following, Followers int64 }

// Space is what a peer's data takes, in bytes; 0 where it has nothing of that kind.
type Space struct {
	Pages    int64 // on disk: of the tables and their indexes, the pages in use
	Files    int64 // on disk: the files, with what is free in them
	Memory   int64 // of a memory server: what its allocator has handed out for it
	Resident int64 // of a memory server: its process, with all that it has
}

// The names of the peers, as tables and plots show them.
const (
	KithName     = "kith"            // with memcached, as many processes run it
	AloneName    = "kith-alone"      // with the cache in the process, as one process runs it
	TwoTableName = "twotable"        // follows and fans on the same MySQL
	PackedName   = "twotable-packed" // the same, a change all in one round trip
	RedisName    = "redis"           // sorted sets, nothing on disk
	SyncedName   = "redis-synced"    // sorted sets, appendfsync always
	NaiveName    = "naive"           // kith's rows, a read-swap loop in each client

	// FreshName is kith whose counts are never a second old. It comes with KithName and has
	// the same data.
	FreshName = "kith-fresh"
)

// Names are all peers, in the order of tables and turns.
var Names = []string{KithName, AloneName, TwoTableName, PackedName, RedisName, SyncedName, NaiveName}

// Open opens a peer on servers where it was not opened before.
func Open(ctx context.Context, s *server.Servers, name string) (Peer, error) {
	switch name {
	case RedisName:
		return openRedis(ctx, name, s.Redis)
	case SyncedName:
		return openRedis(ctx, name, s.Synced)
	case FreshName:
		return OpenKith(ctx, name, s.DSN(KithName), s.Memcached.Socket, -1)
	}
	dsn, err := s.CreateDatabase(ctx, name)
	if err != nil {
		return nil, err
	}
	if name == TwoTableName || name == PackedName {
		return openTwoTable(ctx, name, dsn, name == PackedName)
	}
	return openKith(ctx, s, name, dsn)
}

// ErrGaveUp says that a change was not made after as many tries as a peer makes.
var ErrGaveUp = errors.New("gave up")

// Peer keeps a graph. Many goroutines may call its methods. Follow and Unfollow change both
// sides and the counts, or nothing, and nothing the second time. A change is on disk when the
// method returns, if the peer has a disk. Pages are newest first; no two follows of a list
// have the same time.
type Peer interface {
	Name() string
	// Load puts a graph into an empty peer, the fastest way there is.
	Load(ctx context.Context, g *graph.Graph) error
	Follow(ctx context.Context, from, to uint64, at uint32) error
	Unfollow(ctx context.Context, from, to uint64) error
	// States answers for ids in their order.
	States(ctx context.Context, viewer uint64, ids []uint64) ([]State, error)
	// Page returns the entries of a list that are older than the entry before; the zero Entry
	// stands for the first page.
	Page(ctx context.Context, l List, id uint64, before Entry, limit int) ([]Entry, error)
	// Counts answers for ids in their order.
	Counts(ctx context.Context, ids []uint64) ([]Counts, error)
	Space(ctx context.Context) (Space, error)
	Close() error
}
