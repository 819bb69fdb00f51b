package cron

import (
	"context"
	"strconv"

	"kith/app/suggest"
)

// Suggest makes the job that makes suggestions for accounts that were seen recently and
// whose suggestions are old. It walks all accounts that were ever seen, in key order; its
// cursor is the last of them.
func Suggest(s *suggest.Service) Job {
	return Job{
		Name:  "suggest",
		About: "finds accounts that those seen recently may want to follow",
		Work:  func(ctx context.Context, run *Run) error { return suggestAll(ctx, s, run) },
	}
}

func suggestAll(ctx context.Context, s *suggest.Service, run *Run) error {
	if run.Account != 0 {
		due, err := s.DueOne(ctx, run.Account)
		if err != nil {
			return err
		}
		return suggestTo(ctx, s, run, due, 1, "")
	}
	// A cursor that cannot be read counts as none.
	after, _ := strconv.ParseUint(run.Cursor(), 10, 64)
	for {
		due, looked, last, err := s.Due(ctx, after)
		if err != nil {
			return err
		}
		if looked == 0 {
			return run.Step(ctx, Step{})
		}
		if err := suggestTo(ctx, s, run, due, looked, strconv.FormatUint(last, 10)); err != nil {
			return err
		}
		after = last
	}
}

// suggestTo makes the suggestions of those accounts of a page that are due, and then
// moves the cursor past the page.
func suggestTo(ctx context.Context, s *suggest.Service, run *Run, due []uint64, looked int, last string) error {
	for _, id := range due {
		n, err := s.Make(ctx, id, run.DryRun)
		if err := run.Skip(ctx, id, err); err != nil {
			return err
		}
		step := Step{Rows: 1, Cursor: strconv.FormatUint(id, 10)}
		if err == nil {
			step.Done = 1
			run.Log.Debug("suggestions made", "account", id, "found", n)
		}
		if err := run.Step(ctx, step); err != nil {
			return err
		}
	}
	return run.Step(ctx, Step{Rows: int64(looked - len(due)), Cursor: last})
}
