package cache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
type Flight[K comparable, V any] struct {
	mu      sync.Mutex
	flights map[K]*flight[K, V] // while they load
}

// flight is one call of load. Its values and err are set before done closes.
type flight[K comparable, V any] struct {
	done   chan struct{}
	values map[K]V
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
func (f *Flight[K, V]) Do(ctx context.Context, keys []K, load func(context.Context, []K) (map[K]V, error)) (map[K]V, error) {
	got := make(map[K]V, len(keys))
	for range maxJoins {
		own, mine, joined := f.board(keys)
		if len(mine) > 0 {
			if err := f.lead(ctx, own, mine, load); err != nil {
				return nil, err
			}
			maps.Copy(got, own.values)
		}
		keys = nil
		for other, theirs := range joined {
			select {
			case <-other.done:
			case <-ctx.Done():
				return nil, fmt.Errorf("wait for another reader: %w", ctx.Err())
			}
			if other.err != nil {
				keys = append(keys, theirs...)
				continue
			}
			for _, key := range theirs {
				if v, found := other.values[key]; found {
					got[key] = v
				}
			}
		}
		if len(keys) == 0 {
			return got, nil
		}
	}
	values, err := load(ctx, keys)
	if err != nil {
		return nil, err
	}
	maps.Copy(got, values)
	return got, nil
}

// Forget makes later callers of Do load keys anew instead of joining a flight
// that began earlier. A writer calls it after its commit and before it updates
// the cache, so that whoever then reads sees the commit. (Flights in other
// processes go on; there a reader may be late by the length of one load.)
func (f *Flight[K, V]) Forget(keys []K) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range keys {
		delete(f.flights, key)
	}
}

// board takes the lead of the keys that nobody loads, and returns them with
// the flight they are on, and the other keys by the flight to join.
func (f *Flight[K, V]) board(keys []K) (own *flight[K, V], mine []K, joined map[*flight[K, V]][]K) {
	own = &flight[K, V]{done: make(chan struct{}), err: errLeaderGone}
	joined = make(map[*flight[K, V]][]K)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flights == nil {
		f.flights = make(map[K]*flight[K, V])
	}
	for _, key := range keys {
		switch other, found := f.flights[key]; {
		case !found:
			f.flights[key] = own
			mine = append(mine, key)
		case other != own && !slices.Contains(joined[other], key): // else a key named twice
			joined[other] = append(joined[other], key)
		}
	}
	return own, mine, joined
}

// lead loads keys for everybody who joined own. If load panics, own ends with
// errLeaderGone and the panic goes on.
func (f *Flight[K, V]) lead(ctx context.Context, own *flight[K, V], keys []K, load func(context.Context, []K) (map[K]V, error)) error {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, key := range keys {
			if f.flights[key] == own { // else Forget came, and perhaps another flight
				delete(f.flights, key)
			}
		}
		close(own.done)
	}()
	own.values, own.err = load(ctx, keys)
	return own.err
}
