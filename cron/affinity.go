package cron

import (
	"context"
	"strconv"

	"kith/app/affinity"
	"kith/repo"
)

// Affinity makes the job that folds the interaction log into the affinity rows, in short
// transactions of one bucket. What is folded is deleted from the log, so a run that was
// stopped is simply run again; the cursor (a bucket) only makes sure that the last buckets
// have their turn too. A run for one account folds the bucket of that account. Its rows
// read are events, its rows changed are those of affinity.
func Affinity(f *affinity.Folder) Job {
	return Job{
		Name:  "affinity",
		About: "folds the interaction log into the hidden order of friends",
		Work:  func(ctx context.Context, run *Run) error { return foldAll(ctx, f, run) },
	}
}

const lastBucket = repo.Buckets - 1

func foldAll(ctx context.Context, f *affinity.Folder, run *Run) error {
	below := f.Before()
	from, to := uint16(0), uint16(lastBucket)
	if run.Account != 0 {
		from = repo.Bucket(run.Account)
		to = from
	}
	total, err := f.Waiting(ctx, from, to)
	if err != nil {
		return err
	}
	if run.Account != 0 {
		return foldBucket(ctx, f, run, from, below, total)
	}
	// A cursor that cannot be read counts as none. A run that starts at a cursor ends with
	// the buckets before it.
	first, _ := strconv.ParseUint(run.Cursor(), 10, repo.BucketBits)
	parts := [][2]uint16{{uint16(first), lastBucket}}
	if first > 0 {
		parts = append(parts, [2]uint16{0, uint16(first - 1)})
	}
	for _, part := range parts {
		for next := part[0]; next <= part[1]; next++ {
			var found bool
			if next, found, err = f.Next(ctx, next); err != nil {
				return err
			}
			if !found || next > part[1] {
				break
			}
			if err := foldBucket(ctx, f, run, next, below, total); err != nil {
				return err
			}
		}
	}
	return run.Step(ctx, Step{Total: total})
}

// foldBucket folds what one bucket had when the run began.
func foldBucket(ctx context.Context, f *affinity.Folder, run *Run, bucket uint16, below uint64, total int64) error {
	step := f.Step
	if run.DryRun {
		step = f.Look
	}
	for more := true; more; {
		done, err := step(ctx, bucket, below)
		if err != nil {
			return err
		}
		more = done.More
		if err := run.Step(ctx, Step{Rows: int64(done.Events), Done: int64(done.Rows), Total: total, Cursor: strconv.Itoa(int(bucket))}); err != nil {
			return err
		}
	}
	return nil
}
