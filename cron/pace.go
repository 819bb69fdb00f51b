package cron

import (
	"context"
	"time"
)

// pacer keeps a run to so many rows a second. Time that the work itself took
// counts; time that was not used is not saved up.
type pacer struct {
	rate  int // rows a second, 0: any number
	now   func() time.Time
	sleep func(ctx context.Context, d time.Duration) error
	due   time.Time // when all rows so far may have been looked at
}

// begin starts the clock of a run.
func (p *pacer) begin() { p.due = p.now() }

// wait pauses after rows have been looked at.
func (p *pacer) wait(ctx context.Context, rows int64) error {
	if p.rate <= 0 || rows <= 0 {
		return ctx.Err()
	}
	p.due = p.due.Add(time.Duration(float64(rows) / float64(p.rate) * float64(time.Second)))
	now := p.now()
	if !p.due.After(now) {
		p.due = now
		return ctx.Err()
	}
	return p.sleep(ctx, p.due.Sub(now))
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
