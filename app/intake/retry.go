package intake

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"kith/repo"
)

const (
	// Tries is how often a call is made, or one row is swapped, before it is
	// given up, or left to the committer.
	Tries = 20
	// CallTime bounds one call of a store.
	CallTime = time.Minute
)

// Passing reports whether the same call may succeed a little later.
func Passing(err error) bool {
	return errors.Is(err, repo.ErrConflict) || errors.Is(err, repo.ErrUnavailable)
}

// Retry makes a call of a store until it succeeds, fails for good, or was made
// often enough.
func Retry[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	for try := 1; ; try++ {
		bounded, cancel := context.WithTimeout(ctx, CallTime)
		out, err := call(bounded)
		cancel()
		if err == nil || !Passing(err) || try >= Tries {
			return out, err
		}
		if err := Pause(ctx, try, true); err != nil {
			return out, err
		}
	}
}

// Pause waits at random, longer after more tries: up to 50 ms for a row that
// others want too, up to 2 s for a database that is away.
func Pause(ctx context.Context, try int, away bool) error {
	most := min(time.Millisecond<<min(try, 6), 50*time.Millisecond)
	if away {
		most = min(20*time.Millisecond<<min(try, 7), 2*time.Second)
	}
	select {
	case <-time.After(rand.N(most)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
