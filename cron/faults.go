package cron

import (
	"context"
	"errors"
	"fmt"

	"kith/repo"
)

// faults gathers what went wrong with single accounts, so that one bad row
// does not keep a job from the others.
type faults struct {
	run   *Run
	what  string // what could not be done, such as "trim"
	n     int
	first error
}

// note takes the error of one account. It returns the error if the job has to
// stop: it would meet the others too.
func (f *faults) note(ctx context.Context, account uint64, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, repo.ErrUnavailable):
		return err
	}
	f.run.Log.Error(f.what+" failed for an account", "account", account, "error", err)
	if f.n++; f.first == nil {
		f.first = err
	}
	return nil
}

// err is nil where all went well.
func (f *faults) err() error {
	if f.n == 0 {
		return nil
	}
	return fmt.Errorf("%s failed for %d accounts, the first: %w", f.what, f.n, f.first)
}
