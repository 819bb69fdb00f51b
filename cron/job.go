package cron

import (
	"context"
	"log/slog"
)

// Job is one kind of maintenance work. One file of this package makes each.
type Job struct {
	// Name is what the job is called everywhere: command, table, metric.
	Name string
	// About says in one line what it does.
	About string
	// Work does all there is to do, in small steps. It is told through run
	// where an earlier run stopped, and says through run what it has done.
	Work func(ctx context.Context, run *Run) error
}

// Run is one run of a job, as the job sees it.
//
// A job works in small bounded steps and calls Step after each: Step pauses so
// that no more rows a second are worked on than the settings allow, draws the
// progress, keeps the cursor in the database, and returns an error when the job
// has to stop: the lease is lost or ctx is done. A job stops before its next
// write then, and leaves nothing half done.
type Run struct {
	// DryRun asks for a report of what would be done; nothing is written.
	DryRun bool
	// Account restricts the run to one account; 0 for all. Such a run neither
	// reads nor moves the cursor.
	Account uint64
	// Log takes what an operator wants to read about this run.
	Log *slog.Logger

	cursor string
	step   func(ctx context.Context, s Step) error
}

// Step is what a job has done since it last said so.
type Step struct {
	Rows   int64  // rows looked at
	Done   int64  // rows changed, or that would be in a dry run
	Total  int64  // rows there are to look at, 0 unknown
	Cursor string // where to go on after a stop; empty when all is done
}

// NewRun makes a run that calls step, for tests of single jobs.
func NewRun(cursor string, log *slog.Logger, step func(ctx context.Context, s Step) error) *Run {
	return &Run{Log: log, cursor: cursor, step: step}
}

// Cursor is where an earlier run stopped, empty to begin at the beginning.
func (r *Run) Cursor() string { return r.cursor }

// Step says what has been done and may pause. An error means: stop now.
func (r *Run) Step(ctx context.Context, s Step) error { return r.step(ctx, s) }
