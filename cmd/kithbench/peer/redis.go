package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"kith/cmd/kithbench/graph"
)

// Redis keeps two sorted sets an account, each a list by time:
//
//	g:<id>  those whom id follows, and when
//	f:<id>  those who follow id, and when
//
// Counts are the sizes of the sets. Scores are float64, which holds seconds and
// not more than 53 bits.
type Redis struct {
	name   string
	client *redis.Client
}

var (
	_ Peer    = (*Redis)(nil)
	_ Skipper = (*Redis)(nil)
)

// redisPool is how many connections the peer may have. With 64 and with 256
// clients no other size from 32 to 256 was faster at all of follows, states and
// pages, each with and without a file.
const redisPool = 64

// redisTimeout is above how long a bulk load may keep the server.
const redisTimeout = time.Minute

// NewRedis opens the peer on an empty Redis. Whether changes are on disk is
// the server's matter.
func NewRedis(name, socket string) (*Redis, error) {
	r := &Redis{name: name, client: redis.NewClient(&redis.Options{
		Network: "unix", Addr: socket, PoolSize: redisPool, ReadTimeout: redisTimeout, WriteTimeout: redisTimeout,
		PoolTimeout: redisTimeout, DisableIdentity: true,
		// Only hosted servers send these.
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})}
	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()
	if err := r.client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", name, err), r.Close())
	}
	return r, nil
}

// Name returns the name of the peer.
func (r *Redis) Name() string { return r.name }

// Close closes the connections.
func (r *Redis) Close() error { return r.client.Close() }

func followingKey(id uint64) string { return "g:" + member(id) }
func followersKey(id uint64) string { return "f:" + member(id) }
func member(id uint64) string       { return strconv.FormatUint(id, 10) }

// Follow adds each to the other's set in one MULTI, unless they are there.
func (r *Redis) Follow(ctx context.Context, from, to uint64, at uint32) error {
	_, err := r.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.ZAddNX(ctx, followingKey(from), redis.Z{Score: float64(at), Member: member(to)})
		p.ZAddNX(ctx, followersKey(to), redis.Z{Score: float64(at), Member: member(from)})
		return nil
	})
	return err
}

// Unfollow takes each out of the other's set in one MULTI.
func (r *Redis) Unfollow(ctx context.Context, from, to uint64) error {
	_, err := r.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.ZRem(ctx, followingKey(from), member(to))
		p.ZRem(ctx, followersKey(to), member(from))
		return nil
	})
	return err
}

// States asks both sets of the viewer for all ids at once. The client says 0
// for members that are not there, so follows at the moment 0 are not seen.
func (r *Redis) States(ctx context.Context, viewer uint64, ids []uint64) ([]State, error) {
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
func (r *Redis) Counts(ctx context.Context, ids []uint64) ([]Counts, error) {
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

// Followers reads a page of f:<id>.
func (r *Redis) Followers(ctx context.Context, id uint64, before Entry, limit int) ([]Entry, error) {
	return r.page(ctx, followersKey(id), before, limit)
}

// Following reads a page of g:<id>.
func (r *Redis) Following(ctx context.Context, id uint64, before Entry, limit int) ([]Entry, error) {
	return r.page(ctx, followingKey(id), before, limit)
}

// page goes by score from the cursor on. No two scores of a list are the same,
// so that the time alone is a cursor.
func (r *Redis) page(ctx context.Context, key string, before Entry, limit int) ([]Entry, error) {
	if before == (Entry{}) {
		return r.skip(ctx, key, 0, limit)
	}
	return entries(r.client.ZRevRangeByScoreWithScores(ctx, key, &redis.ZRangeBy{
		Max: "(" + strconv.FormatUint(uint64(before.At), 10), Min: "-inf", Count: int64(limit),
	}))
}

// FollowersAfter goes by rank, which a sorted set finds without a walk.
func (r *Redis) FollowersAfter(ctx context.Context, id uint64, skip, limit int) ([]Entry, error) {
	return r.skip(ctx, followersKey(id), skip, limit)
}

func (r *Redis) skip(ctx context.Context, key string, skip, limit int) ([]Entry, error) {
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
func (r *Redis) Load(ctx context.Context, g *graph.Graph) error {
	edges := slices.Clone(g.Edges)
	slices.SortFunc(edges, func(a, b graph.Edge) int { return cmp.Compare(a.From, b.From) })
	if err := r.loadSets(ctx, len(edges), followingKey, func(i int) (id, other uint64, at uint32) {
		return edges[i].From, edges[i].To, edges[i].At
	}); err != nil {
		return fmt.Errorf("load %s: %w", r.name, err)
	}
	slices.SortFunc(edges, func(a, b graph.Edge) int { return cmp.Compare(a.To, b.To) })
	if err := r.loadSets(ctx, len(edges), followersKey, func(i int) (id, other uint64, at uint32) {
		return edges[i].To, edges[i].From, edges[i].At
	}); err != nil {
		return fmt.Errorf("load %s: %w", r.name, err)
	}
	return nil
}

// loadSets adds n members, which come a set after the other.
func (r *Redis) loadSets(ctx context.Context, n int, key func(uint64) string, at func(i int) (id, other uint64, at uint32)) error {
	pipeline, members := r.client.Pipeline(), 0
	for i := 0; i < n; {
		id, _, _ := at(i)
		var set []redis.Z
		for ; i < n && len(set) < commandMembers; i++ {
			of, other, when := at(i)
			if of != id {
				break
			}
			set = append(set, redis.Z{Score: float64(when), Member: member(other)})
		}
		pipeline.ZAdd(ctx, key(id), set...)
		if members += len(set); members < pipelineMembers && pipeline.Len() < pipelineCommands && i < n {
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
func (r *Redis) Space(ctx context.Context) (Space, error) {
	if err := r.settle(ctx); err != nil {
		return Space{}, err
	}
	info, err := r.info(ctx)
	if err != nil {
		return Space{}, err
	}
	return Space{
		Memory: info["used_memory"] - info["used_memory_startup"] - info["mem_clients_normal"] - info["mem_aof_buffer"],
		Files:  info["aof_current_size"],
	}, nil
}

// errNoFile says that the server keeps nothing on disk.
var errNoFile = errors.New("there is no append-only file")

// SpaceRebuilt is Space after BGREWRITEAOF: what the file takes at best.
func (r *Redis) SpaceRebuilt(ctx context.Context) (Space, error) {
	info, err := r.info(ctx)
	if err != nil {
		return Space{}, err
	}
	if info["aof_enabled"] == 0 {
		return Space{}, fmt.Errorf("rewrite the file of %s: %w", r.name, errNoFile)
	}
	if err := r.client.BgRewriteAOF(ctx).Err(); err != nil {
		return Space{}, fmt.Errorf("rewrite the file of %s: %w", r.name, err)
	}
	if err := r.awaitRewrite(ctx); err != nil {
		return Space{}, err
	}
	return r.Space(ctx)
}

// awaitRewrite asks until the file is rewritten: there is no signal of it.
func (r *Redis) awaitRewrite(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		info, err := r.info(ctx)
		if err != nil {
			return err
		}
		if info["aof_rewrite_in_progress"]+info["aof_rewrite_scheduled"] == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// settle lets the server finish growing its table of keys, which else has the
// old and the new one: every look-up moves a bucket.
func (r *Redis) settle(ctx context.Context) error {
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

// info returns the numbers the server tells of itself.
func (r *Redis) info(ctx context.Context) (map[string]int64, error) {
	text, err := r.client.Info(ctx).Result()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its memory: %w", r.name, err)
	}
	numbers := map[string]int64{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			numbers[name] = n
		}
	}
	return numbers, nil
}
