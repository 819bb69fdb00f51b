package peer

import (
	"context"
	"sync/atomic"
	"time"

	"kith/cmd/kithbench/feed"
	"kith/cmd/kithbench/server"
	"kith/repo/event"
)

// Home keeps posts and home timelines. Many goroutines may call its methods. An entry of a
// home has the post's text and its author's name, and homes are newest first.
type Home interface {
	Name() string
	// Load puts a world into an empty peer, the fastest way there is.
	Load(ctx context.Context, w *feed.World) error
	// Post adds a post, and returns its id when all followers have it in their homes.
	Post(ctx context.Context, author uint64, text string) (uint64, error)
	// Page returns the entries of a home that are older than a post; 0 stands for the first
	// page.
	Page(ctx context.Context, reader, before uint64, limit int) ([]feed.Post, error)
	// HomeSpace is what the homes take, without the posts, and how many entries they have.
	HomeSpace(ctx context.Context) (s Space, entries int64, err error)
	Close() error
}

// Tier is where a home is that is about to be read.
type Tier string

// Hot is the fastest place that a peer has, Cold nowhere.
const (
	Hot  Tier = "hot"
	Cold Tier = "cold"
)

// Tiered is a home peer that keeps homes in tiers.
type Tiered interface {
	Home
	// Cool puts homes into a tier. For Hot it does nothing: who reads a home makes it hot.
	Cool(ctx context.Context, t Tier, readers []uint64) error
}

// The names of the home peers besides KithName: those of the starting documents.
const (
	PullName      = "sql-pull"          // a home is a query over the posts of whom the reader follows
	DeferredName  = "sql-pull-deferred" // the same, posts read after ids are sorted
	PushName      = "sql-push"          // a row for each entry of each home
	RedisPushName = "redis-push"        // a sorted set for each home
)

// HomeNames are all home peers, kith first, in the order of tables and turns.
var HomeNames = []string{KithName, PullName, DeferredName, PushName, RedisPushName}

// HomeCap is how many entries a home keeps.
const HomeCap = 450

// OpenHome opens a home peer on servers where it was not opened before.
func OpenHome(ctx context.Context, s *server.Servers, name string) (Home, error) {
	switch name {
	case KithName:
		return openKithHome(ctx, s)
	case RedisPushName:
		return openRedisHome(ctx, s.Redis)
	}
	dsn, err := s.CreateDatabase(ctx, name)
	if err != nil {
		return nil, err
	}
	return openSQLHome(ctx, name, dsn)
}

// ids makes the ids of posts for peers that do not make them themselves.
type ids struct{ last atomic.Uint64 }

func (i *ids) next(author uint64) uint64 {
	for {
		last := i.last.Load()
		if id := event.Next(author, last, time.Now(), 0); i.last.CompareAndSwap(last, id) {
			return id
		}
	}
}
