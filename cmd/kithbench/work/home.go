package work

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"kith/cmd/kithbench/feed"
	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
)

// homes are the peers of the work home and what they are loaded with.
type homes struct {
	*Bench
	world   *feed.World
	peers   []peer.Home
	readers []uint64          // those who read in the mix
	fanOf   map[uint64]uint64 // a follower of each author
	texts   atomic.Int64
}

// Home is the name of the work home, which needs no graph.
const Home = "home"

// home loads a world of its own into peers of its own, which must agree before they are timed.
func (b *Bench) home(ctx context.Context, _ []peer.Peer) error {
	h := b.newHomes()
	for _, name := range peer.HomeNames {
		if !b.Wanted(name) {
			continue
		}
		p, err := peer.OpenHome(ctx, b.Servers, name)
		if err != nil {
			return fmt.Errorf("open %s: %w", name, err)
		}
		defer p.Close()
		h.peers = append(h.peers, p)
	}
	for _, step := range []func(context.Context) error{h.load, h.space, h.check, h.pages, h.fanOut, h.mix, h.http} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// newHomes makes a world.
func (b *Bench) newHomes() *homes {
	h := &homes{Bench: b, world: feed.Make(b.World, time.Now()), fanOf: map[uint64]uint64{}}
	for _, e := range h.world.Graph.Edges {
		h.fanOf[e.To] = e.From
	}
	for i := range h.world.Readers {
		for _, n := range feed.Follows {
			h.readers = append(h.readers, feed.Reader(n, i))
		}
	}
	h.readers = append(h.readers, h.online()...)
	return h
}

// load loads each peer.
func (h *homes) load(ctx context.Context) error {
	for _, p := range h.peers {
		h.Progress(Home, "load", p.Name(), 0)
		start := time.Now()
		if err := p.Load(ctx, h.world); err != nil {
			return fmt.Errorf("load %s: %w", p.Name(), err)
		}
		h.Weighed("load", "posts and homes", "s", p.Name(), time.Since(start).Seconds())
	}
	return nil
}

// space measures the bytes of an entry of a home. Peers that pull keep none.
func (h *homes) space(ctx context.Context) error {
	for _, p := range h.peers {
		h.Progress(Home, "space", p.Name(), 0)
		s, entries, err := p.HomeSpace(ctx)
		if err != nil {
			return fmt.Errorf("space of the homes of %s: %w", p.Name(), err)
		}
		if s.Pages > 0 {
			h.Weighed(Home, "on disk", "bytes an entry", p.Name(), float64(s.Pages)/float64(entries))
		}
		if s.Memory > 0 {
			h.Weighed(Home, "in memory", "bytes an entry", p.Name(), float64(s.Memory)/float64(entries))
		}
	}
	return nil
}

// homePage is how many entries a page of a home has.
const homePage = 20

// online are the followers of the star who are around, 1 in 10.
func (h *homes) online() (ids []uint64) {
	for i := 0; i < h.world.Fans; i += 10 {
		ids = append(ids, feed.Fan(i))
	}
	return ids
}

// warmUp has readers of a peer with tiers read their first page, by several at once: then they
// are around, and their homes are hot.
func (h *homes) warmUp(ctx context.Context, p peer.Home, readers []uint64) error {
	if _, ok := p.(peer.Tiered); !ok {
		return nil
	}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(askers)
	for _, id := range readers {
		all.Go(func() error {
			_, err := p.Page(ctx, id, 0, homePage)
			return err
		})
	}
	return all.Wait()
}

// only returns the peers that are named.
func (h *homes) only(names ...string) (some []peer.Home) {
	for _, p := range h.peers {
		if slices.Contains(names, p.Name()) {
			some = append(some, p)
		}
	}
	return some
}

// atHand are the peers that many clients ask at once. With the query of sql-pull, which is for
// one client, that would take minutes.
var atHand = []string{peer.KithName, peer.DeferredName, peer.PushName, peer.RedisPushName}

// pages reads first pages: of homes in the fastest place that a peer has, by many clients at
// once, and by one client of those that have to be made.
func (h *homes) pages(ctx context.Context) error {
	var loads []load
	for _, n := range feed.Follows {
		readers := make([]uint64, h.world.Readers)
		for i := range readers {
			readers[i] = feed.Reader(n, i)
		}
		loads = append(loads, rate(Home, fmt.Sprintf("first page, hot, %d authors", n), "pages/s",
			each(h.only(atHand...), func(ctx context.Context, p peer.Home, round int) (report.Round, error) {
				if err := h.warmUp(ctx, p, readers); err != nil {
					return report.Round{}, err
				}
				return drive(ctx, askers, h.Span, uint64(round), func(ctx context.Context, c *client) error {
					_, err := p.Page(ctx, readers[c.IntN(len(readers))], 0, homePage)
					return err
				})
			})))
		loads = append(loads, latency(Home, fmt.Sprintf("first page, cold, %d authors", n),
			each(h.only(peer.KithName, peer.PullName, peer.DeferredName), func(ctx context.Context, p peer.Home, _ int) (report.Round, error) {
				reader := func(i int) uint64 { return readers[i%len(readers)] }
				return h.alone(ctx, func(i int) error { return cool(ctx, p, peer.Cold, reader(i)) }, func(ctx context.Context, i int) error {
					_, err := p.Page(ctx, reader(i), 0, homePage)
					return err
				})
			})))
	}
	return h.run(ctx, loads...)
}

// cool puts homes into a tier, if the peer has tiers.
func cool(ctx context.Context, p peer.Home, t peer.Tier, readers ...uint64) error {
	if p, ok := p.(peer.Tiered); ok {
		return p.Cool(ctx, t, readers)
	}
	return nil
}

// alone lets one client call do for a span of time, each time after prepare, which is not
// timed.
func (h *homes) alone(ctx context.Context, prepare func(i int) error, do func(ctx context.Context, i int) error) (report.Round, error) {
	c := &client{}
	var sum time.Duration
	for ; sum < h.Span || c.n < least; c.n++ {
		if err := prepare(c.n); err != nil {
			return report.Round{}, err
		}
		start := time.Now()
		if err := c.call(ctx, func(ctx context.Context, c *client) error { return do(ctx, c.n) }); err != nil {
			return report.Round{}, err
		}
		sum += time.Since(start)
	}
	return summary([]*client{c}, sum), nil
}

// postsFound is how many posts of a turn are looked for, the last ones.
const postsFound = 100

// fanOut lets one author post to many followers, of whom 1 in 10 is online. Afterwards an
// online follower and another one must have each post.
func (h *homes) fanOut(ctx context.Context) error {
	return h.run(ctx, latency(Home, "one post to 10,000 followers",
		each(h.only(peer.KithName, peer.PushName, peer.RedisPushName), func(ctx context.Context, p peer.Home, _ int) (report.Round, error) {
			offline := feed.Fan(1)
			if err := cool(ctx, p, peer.Cold, offline); err != nil {
				return report.Round{}, err
			}
			if err := h.warmUp(ctx, p, h.online()); err != nil {
				return report.Round{}, err
			}
			var posts []uint64
			r, err := h.alone(ctx, func(int) error { return nil }, func(ctx context.Context, _ int) error {
				id, err := p.Post(ctx, feed.Star, h.text())
				posts = append(posts, id)
				return err
			})
			for _, id := range posts[max(len(posts)-postsFound, 0):] {
				err = cmp.Or(err, has(ctx, p, feed.Fan(0), id), has(ctx, p, offline, id))
			}
			return r, err
		})))
}

// text returns a text that no post has.
func (h *homes) text() string { return feed.Text(len(h.world.Posts) + int(h.texts.Add(1))) }

// mix has a post for 100 first pages. Afterwards a follower of each author must have what
// that posted.
func (h *homes) mix(ctx context.Context) error {
	return h.run(ctx, rate(Home, "1 post to 100 reads", "actions/s",
		each(h.only(atHand...), func(ctx context.Context, p peer.Home, round int) (report.Round, error) {
			if err := h.warmUp(ctx, p, h.readers); err != nil {
				return report.Round{}, err
			}
			posts := make([]map[uint64]uint64, mixClients) // of each client: the author's last
			var actions atomic.Int64
			r, err := drive(ctx, mixClients, h.Span, uint64(round), func(ctx context.Context, c *client) (err error) {
				if actions.Add(1)%101 != 1 {
					_, err = p.Page(ctx, h.readers[c.IntN(len(h.readers))], 0, homePage)
					return err
				}
				author := feed.Author(c.IntN(h.world.Authors))
				id, err := p.Post(ctx, author, h.text())
				if posts[c.n] == nil {
					posts[c.n] = map[uint64]uint64{}
				}
				posts[c.n][author] = id
				return err
			})
			for _, made := range posts {
				for author, id := range made {
					if fan, ok := h.fanOf[author]; ok && err == nil {
						err = has(ctx, p, fan, id)
					}
				}
			}
			return r, err
		})))
}

// http asks `kith serve` for the first page of a reader who follows 100 authors, and a handler
// that always sends the same bytes.
func (h *homes) http(ctx context.Context) error {
	if len(h.only(peer.KithName)) == 0 {
		return nil
	}
	kith, err := h.startKith(ctx, peer.KithName, peer.HomeDatabase)
	if err != nil {
		return err
	}
	token, err := signIn(ctx, feed.Reader(100, 0))
	if err != nil {
		return err
	}
	path := fmt.Sprintf("/api/v1/timelines/home?limit=%d", homePage)
	fixed, err := startFixed(ctx, kith.url+path, token)
	if err != nil {
		return err
	}
	defer fixed.Stop()
	return h.run(ctx, rate(Home, "over HTTP, first page, 100 authors", "answers/s", h.getting([]*site{kith, fixed}, path, token)))
}
