package cron

import (
	"context"
	"slices"
	"strconv"
	"time"

	"kith/app/home"
	"kith/repo/seen"
)

// CheckpointConfig is what the job checkpoint works with.
type CheckpointConfig struct {
	Homes *home.Service
	Seen  *seen.Store
	Now   func() time.Time
}

// active is how lately an account must have been seen for its home to be saved.
const active = 31 * 24 * time.Hour

// Checkpoint makes the job that saves the hot home timelines of accounts that were seen this
// month to their warm rows. A line stays in memcached for an hour after it was read; one that
// is not there, or not newer than its row, is left alone. It walks all accounts that were
// ever seen, in key order; its cursor is the last of them. Its rows read are marks and hot
// lines, those changed are timelines.
func Checkpoint(c CheckpointConfig) Job {
	return Job{
		Name:  "checkpoint",
		About: "saves home timelines from memcached to the database",
		Work:  func(ctx context.Context, run *Run) error { return checkpointAll(ctx, c, run) },
	}
}

// checkpointPage is how many marks are read at once, checkpointStep after how many lines the
// job may pause or stop.
const (
	checkpointPage = 500
	checkpointStep = 20
)

func checkpointAll(ctx context.Context, c CheckpointConfig, run *Run) error {
	if run.Account != 0 {
		return checkpoint(ctx, c, run, []seen.Mark{{AccountID: run.Account, At: uint32(c.Now().Unix())}})
	}
	// A cursor that cannot be read counts as none.
	after, _ := strconv.ParseUint(run.Cursor(), 10, 64)
	for {
		page, err := c.Seen.Walk(ctx, after, checkpointPage)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return run.Step(ctx, Step{})
		}
		for part := range slices.Chunk(page, checkpointStep) {
			if err := checkpoint(ctx, c, run, part); err != nil {
				return err
			}
		}
		after = page[len(page)-1].AccountID
	}
}

// checkpoint saves the lines of a few accounts.
func checkpoint(ctx context.Context, c CheckpointConfig, run *Run, marks []seen.Mark) error {
	step := Step{Rows: int64(len(marks)), Cursor: strconv.FormatUint(marks[len(marks)-1].AccountID, 10)}
	for _, m := range marks {
		if time.Unix(int64(m.At), 0).Before(c.Now().Add(-active)) {
			continue
		}
		saved, err := c.Homes.Checkpoint(ctx, m.AccountID, run.DryRun)
		if err := run.Skip(ctx, m.AccountID, err); err != nil {
			return err
		}
		if saved {
			step.Done++
		}
	}
	return run.Step(ctx, step)
}
