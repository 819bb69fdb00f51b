package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/report"
)

// memoryClients is how many clients keep the server busy while it is weighed.
const memoryClients = 16

// weighings is how often the server is weighed, but not more than once in
// leastPause.
const (
	weighings  = 240
	leastPause = 10 * time.Millisecond
)

// Memory runs a mix of reads and changes through the API for a span of time and
// weighs the server all the while. What counts is how much more it weighs in the
// last quarter than in the second: the first is when pools and caches fill. Both
// are medians of as many weighings, however short the span is.
func (b *Bench) Memory(ctx context.Context, kith Site, span time.Duration, weigh func() (int64, error)) error {
	b.Progress("memory", fmt.Sprintf("mixed for %v", span), report.Kith, 0)
	do, err := b.overHTTP(kith)
	if err != nil {
		return err
	}
	var all []float64
	var weighing error
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var done sync.WaitGroup
	done.Go(func() { all, weighing = weighEach(ctx, max(span/weighings, leastPause), weigh) })
	_, err = drive(ctx, memoryClients, span, 1, do)
	stop()
	done.Wait()
	if err := errors.Join(err, weighing); err != nil {
		return fmt.Errorf("memory under load: %w", err)
	}
	q := len(all) / 4
	if q == 0 {
		return fmt.Errorf("memory under load: the server was weighed %d times in %v, which is not enough to compare", len(all), span)
	}
	b.weighed("memory", MemoryCase, "MiB", report.Kith, mid(all[len(all)-q:]))
	b.weighed("memory", MemoryCase, "MiB", Earlier, mid(all[q:2*q]))
	return nil
}

// MemoryCase is the case of the work memory, and Earlier its other line, that of
// the same server in the second quarter.
const (
	MemoryCase = "server under the mix over HTTP, last quarter"
	Earlier    = "second quarter"
)

func mid(all []float64) float64 {
	s := slices.Sorted(slices.Values(all))
	return s[len(s)/2]
}

func weighEach(ctx context.Context, pause time.Duration, weigh func() (int64, error)) (all []float64, err error) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return all, nil
		case <-tick.C:
			n, err := weigh()
			if err != nil {
				return all, err
			}
			all = append(all, float64(n)/(1<<20))
		}
	}
}

// overHTTP makes clients who read pages and states and follow and unfollow, in
// about the proportions of LinkBench, as one of a hundred people each time.
func (b *Bench) overHTTP(kith Site) (func(context.Context, *client) error, error) {
	const people = 100
	var ids [people]uint64
	var tokens [people]string
	for i := range tokens {
		var err error
		ids[i] = b.drawn.accounts[i*7%len(b.drawn.accounts)]
		if tokens[i], err = kith.Token(ids[i]); err != nil {
			return nil, err
		}
	}
	c, reads := newHTTPClient(), graph.NewZipf(b.drawn.accounts, 0.8)
	return func(_ context.Context, cl *client) error {
		who, id := cl.IntN(people), reads.Draw(cl.Rand)
		if id == ids[who] {
			return nil
		}
		method, path := request(cl, id)
		_, err := c.send(method, kith.URL+path, tokens[who])
		return err
	}, nil
}

// request draws what is asked about an account.
func request(c *client, id uint64) (method, path string) {
	account := fmt.Sprintf("/api/v1/accounts/%d", id)
	switch x := c.IntN(100); {
	case x < 10:
		return "POST", account + "/follow"
	case x < 14:
		return "POST", account + "/unfollow"
	case x < 30:
		return "GET", account
	case x < 45:
		return "GET", relationships(pageSize)
	default:
		return "GET", account + "/followers?limit=40"
	}
}
