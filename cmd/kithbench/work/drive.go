package work

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"kith/cmd/kithbench/report"
)

// client is one of those who ask at once.
type client struct {
	*rand.Rand
	n    int             // which one it is
	took []time.Duration // of what was done
	lost int64           // what was given up
}

// drive lets clients do one thing after the other for a span of time, and
// returns what they did and how long each thing took.
func drive(ctx context.Context, clients int, span time.Duration, seed uint64, do func(ctx context.Context, c *client) error) (report.Round, error) {
	all := make([]*client, clients)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var done sync.WaitGroup
	begin := time.Now()
	for i := range all {
		c := &client{Rand: rand.New(rand.NewPCG(seed, uint64(i))), n: i, took: make([]time.Duration, 0, 1024)}
		all[i] = c
		done.Go(func() {
			if err := c.work(ctx, begin, span, do); err != nil {
				stop(err)
			}
		})
	}
	done.Wait()
	took := time.Since(begin)
	if err := context.Cause(ctx); err != nil {
		return report.Round{}, err
	}
	return summary(all, took), nil
}

// work asks until the span is over. Being refused is counted, anything else
// that goes wrong ends the run: its figures would be worth nothing.
func (c *client) work(ctx context.Context, begin time.Time, span time.Duration, do func(ctx context.Context, c *client) error) error {
	for time.Since(begin) < span {
		start := time.Now()
		switch err := do(ctx, c); {
		case err == nil:
			c.took = append(c.took, time.Since(start))
		case gaveUp(err):
			c.lost++
		default:
			return err
		}
	}
	return nil
}

func summary(all []*client, took time.Duration) report.Round {
	r := report.Round{Seconds: took.Seconds()}
	var each []time.Duration
	for _, c := range all {
		each = append(each, c.took...)
		r.Failed += c.lost
	}
	r.Ops = int64(len(each))
	slices.Sort(each)
	r.P50, r.P99 = quantile(each, 0.50), quantile(each, 0.99)
	return r
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
