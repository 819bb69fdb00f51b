package cache_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kith/repo/cache"
)

type loader = func(context.Context, []string) (map[string]string, error)

var errLoad = errors.New("no database")

// table is a loader that finds every key but "gone".
func table(_ context.Context, keys []string) (map[string]string, error) {
	found := make(map[string]string)
	for _, key := range keys {
		if key != "gone" {
			found[key] = "row of " + key
		}
	}
	return found, nil
}

func wantRows(t *testing.T, got map[string]string, err error, keys ...string) {
	t.Helper()
	want, _ := table(context.Background(), keys)
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// lead starts a flight of keys that ends as load does once release is closed.
func lead(f *cache.Flight[string, string], ctx context.Context, keys []string, load loader) (release chan struct{}) {
	release = make(chan struct{})
	begun := make(chan struct{})
	go func() {
		defer func() { recover() }()
		f.Do(ctx, keys, func(ctx context.Context, keys []string) (map[string]string, error) {
			close(begun)
			select {
			case <-release:
				return load(ctx, keys)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
	}()
	<-begun
	return release
}

func TestFlight_Alone(t *testing.T) {
	var f cache.Flight[string, string]
	var asked []string
	got, err := f.Do(t.Context(), []string{"a", "b", "a", "gone"},
		func(ctx context.Context, keys []string) (map[string]string, error) {
			asked = keys
			return table(ctx, keys)
		})
	wantRows(t, got, err, "a", "b")
	if want := []string{"a", "b", "gone"}; !slices.Equal(asked, want) {
		t.Errorf("loaded %v, want %v", asked, want)
	}
	if got, err := f.Do(t.Context(), nil, nil); err != nil || len(got) != 0 {
		t.Errorf("Do of no keys: got %v, %v", got, err)
	}
	if _, err := f.Do(t.Context(), []string{"a"}, failing); !errors.Is(err, errLoad) {
		t.Errorf("own error: got %v, want %v", err, errLoad)
	}
}

func failing(context.Context, []string) (map[string]string, error) { return nil, errLoad }

// TestFlight_Join has many callers wait for one load.
func TestFlight_Join(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f cache.Flight[string, string]
		release := lead(&f, t.Context(), []string{"a", "b"}, table)
		var loads atomic.Int64
		for range 100 {
			go func() {
				got, err := f.Do(t.Context(), []string{"b", "c", "gone", "a"},
					func(ctx context.Context, keys []string) (map[string]string, error) {
						loads.Add(int64(len(keys)))
						return table(ctx, keys)
					})
				wantRows(t, got, err, "a", "b", "c")
			}()
		}
		synctest.Wait()
		close(release)
		synctest.Wait()
		// Those who found c landed may have loaded it anew, but nobody a or b.
		if n := loads.Load(); n%2 != 0 || n > 200 {
			t.Errorf("loaded %d keys", n)
		}
	})
}

// TestFlight_Once counts the loads of a key that a thousand callers miss.
func TestFlight_Once(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f cache.Flight[string, string]
		var loads atomic.Int64
		for range 1000 {
			go func() {
				got, err := f.Do(t.Context(), []string{"a"}, func(ctx context.Context, keys []string) (map[string]string, error) {
					loads.Add(1)
					time.Sleep(time.Second) // in the bubble's time: until all wait
					return table(ctx, keys)
				})
				wantRows(t, got, err, "a")
			}()
		}
		time.Sleep(2 * time.Second)
		if n := loads.Load(); n != 1 {
			t.Errorf("loaded %d times, want once", n)
		}
	})
}

// TestFlight_LeaderLost has waiters whose leader fails, is cancelled or panics.
func TestFlight_LeaderLost(t *testing.T) {
	tests := map[string]func(cancel func(), release chan struct{}){
		"Failed":    func(_ func(), release chan struct{}) { close(release) },
		"Cancelled": func(cancel func(), _ chan struct{}) { cancel() },
	}
	for name, end := range tests {
		t.Run(name, func(t *testing.T) {
			testLeaderLost(t, failing, end)
		})
	}
	t.Run("Panicked", func(t *testing.T) {
		testLeaderLost(t, func(context.Context, []string) (map[string]string, error) { panic("a bug") }, tests["Failed"])
	})
}

func testLeaderLost(t *testing.T, load loader, end func(cancel func(), release chan struct{})) {
	synctest.Test(t, func(t *testing.T) {
		var f cache.Flight[string, string]
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		release := lead(&f, ctx, []string{"a", "b"}, load)
		var loads atomic.Int64
		for range 20 {
			go func() {
				got, err := f.Do(t.Context(), []string{"a", "b"}, func(ctx context.Context, keys []string) (map[string]string, error) {
					loads.Add(1)
					time.Sleep(time.Second)
					return table(ctx, keys)
				})
				wantRows(t, got, err, "a", "b")
			}()
		}
		synctest.Wait()
		end(cancel, release)
		time.Sleep(2 * time.Second)
		if n := loads.Load(); n != 1 {
			t.Errorf("after the leader was lost: loaded %d times, want once", n)
		}
	})
}

// TestFlight_AllFail checks that waiters get an error of their own, and soon.
func TestFlight_AllFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f cache.Flight[string, string]
		begin := time.Now()
		var callers sync.WaitGroup
		for i := range 50 {
			callers.Go(func() {
				own := fmt.Errorf("load %d: %w", i, errLoad)
				_, err := f.Do(t.Context(), []string{"a"}, func(context.Context, []string) (map[string]string, error) {
					time.Sleep(time.Second)
					return nil, own
				})
				if err != own {
					t.Errorf("got %v, want %v", err, own)
				}
			})
		}
		callers.Wait()
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("took %v for loads of a second", took)
		}
	})
}

func TestFlight_ContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f cache.Flight[string, string]
		release := lead(&f, t.Context(), []string{"a"}, table)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := f.Do(ctx, []string{"a"}, table); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		close(release)
	})
}

// TestFlight_Forget has a commit fall between the begin of a flight and a
// reader that must see it.
func TestFlight_Forget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f cache.Flight[string, string]
		old := func(context.Context, []string) (map[string]string, error) {
			return map[string]string{"a": "old", "b": "old"}, nil
		}
		release := lead(&f, t.Context(), []string{"a", "b"}, old)
		f.Forget([]string{"a", "never loaded"})
		got, err := f.Do(t.Context(), []string{"a"}, table)
		wantRows(t, got, err, "a")

		// The old flight lands while a new one of the same key is on its way:
		// it must not take the new one off.
		renewed := lead(&f, t.Context(), []string{"a"}, table)
		close(release)
		synctest.Wait()
		go func() {
			got, err := f.Do(t.Context(), []string{"a"}, failing)
			wantRows(t, got, err, "a")
		}()
		synctest.Wait()
		close(renewed)
		synctest.Wait()
	})
}

// TestFlight_Crowd runs overlapping sets of keys that load, fail, panic, are
// cancelled and forgotten all at once; who gets rows gets the right ones.
func TestFlight_Crowd(t *testing.T) {
	var f cache.Flight[string, string]
	var crowd sync.WaitGroup
	for range 32 {
		crowd.Go(func() {
			for range 300 {
				crowdMember(t, &f)
			}
		})
	}
	crowd.Wait()
	got, err := f.Do(t.Context(), []string{"a"}, table)
	wantRows(t, got, err, "a")
}

func crowdMember(t *testing.T, f *cache.Flight[string, string]) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer func() { recover() }()
	keys := make([]string, 1+rand.IntN(6))
	for i := range keys {
		keys[i] = string(rune('a' + rand.IntN(8)))
	}
	fate := rand.IntN(8)
	got, err := f.Do(ctx, keys, func(ctx context.Context, keys []string) (map[string]string, error) {
		switch fate {
		case 0:
			return nil, errLoad
		case 1:
			panic("a bug")
		case 2:
			cancel()
			return nil, ctx.Err()
		case 3:
			f.Forget(keys)
		}
		return table(ctx, keys)
	})
	if fate > 2 || err == nil {
		wantRows(t, got, err, keys...)
	}
}
