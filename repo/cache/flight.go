package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// maxJoins is how many flights of others a caller waits for in turn when they
// fail, before it loads on its own.
const maxJoins = 2

// errLeaderGone is what the waiters of a flight see whose leader panicked.
var errLeaderGone = errors.New("the leader of the flight is gone")

// Flight lets one caller load a key while all others that want it wait. It is
// golang.org/x/sync/singleflight for many keys at once: a caller leads the
// flight of those keys that nobody loads yet, in one call of load, and joins
// the flights of the others.
//
// The zero value is ready. Values are shared between callers, who must not
// change them.
type Flight[V any] struct {
	mu      sync.Mutex
	flights map[string]*flight[V] // by key, while they load
}

// flight is one call of load. Its values and err are set before done closes.
type flight[V any] struct {
	done   chan struct{}
	values map[string]V
	err    error
}

// Do returns the values of keys, from load or from a load that another caller
// began. A key that load leaves out of its result is not in Do's result.
//
// If ctx ends while Do waits, it returns ctx's error. If a leader fails, is
// cancelled or panics, those who wait do not get its error but load for
// themselves. An error of one's own load is returned as it is.
//
// A caller that joins a flight may get rows as old as the begin of that
// flight; see Forget.
func (f *Flight[V]) Do(ctx context.Context, keys []string,
	load func(context.Context, []string) (map[string]V, error)) (map[string]V, error) {
	got := make(map[string]V, len(keys))
	left := keys
	for range maxJoins {
		own, mine, joined := f.board(left)
		if len(mine) > 0 {
			if err := f.lead(ctx, own, mine, load); err != nil {
				return nil, err
			}
			pick(got, own.values, mine)
		}
		var err error
		if left, err = wait(ctx, joined, got); err != nil {
			return nil, err
		}
		if len(left) == 0 {
			return got, nil
		}
	}
	values, err := load(ctx, left)
	if err != nil {
		return nil, err
	}
	pick(got, values, left)
	return got, nil
}

// Forget makes later callers of Do load keys anew instead of joining a flight
// that began earlier. A writer calls it after its commit and before it tells
// anybody of it, so that whoever then reads sees the commit. (Flights in other
// processes go on; there a reader may be late by the length of one load.)
func (f *Flight[V]) Forget(keys []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range keys {
		delete(f.flights, key)
	}
}

// board takes the lead of the keys that nobody loads, and returns them with
// the flight they are on, and the other keys by the flight to join.
func (f *Flight[V]) board(keys []string) (own *flight[V], mine []string, joined map[*flight[V]][]string) {
	own = &flight[V]{done: make(chan struct{}), err: errLeaderGone}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flights == nil {
		f.flights = make(map[string]*flight[V])
	}
	for _, key := range keys {
		other, found := f.flights[key]
		switch {
		case found && other == own: // a key named twice
		case found:
			if joined == nil {
				joined = make(map[*flight[V]][]string)
			}
			joined[other] = append(joined[other], key)
		default:
			f.flights[key] = own
			mine = append(mine, key)
		}
	}
	return own, mine, joined
}

// lead loads keys for everybody who joined fl. If load panics, fl ends with
// errLeaderGone and the panic goes on.
func (f *Flight[V]) lead(ctx context.Context, fl *flight[V], keys []string,
	load func(context.Context, []string) (map[string]V, error)) error {
	defer func() {
		f.land(fl, keys)
		close(fl.done)
	}()
	fl.values, fl.err = load(ctx, keys)
	return fl.err
}

// land takes keys off the map, unless Forget did and another flight has them.
func (f *Flight[V]) land(fl *flight[V], keys []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range keys {
		if f.flights[key] == fl {
			delete(f.flights, key)
		}
	}
}

// wait adds the values of the joined flights to got and returns the keys of
// those that failed.
func wait[V any](ctx context.Context, joined map[*flight[V]][]string, got map[string]V) (left []string, err error) {
	for fl, keys := range joined {
		select {
		case <-fl.done:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another reader: %w", ctx.Err())
		}
		if fl.err != nil {
			left = append(left, keys...)
			continue
		}
		pick(got, fl.values, keys)
	}
	return left, nil
}

// pick copies the values of keys.
func pick[V any](to, from map[string]V, keys []string) {
	for _, key := range keys {
		if v, found := from[key]; found {
			to[key] = v
		}
	}
}
