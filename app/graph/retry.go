package graph

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"kith/repo"
)

const (
	// tries is how often a call is made, or one row is swapped, before it is
	// given up, or left to the committer.
	tries = 20
	// callTime bounds one call of a store.
	callTime = time.Minute
)

// passing reports whether the same call may succeed a little later.
func passing(err error) bool {
	return errors.Is(err, repo.ErrConflict) || errors.Is(err, repo.ErrUnavailable)
}

// retry makes a call of a store until it succeeds, fails for good, or was made
// often enough.
func (im *importer) retry(ctx context.Context, call func(context.Context) error) error {
	for try := 1; ; try++ {
		err := bounded(ctx, call)
		if err == nil || !passing(err) || try >= tries {
			return err
		}
		if err := pause(ctx, try, true); err != nil {
			return err
		}
	}
}

func bounded(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return call(ctx)
}

// pause waits at random, longer after more tries: up to 50 ms for a row that
// others want too, up to 2 s for a database that is away.
func pause(ctx context.Context, try int, away bool) error {
	most := min(time.Millisecond<<min(try, 6), 50*time.Millisecond)
	if away {
		most = min(20*time.Millisecond<<min(try, 7), 2*time.Second)
	}
	t := time.NewTimer(rand.N(most))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
