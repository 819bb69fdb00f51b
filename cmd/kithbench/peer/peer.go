// Package peer is the same small social network, kept by each of the things a
// product could keep it in: kith, two tables, Redis, and kith's rows with a
// read-swap loop in each client. [Names] has them all.
//
// Each peer is written the way its own users would write it, and is given what
// its own users would give it: its indexes, its pipelines, its bulk load, a
// server on the same kind of unix socket. Peers answer the same questions with
// the same answers, which package work makes sure of before it times anything.
package peer

import (
	"context"
	"errors"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/server"
)

// State is what another account is to a viewer.
type State struct{ Following, FollowedBy bool }

// Entry is one line of a page: who, and when the follow was made.
type Entry struct {
	ID uint64
	At uint32
}

// List is one of the two lists of an account.
type List string

// Those who follow the account, and those whom it follows.
const (
	Followers List = "followers"
	Following List = "following"
)

// Counts are the numbers on an account's page.
type Counts struct{ Following, Followers int64 }

// Space is what a peer's data takes, in bytes; 0 is nothing of that kind.
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

	// FreshName is kith whose counts are never a second old. It is no peer of its
	// own: it comes with KithName, on the data of that one.
	FreshName = "kith-fresh"
)

// Names are all peers, in the order of tables and turns.
var Names = []string{KithName, AloneName, TwoTableName, PackedName, RedisName, SyncedName, NaiveName}

// Open opens the peer of a name on servers where it was not opened before.
func Open(ctx context.Context, s *server.Servers, name string) (Peer, error) {
	switch name {
	case RedisName:
		return openRedis(ctx, name, s.Redis)
	case SyncedName:
		return openRedis(ctx, name, s.Synced)
	case FreshName:
		return openFresh(ctx, s)
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

// ErrGaveUp says that a change was tried as often as it is tried, and was not
// made.
var ErrGaveUp = errors.New("gave up")

// Peer keeps a graph. All methods may be called from many goroutines. Follow
// and Unfollow change both sides and the counts, or nothing; done twice they
// change nothing. A change is on disk when the method returns, if the peer has
// a disk. Pages are newest first; no two follows of a list have the same time.
type Peer interface {
	Name() string
	// Load puts a graph into an empty peer, the fastest way there is.
	Load(ctx context.Context, g *graph.Graph) error
	Follow(ctx context.Context, from, to uint64, at uint32) error
	Unfollow(ctx context.Context, from, to uint64) error
	// States answers for ids in their order.
	States(ctx context.Context, viewer uint64, ids []uint64) ([]State, error)
	// Page returns those of a list of id whose follow is from before a moment, the
	// latest first; 0 is from the newest on.
	Page(ctx context.Context, l List, id uint64, before Entry, limit int) ([]Entry, error)
	// Counts answers for ids in their order.
	Counts(ctx context.Context, ids []uint64) ([]Counts, error)
	// Space measures after the server has settled.
	Space(ctx context.Context) (Space, error)
	Close() error
}

// Skipper is a peer that can also page its followers by the number of entries to
// skip, as products do that never thought of cursors.
type Skipper interface {
	PageAfter(ctx context.Context, id uint64, skip, limit int) ([]Entry, error)
}
