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
//	g:<id>  whom id follows, and when
//	f:<id>  who follows id, and when
//
// Counts are the sizes of the sets.
type redisPeer struct {
	name   string
	server *server.Store
	client *redis.Client
}

// redisPool is how many connections the peer may have. No other size from 32 to 256 was
// faster in all of follows, states and pages.
const redisPool = 64

// redisTimeout is longer than a bulk load keeps the server busy.
const redisTimeout = time.Minute

// openRedis opens the peer on an empty Redis, which decides whether changes are on disk.
func openRedis(ctx context.Context, name string, s *server.Store) (Peer, error) {
	client, err := redisClient(ctx, s)
	return &redisPeer{name: name, server: s, client: client}, err
}

// redisClient connects to a Redis.
func redisClient(ctx context.Context, s *server.Store) (*redis.Client, error) {
	client := redis.NewClient(&redis.Options{
		Network: "unix", Addr: s.Socket, PoolSize: redisPool, ReadTimeout: redisTimeout, WriteTimeout: redisTimeout,
		PoolTimeout: redisTimeout, DisableIdentity: true,
		// Only hosted servers send these.
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

func (r *redisPeer) Name() string { return r.name }
func (r *redisPeer) Close() error { return r.client.Close() }

func followingKey(id uint64) string { return "g:" + member(id) }
func followersKey(id uint64) string { return "f:" + member(id) }
func member(id uint64) string       { return strconv.FormatUint(id, 10) }

// Follow adds each to the other's set in one MULTI.
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

// States asks both sets of the viewer for all ids at once. The client returns 0 for what is not
// a member; no follow has the time 0.
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

// Page goes by score. No two scores of a list are the same, so the time alone is a cursor.
func (r *redisPeer) Page(ctx context.Context, l List, id uint64, before Entry, limit int) ([]Entry, error) {
	key := followersKey(id)
	if l == Following {
		key = followingKey(id)
	}
	var answer *redis.ZSliceCmd
	if before == (Entry{}) {
		answer = r.client.ZRevRangeWithScores(ctx, key, 0, int64(limit-1))
	} else {
		from := "(" + strconv.FormatUint(uint64(before.At), 10)
		answer = r.client.ZRevRangeByScoreWithScores(ctx, key, &redis.ZRangeBy{Max: from, Min: "-inf", Count: int64(limit)})
	}
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

// The most that a pipeline of Load has, and the most members of one command.
const (
	pipelineCommands = 10_000
	pipelineMembers  = 200_000
	commandMembers   = 1_000
)

// Load adds whole sets, in pipelines.
func (r *redisPeer) Load(ctx context.Context, g *graph.Graph) error {
	following, followers := g.Sides()
	if err := r.loadSets(ctx, following, followingKey); err != nil {
		return err
	}
	return r.loadSets(ctx, followers, followersKey)
}

// loadSets makes a set of the edges of each account, which are sorted by account.
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

// Space is the memory in use, less what the server had at its start and what connections and
// the writing of the file take. On disk is the append-only file, if there is one.
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

// settle lets the server finish growing its hash table, or it has the old and the new one:
// every look-up moves a bucket.
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
