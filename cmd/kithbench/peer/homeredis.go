package peer

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"kith/cmd/kithbench/feed"
	"kith/cmd/kithbench/server"
	"kith/repo"
)

// redisHome keeps everything in a Redis without persistence, posts and names too, which
// favours it: no other place would give them as fast.
//
//	home:<id>  a sorted set: the newest [HomeCap] posts of a reader's home
//	fans:<id>  a set: who follows an author
//	post:<id>  the author's id, a space and the text
//	name:<id>  the author's name
//
// The score of a post is its id without the bucket, which no two posts that are made here
// share: a float has 53 bits.
type redisHome struct {
	ids
	client *redis.Client
}

func openRedisHome(ctx context.Context, s *server.Store) (*redisHome, error) {
	client, err := redisClient(ctx, s)
	return &redisHome{client: client}, err
}

func (h *redisHome) Name() string { return RedisPushName }
func (h *redisHome) Close() error { return h.client.Close() }

func homeKey(id uint64) string                { return "home:" + member(id) }
func fansKey(id uint64) string                { return "fans:" + member(id) }
func postKey(id uint64) string                { return "post:" + member(id) }
func value(author uint64, text string) string { return member(author) + " " + text }
func score(id uint64) float64                 { return float64(id >> repo.BucketBits) }
func entry(id uint64) redis.Z                 { return redis.Z{Score: score(id), Member: member(id)} }

// Load fills the keys, in pipelines.
func (h *redisHome) Load(ctx context.Context, w *feed.World) error {
	p := h.client.Pipeline()
	full := func(most int) error {
		if p.Len() < most {
			return nil
		}
		_, err := p.Exec(ctx)
		return err
	}
	for _, post := range w.Posts {
		p.Set(ctx, postKey(post.ID), value(post.Author, post.Text), 0)
		p.Set(ctx, "name:"+member(post.Author), post.Name, 0)
		if err := full(pipelineCommands); err != nil {
			return err
		}
	}
	for _, e := range w.Graph.Edges {
		p.SAdd(ctx, fansKey(e.To), e.From)
		if err := full(pipelineCommands); err != nil {
			return err
		}
	}
	for reader, posts := range w.Homes(HomeCap) {
		set := make([]redis.Z, len(posts))
		for i, id := range posts {
			set[i] = entry(id)
		}
		p.ZAdd(ctx, homeKey(reader), set...)
		if err := full(pipelineMembers / HomeCap); err != nil {
			return err
		}
	}
	return full(1)
}

// Post adds the post to the home of each follower and cuts that, all in one pipeline. Several
// pipelines at once took as long, and a script that does it in the server took longer.
func (h *redisHome) Post(ctx context.Context, author uint64, text string) (uint64, error) {
	id := h.next(author)
	if err := h.client.Set(ctx, postKey(id), value(author, text), 0).Err(); err != nil {
		return 0, err
	}
	fans, err := h.client.SMembers(ctx, fansKey(author)).Result()
	if err != nil {
		return 0, err
	}
	_, err = h.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, fan := range fans {
			p.ZAdd(ctx, "home:"+fan, entry(id))
			p.ZRemRangeByRank(ctx, "home:"+fan, 0, -HomeCap-1)
		}
		return nil
	})
	return id, err
}

// pageScript makes a page in one round trip, which gave 11,500 pages a second where
// ZREVRANGE and two MGET gave 9,500. It returns an id, a post and a name for each entry.
var pageScript = redis.NewScript(`
	local ids = redis.call('ZRANGE', KEYS[1], ARGV[1], '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, ARGV[2])
	if #ids == 0 then return {} end
	local keys, page = {}, {}
	for i, id in ipairs(ids) do keys[i] = 'post:' .. id end
	local posts = redis.call('MGET', unpack(keys))
	for i, post in ipairs(posts) do keys[i] = 'name:' .. string.match(post, '^%d+') end
	local names = redis.call('MGET', unpack(keys))
	for i, id in ipairs(ids) do
		page[3*i-2], page[3*i-1], page[3*i] = id, posts[i], names[i]
	end
	return page`)

// Page reads a range of the sorted set, the posts and the names.
func (h *redisHome) Page(ctx context.Context, reader, before uint64, limit int) (page []feed.Post, err error) {
	from := "+inf"
	if before > 0 {
		from = "(" + strconv.FormatFloat(score(before), 'f', -1, 64)
	}
	found, err := pageScript.Run(ctx, h.client, []string{homeKey(reader)}, from, limit).StringSlice()
	for part := range slices.Chunk(found, 3) {
		author, text, _ := strings.Cut(part[1], " ")
		p := feed.Post{Name: part[2], Text: text}
		var idErr, authorErr error
		p.ID, idErr = strconv.ParseUint(part[0], 10, 64)
		p.Author, authorErr = strconv.ParseUint(author, 10, 64)
		err = cmp.Or(err, idErr, authorErr)
		page = append(page, p)
	}
	return page, err
}

// HomeSpace is what the server says of each sorted set.
func (h *redisHome) HomeSpace(ctx context.Context) (s Space, entries int64, err error) {
	keys, err := h.client.Keys(ctx, "home:*").Result()
	if err != nil {
		return s, 0, err
	}
	var bytes, cards []*redis.IntCmd
	_, err = h.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, key := range keys {
			bytes, cards = append(bytes, p.MemoryUsage(ctx, key, 0)), append(cards, p.ZCard(ctx, key))
		}
		return nil
	})
	for i := range keys {
		s.Memory, entries = s.Memory+bytes[i].Val(), entries+cards[i].Val()
	}
	return s, entries, err
}
