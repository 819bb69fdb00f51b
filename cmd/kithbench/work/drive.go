package work

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
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

// least is how many calls a client makes on average, however long they take:
// where calls are about as long as the span, a round would have little but those
// that all begin at once. Not each client: where they fight for one row, the one
// that loses most may take a minute for three calls.
const least = 3

// driver is one round of clients.
type driver struct {
	begin time.Time
	span  time.Duration
	lacks atomic.Int64 // calls until there are enough
}

func (d *driver) over() bool { return time.Since(d.begin) >= d.span && d.lacks.Load() <= 0 }

// drive lets clients do one thing after the other for a span of time, and until
// they have done it least times each on average, and returns what they did and how
// long each thing took.
func drive(ctx context.Context, clients int, span time.Duration, seed uint64, do func(ctx context.Context, c *client) error) (report.Round, error) {
	all := make([]*client, clients)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	d := driver{begin: time.Now(), span: span}
	d.lacks.Store(int64(clients) * least)
	var done sync.WaitGroup
	for i := range all {
		c := &client{Rand: rand.New(rand.NewPCG(seed, uint64(i))), n: i, took: make([]time.Duration, 0, 1024)}
		all[i] = c
		done.Go(func() {
			if err := c.work(ctx, &d, do); err != nil {
				stop(err)
			}
		})
	}
	done.Wait()
	took := time.Since(d.begin)
	if err := context.Cause(ctx); err != nil {
		return report.Round{}, err
	}
	return summary(all, took), nil
}

// work asks until the round is over. Being refused is counted, anything else
// that goes wrong ends the run: its figures would be worth nothing.
func (c *client) work(ctx context.Context, d *driver, do func(ctx context.Context, c *client) error) error {
	for ctx.Err() == nil && !d.over() {
		start := time.Now()
		switch err := do(ctx, c); {
		case err == nil:
			c.took = append(c.took, time.Since(start))
		case gaveUp(err):
			c.lost++
		default:
			return err
		}
		d.lacks.Add(-1)
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

// quantile is the smallest of the values that so large a part of them does not
// exceed: the 99th of 100 for 0.99.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}
