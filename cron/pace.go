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

// owe counts rows that have been looked at and returns how long to pause now.
func (p *pacer) owe(rows int64) time.Duration {
	if p.rate <= 0 || rows <= 0 {
		return 0
	}
	p.due = p.due.Add(time.Duration(float64(rows) / float64(p.rate) * float64(time.Second)))
	now := p.now()
	if !p.due.After(now) {
		p.due = now
		return 0
	}
	return p.due.Sub(now)
}

// pause waits for what owe returned.
func (p *pacer) pause(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	return p.sleep(ctx, d)
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
