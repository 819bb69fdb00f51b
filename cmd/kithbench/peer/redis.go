package peer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/server"
)

// redisPeer keeps two sorted sets an account, each a list by time:
//
//	g:<id>  those whom id follows, and when
//	f:<id>  those who follow id, and when
//
// Counts are the sizes of the sets. Scores are float64, which holds seconds and
// not more than 53 bits.
type redisPeer struct {
	name   string
	server *server.Store
	client *redis.Client
}

var _ Skipper = (*redisPeer)(nil)

// redisPool is how many connections the peer may have. With 64 and with 256
// clients no other size from 32 to 256 was faster at all of follows, states and
// pages, each with and without a file.
const redisPool = 64

// redisTimeout is above how long a bulk load may keep the server.
const redisTimeout = time.Minute

// openRedis opens the peer on an empty Redis. Whether changes are on disk is
// the server's matter.
func openRedis(ctx context.Context, name string, s *server.Store) (Peer, error) {
	r := &redisPeer{name: name, server: s, client: redis.NewClient(&redis.Options{
		Network: "unix", Addr: s.Socket, PoolSize: redisPool, ReadTimeout: redisTimeout, WriteTimeout: redisTimeout,
		PoolTimeout: redisTimeout, DisableIdentity: true,
		// Only hosted servers send these.
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})}
	if err := r.client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *redisPeer) Name() string { return r.name }
func (r *redisPeer) Close() error { return r.client.Close() }

func followingKey(id uint64) string { return "g:" + member(id) }
func followersKey(id uint64) string { return "f:" + member(id) }
func member(id uint64) string       { return strconv.FormatUint(id, 10) }

// Follow adds each to the other's set in one MULTI, unless they are there.
func (r *redisPeer) Follow(ctx context.Context, from, to uint64, at uint32) error {
	_, err := r.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.ZAddNX(ctx, followingKey(from), redis.Z{Score: float64(at), Member: member(to)})
		p.ZAddNX(ctx, followersKey(to), redis.Z{Score: float64(at), Member: member(from)})
		return nil
	})
	return err
}

// Unfollow takes each out of the other's set in one MULTI.
func (r *redisPeer) Unfollow(ctx context.Context, from, to uint64) error {
	_, err := r.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.ZRem(ctx, followingKey(from), member(to))
		p.ZRem(ctx, followersKey(to), member(from))
		return nil
	})
	return err
}

// States asks both sets of the viewer for all ids at once. The client says 0
// for members that are not there, so follows at the moment 0 are not seen.
func (r *redisPeer) States(ctx context.Context, viewer uint64, ids []uint64) ([]State, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	members := make([]string, len(ids))
	for i, id := range ids {
		members[i] = member(id)
	}
	var following, followers *redis.FloatSliceCmd
	if _, err := r.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		following = p.ZMScore(ctx, followingKey(viewer), members...)
		followers = p.ZMScore(ctx, followersKey(viewer), members...)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("states for %d: %w", viewer, err)
	}
	states := make([]State, len(ids))
	for i := range ids {
		states[i] = State{Following: following.Val()[i] != 0, FollowedBy: followers.Val()[i] != 0}
	}
	return states, nil
}

// Counts asks for the sizes of all sets at once.
func (r *redisPeer) Counts(ctx context.Context, ids []uint64) ([]Counts, error) {
	sizes := make([]*redis.IntCmd, 0, 2*len(ids))
	if _, err := r.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, id := range ids {
			sizes = append(sizes, p.ZCard(ctx, followingKey(id)), p.ZCard(ctx, followersKey(id)))
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("counts of %d accounts: %w", len(ids), err)
	}
	counts := make([]Counts, len(ids))
	for i := range ids {
		counts[i] = Counts{Following: sizes[2*i].Val(), Followers: sizes[2*i+1].Val()}
	}
	return counts, nil
}

// Page goes by score from the cursor on. No two scores of a list are the same,
// so that the time alone is a cursor.
func (r *redisPeer) Page(ctx context.Context, l List, id uint64, before Entry, limit int) ([]Entry, error) {
	key := followersKey(id)
	if l == Following {
		key = followingKey(id)
	}
	if before == (Entry{}) {
		return r.skip(ctx, key, 0, limit)
	}
	return entries(r.client.ZRevRangeByScoreWithScores(ctx, key, &redis.ZRangeBy{
		Max: "(" + strconv.FormatUint(uint64(before.At), 10), Min: "-inf", Count: int64(limit),
	}))
}

// PageAfter goes by rank, which a sorted set finds without a walk.
func (r *redisPeer) PageAfter(ctx context.Context, id uint64, skip, limit int) ([]Entry, error) {
	return r.skip(ctx, followersKey(id), skip, limit)
}

func (r *redisPeer) skip(ctx context.Context, key string, skip, limit int) ([]Entry, error) {
	return entries(r.client.ZRevRangeWithScores(ctx, key, int64(skip), int64(skip+limit-1)))
}

// entries reads the answer to a page.
func entries(answer *redis.ZSliceCmd) ([]Entry, error) {
	found, err := answer.Result()
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	page := make([]Entry, len(found))
	for i, z := range found {
		text, _ := z.Member.(string)
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("page: a member is no id: %w", err)
		}
		page[i] = Entry{ID: id, At: uint32(z.Score)}
	}
	return page, nil
}

// The most a pipeline of Load has, and the most one command of it.
const (
	pipelineCommands = 10_000
	pipelineMembers  = 200_000
	commandMembers   = 1_000
)

// Load adds each account's sets whole, in pipelines.
func (r *redisPeer) Load(ctx context.Context, g *graph.Graph) error {
	following, followers := g.Sides()
	if err := r.loadSets(ctx, following, followingKey); err != nil {
		return err
	}
	return r.loadSets(ctx, followers, followersKey)
}

// loadSets adds to each set the other side of its edges, which come a set after
// the other.
func (r *redisPeer) loadSets(ctx context.Context, edges []graph.Edge, key func(uint64) string) error {
	pipeline, members := r.client.Pipeline(), 0
	for len(edges) > 0 {
		id := edges[0].From
		var set []redis.Z
		for len(edges) > 0 && edges[0].From == id && len(set) < commandMembers {
			set = append(set, redis.Z{Score: float64(edges[0].At), Member: member(edges[0].To)})
			edges = edges[1:]
		}
		pipeline.ZAdd(ctx, key(id), set...)
		if members += len(set); members < pipelineMembers && pipeline.Len() < pipelineCommands && len(edges) > 0 {
			continue
		}
		if _, err := pipeline.Exec(ctx); err != nil {
			return err
		}
		members = 0
	}
	return nil
}

// Space is the memory in use, less what the server had when it was started and
// what belongs to connections and to writing the file. On disk is the
// append-only file as it is, if there is one.
func (r *redisPeer) Space(ctx context.Context) (Space, error) {
	if err := r.settle(ctx); err != nil {
		return Space{}, err
	}
	info, err := r.client.InfoMap(ctx).Result()
	if err != nil {
		return Space{}, fmt.Errorf("ask %s for its memory: %w", r.name, err)
	}
	number := func(section, name string) int64 {
		n, _ := strconv.ParseInt(info[section][name], 10, 64) // 0 if the server keeps no file
		return n
	}
	resident, err := r.server.Resident()
	return Space{
		Memory: number("Memory", "used_memory") - number("Memory", "used_memory_startup") -
			number("Memory", "mem_clients_normal") - number("Memory", "mem_aof_buffer"),
		Files:    number("Persistence", "aof_current_size"),
		Resident: resident,
	}, err
}

// settle lets the server finish growing its table of keys, which else has the
// old and the new one: every look-up moves a bucket.
func (r *redisPeer) settle(ctx context.Context) error {
	n, err := r.client.DBSize(ctx).Result()
	if err != nil {
		return fmt.Errorf("settle %s: %w", r.name, err)
	}
	keys := make([]string, min(n, 10_000))
	for i := range keys {
		keys[i] = "-"
	}
	for ; n > 0; n -= int64(len(keys)) {
		if err := r.client.Exists(ctx, keys...).Err(); err != nil {
			return fmt.Errorf("settle %s: %w", r.name, err)
		}
	}
	return nil
}
