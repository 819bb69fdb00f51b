package work

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/report"
)

// memoryClients is how many clients keep the server busy while it is weighed.
const memoryClients = 16

// Memory runs a mix of reads and changes through the API for a span of time and
// weighs the server each second. What counts is how much more it weighs in the
// last quarter than in the second: the first is when pools and caches fill.
func (b *Bench) Memory(ctx context.Context, kith Site, span time.Duration, weigh func() (int64, error)) error {
	b.Progress("memory", fmt.Sprintf("mixed for %v", span), report.Kith, 0)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	weights := make(chan []float64, 1)
	var weighing error
	go func() {
		all, err := weighEach(ctx, weigh)
		weighing = err
		weights <- all
	}()
	do, err := b.overHTTP(kith)
	if err != nil {
		return err
	}
	_, err = drive(ctx, memoryClients, span, 1, do)
	stop()
	all := <-weights
	if err != nil || weighing != nil {
		return fmt.Errorf("memory under load: %w, %w", err, weighing)
	}
	q := len(all) / 4
	if q == 0 {
		return nil
	}
	name := fmt.Sprintf("server, %v of the mix over HTTP", span)
	b.Lines = append(b.Lines,
		report.Line{Work: "memory", Case: name, Unit: "MiB in the second quarter", Better: report.Lower, Peer: "earlier", Values: []float64{mid(all[q : 2*q])}},
		report.Line{Work: "memory", Case: name, Unit: "MiB in the last quarter", Better: report.Lower, Peer: report.Kith, Values: []float64{mid(all[3*q:])}})
	return nil
}

func mid(all []float64) float64 {
	s := slices.Sorted(slices.Values(all))
	return s[len(s)/2]
}

func weighEach(ctx context.Context, weigh func() (int64, error)) (all []float64, err error) {
	tick := time.NewTicker(time.Second)
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
