package peer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	appgraph "kith/app/graph"
	"kith/app/intake"
	apprelation "kith/app/relation"
	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/server"
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

// Kith is kith's store behind its committer, put together as `kith serve` does.
type Kith struct {
	name      string
	memcached *server.Store // has only this peer's rows; nil if there is none
	pool      *sqlx.DB
	cache     cache.Cache
	client    *memcache.Client // nil if there is none
	rows      *relation.Store
	people    *account.Store
	committer *committer.Committer[*relation.Draft, relation.Row]
}

// listCap is the default of KITH_LIST_CAP.
const listCap = 10_000

// openKith opens one of the peers that have kith's tables, in a database of its own.
func openKith(ctx context.Context, s *server.Servers, name, dsn string) (Peer, error) {
	switch name {
	case KithName:
		k, err := OpenKith(ctx, name, dsn, s.Memcached.Socket, 0)
		if err == nil {
			k.memcached = s.Memcached
		}
		return k, err
	case AloneName:
		inProcess, err := cache.NewLocal(cache.Config{MaxBytes: 256 << 20}) // all rows
		if err != nil {
			return nil, err
		}
		return newKith(ctx, name, dsn, inProcess)
	default:
		k, err := newKith(ctx, name, dsn, cache.NewNone())
		return &naive{Kith: k}, err
	}
}

// OpenKith opens kith as one of the processes that share a memcached. Counts may be late by
// so much: 0 means a second, below 0 not at all.
func OpenKith(ctx context.Context, name, dsn, memcached string, late time.Duration) (*Kith, error) {
	client, err := memcache.New(memcache.Config{Servers: []string{memcached}, Timeout: time.Second})
	if err != nil {
		return nil, err
	}
	c, err := cache.NewMemcached(cache.Config{Client: client, Late: late})
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	k, err := newKith(ctx, name, dsn, c)
	if err == nil {
		k.client = client
	}
	return k, err
}

// newKith opens kith over a cache, which it closes, and makes the tables that are missing.
func newKith(ctx context.Context, name, dsn string, c cache.Cache) (*Kith, error) {
	k := &Kith{name: name, cache: c}
	var err error
	// The default KITH_MYSQL_POOL.
	if k.pool, err = db.Open(ctx, db.Config{DSN: dsn, MaxOpen: 40}); err != nil {
		return nil, fmt.Errorf("open kith's database: %w", err)
	}
	tables, err := schema.New(k.pool, sql.Migrations)
	if err == nil {
		_, err = tables.Up(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("make kith's tables: %w", errors.Join(err, k.pool.Close()))
	}
	k.rows = relation.New(k.pool, c, listCap, time.Now)
	k.people = account.New(k.pool, c)
	k.committer = committer.New(k.rows, committer.Config{})
	return k, nil
}

// Name returns the name of the peer.
func (k *Kith) Name() string { return k.name }

// Load imports the graph as `kith import` does.
func (k *Kith) Load(ctx context.Context, g *graph.Graph) error {
	_, err := appgraph.Import(ctx, appgraph.ImportConfig{Config: intake.Config{Reader: bytes.NewReader(graph.Text(g.Edges))},
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

// Unfollow takes the edge out of both rows.
func (k *Kith) Unfollow(ctx context.Context, from, to uint64) error {
	return k.committer.Do(ctx, []uint64{from, to}, func(r map[uint64]*relation.Draft) error {
		unfollow(r[from], r[to])
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

// Page reads from the account's row and archive.
func (k *Kith) Page(ctx context.Context, l List, id uint64, before Entry, limit int) ([]Entry, error) {
	order := list.ByFollower
	if l == Following {
		order = list.ByFollowing
	}
	row, err := k.rows.Row(ctx, id)
	if err != nil {
		return nil, err
	}
	found, err := k.rows.Page(ctx, row, order, list.Range{Before: list.Cursor{Time: before.At, ID: before.ID}, Limit: limit})
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

// Space is that of the rows and their archive and, where there is a memcached, what it takes
// to hold every row.
func (k *Kith) Space(ctx context.Context) (Space, error) {
	s, err := tableSpace(ctx, k.pool, "relation", "relation_archive")
	if err != nil || k.memcached == nil {
		return s, err
	}
	var ids []uint64
	if err := k.pool.SelectContext(ctx, &ids, `SELECT account_id FROM relation`); err != nil {
		return s, fmt.Errorf("list the rows: %w", err)
	}
	for part := range slices.Chunk(ids, 400) {
		if _, err := k.rows.Rows(ctx, part); err != nil {
			return s, fmt.Errorf("read every row: %w", err)
		}
	}
	if s.Memory, err = memcachedBytes(k.memcached.Socket); err != nil {
		return s, err
	}
	s.Resident, err = k.memcached.Resident()
	return s, err
}

// hashAtStart is the size of the hash table of an empty memcached.
const hashAtStart = 8 << 16

// memcachedBytes is what a memcached has allocated for its items, in whole chunks, and by how
// much its hash table has grown. Redis' used_memory, too, counts what is allocated.
func memcachedBytes(socket string) (sum int64, err error) {
	stats := map[string]int64{}
	for _, command := range []string{"stats", "stats slabs"} {
		if err := memcachedStats(socket, command, stats); err != nil {
			return 0, fmt.Errorf("ask memcached for its %s: %w", command, err)
		}
	}
	for name, chunks := range stats {
		if class, ok := strings.CutSuffix(name, ":used_chunks"); ok {
			sum += chunks * stats[class+":chunk_size"]
		}
	}
	return sum + max(stats["hash_bytes"]-hashAtStart, 0), nil
}

// memcachedStats adds the numbers of an answer to stats.
func memcachedStats(socket, command string, stats map[string]int64) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprint(conn, command+"\r\n")
	lines := bufio.NewScanner(conn)
	for lines.Scan() && lines.Text() != "END" {
		var name string
		var n int64
		if read, _ := fmt.Sscanf(lines.Text(), "STAT %s %d", &name, &n); read == 2 {
			stats[name] = n
		}
	}
	return lines.Err()
}

// Close commits what waits, and closes all.
func (k *Kith) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err := errors.Join(k.committer.Close(ctx), k.cache.Close(), k.pool.Close())
	if k.client != nil {
		err = errors.Join(err, k.client.Close())
	}
	return err
}
