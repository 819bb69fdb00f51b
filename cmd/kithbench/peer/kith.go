package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	appgraph "kith/app/graph"
	apprelation "kith/app/relation"
	"kith/cmd/kithbench/graph"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/db"
	"kith/repo/list"
	"kith/repo/memcache"
	"kith/repo/relation"
	"kith/repo/schema"
	"kith/sql"
)

// Kith is the real store behind its committer, as `kith serve` puts them
// together, with the default settings.
type Kith struct {
	// Memcached is the socket of the memcached that holds nothing but this peer's
	// rows; empty where there is none.
	Memcached string

	name      string
	pool      *sqlx.DB
	cache     cache.Cache
	rows      *relation.Store
	people    *account.Store
	committer *committer.Committer[*relation.Draft, relation.Row]
}

var _ Peer = (*Kith)(nil)

// listCap is the default of KITH_LIST_CAP.
const listCap = 10_000

// Migrate makes kith's tables in a database.
func Migrate(ctx context.Context, dsn string) error {
	pool, err := db.Open(ctx, db.Config{DSN: dsn, MaxOpen: 3})
	if err != nil {
		return fmt.Errorf("open kith's database: %w", err)
	}
	defer pool.Close()
	s, err := schema.New(pool, sql.Migrations)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	_, err = s.Up(ctx)
	return err
}

// NewKith opens kith on a migrated database, over a cache that it closes.
func NewKith(ctx context.Context, name, dsn string, c cache.Cache) (*Kith, error) {
	k := &Kith{name: name, cache: c}
	var err error
	// The default KITH_MYSQL_POOL.
	if k.pool, err = db.Open(ctx, db.Config{DSN: dsn, MaxOpen: 40}); err != nil {
		return nil, fmt.Errorf("open kith's database: %w", err)
	}
	k.rows = relation.New(k.pool, c, listCap, time.Now)
	k.people = account.New(k.pool, c)
	k.committer = committer.New(k.rows, committer.Config{})
	return k, nil
}

// onMemcached is a cache with its client.
type onMemcached struct {
	*cache.Memcached
	client *memcache.Client
}

// Close closes both.
func (m onMemcached) Close() error { return errors.Join(m.Memcached.Close(), m.client.Close()) }

// OnMemcached is the cache of many processes: a memcached on a unix socket. Heads may
// be late by so much, 0 means a second; below 0, memcached is asked for counts each time.
func OnMemcached(socket string, late time.Duration) (cache.Cache, error) {
	client, err := memcache.New(memcache.Config{Servers: []string{socket}, Timeout: time.Second})
	if err != nil {
		return nil, err
	}
	c, err := cache.NewMemcached(cache.Config{Client: client, Late: late})
	return onMemcached{c, client}, err
}

// InProcess is the cache of one process, of the default size.
func InProcess() (cache.Cache, error) {
	return cache.NewLocal(cache.Config{MaxBytes: 256 << 20})
}

// Name returns the name of the peer.
func (k *Kith) Name() string { return k.name }

// Load imports the graph as `kith import` does.
func (k *Kith) Load(ctx context.Context, g *graph.Graph) error {
	_, err := appgraph.Import(ctx, appgraph.ImportConfig{Reader: bytes.NewReader(g.Text()),
		Accounts: k.people, Rows: k.rows, Now: time.Now,
		Relations: apprelation.New(apprelation.Config{Rows: k.rows, Committer: k.committer, Accounts: k.people, Now: time.Now})})
	if err != nil {
		return fmt.Errorf("import into %s: %w", k.name, err)
	}
	return nil
}

// Follow adds the edge to both rows.
func (k *Kith) Follow(ctx context.Context, from, to uint64, at uint32) error {
	return k.committer.Do(ctx, []uint64{from, to}, func(r map[uint64]*relation.Draft) error {
		follow(r[from], r[to], at)
		return nil
	})
}

func follow(from, to *relation.Draft, at uint32) {
	both(from, to, from.AddFollowing(to.AccountID(), at), to.AddFollower(from.AccountID(), at))
}

func unfollow(from, to *relation.Draft) {
	both(from, to, from.DropFollowing(to.AccountID()), to.DropFollower(from.AccountID()))
}

// both swaps both rows if either changed, as the service does.
func both(a, b *relation.Draft, one, other bool) {
	if one != other {
		a.Touch()
		b.Touch()
	}
}

// Unfollow takes the edge out of both rows.
func (k *Kith) Unfollow(ctx context.Context, from, to uint64) error {
	return k.committer.Do(ctx, []uint64{from, to}, func(r map[uint64]*relation.Draft) error {
		unfollow(r[from], r[to])
		return nil
	})
}

// States reads the viewer's row.
func (k *Kith) States(ctx context.Context, viewer uint64, ids []uint64) ([]State, error) {
	row, err := k.rows.Row(ctx, viewer)
	if err != nil {
		return nil, err
	}
	rels, _, err := k.rows.Rels(ctx, row, ids, relation.EveryRel)
	if err != nil {
		return nil, fmt.Errorf("states for %d: %w", viewer, err)
	}
	states := make([]State, len(rels))
	for i, r := range rels {
		states[i] = State{Following: r&list.IsFollowing != 0, FollowedBy: r&list.IsFollower != 0}
	}
	return states, nil
}

// Followers reads a page of the account's row and archive.
func (k *Kith) Followers(ctx context.Context, id uint64, before Entry, limit int) ([]Entry, error) {
	return k.page(ctx, id, list.ByFollower, before, limit)
}

// Following reads a page of the account's row and archive.
func (k *Kith) Following(ctx context.Context, id uint64, before Entry, limit int) ([]Entry, error) {
	return k.page(ctx, id, list.ByFollowing, before, limit)
}

func (k *Kith) page(ctx context.Context, id uint64, o list.Order, before Entry, limit int) ([]Entry, error) {
	row, err := k.rows.Row(ctx, id)
	if err != nil {
		return nil, err
	}
	found, err := k.rows.Page(ctx, row, o, list.Range{Before: list.Cursor{Time: before.At, ID: before.ID}, Limit: limit})
	if err != nil {
		return nil, fmt.Errorf("page of %d: %w", id, err)
	}
	page := make([]Entry, len(found))
	for i, e := range found {
		page[i] = Entry{ID: e.ID, At: e.Time}
	}
	return page, nil
}

// Counts reads the counts beside the lists.
func (k *Kith) Counts(ctx context.Context, ids []uint64) ([]Counts, error) {
	found, err := k.rows.Counts(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("counts of %d accounts: %w", len(ids), err)
	}
	counts := make([]Counts, len(ids))
	for i, c := range found {
		counts[i] = Counts{Following: int64(c.Following), Followers: int64(c.Followers)}
	}
	return counts, nil
}

// Space is that of the rows and their archive with all indexes and, where there
// is a memcached, what it takes to hold every row there is.
func (k *Kith) Space(ctx context.Context) (Space, error) {
	s, err := tableSpace(ctx, k.pool, "relation", "relation_archive")
	if err != nil || k.Memcached == "" {
		return s, err
	}
	if err := k.warm(ctx); err != nil {
		return Space{}, err
	}
	s.Memory, err = memcachedBytes(k.Memcached)
	return s, err
}

// warm reads every row through the cache.
func (k *Kith) warm(ctx context.Context) error {
	var ids []uint64
	if err := k.pool.SelectContext(ctx, &ids, `SELECT account_id FROM relation`); err != nil {
		return fmt.Errorf("list the rows: %w", err)
	}
	for part := range slices.Chunk(ids, 400) {
		if _, err := k.rows.Rows(ctx, part); err != nil {
			return fmt.Errorf("read every row: %w", err)
		}
	}
	return nil
}

// Close commits what waits and lets go of everything.
func (k *Kith) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return errors.Join(k.committer.Close(ctx), k.cache.Close(), k.pool.Close())
}
