package home

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"kith/repo"
	"kith/repo/timeline"
)

const (
	// buildTime is how long the building of a line may take. Of somebody who follows 60,000
	// it takes a second or two.
	buildTime = time.Minute
	// maxBuilds is how many lines are built at once in a process.
	maxBuilds = 256
)

// builds are the lines that are being built in this process, one of a reader at a time. They
// are not tied to the requests that wait for them, so that one that is given up leaves a
// line to the next.
type builds struct {
	slots chan struct{}

	mu     sync.Mutex
	of     map[buildKey]*build
	closed bool
	work   sync.WaitGroup
}

// buildKey tells a line that is built to be kept from one that only somebody looks at.
type buildKey struct {
	reader uint64
	watch  bool
}

// build is a line that is being built. The line and err are set before done closes.
type build struct {
	done   chan struct{}
	cancel context.CancelFunc
	line   timeline.Line
	err    error
}

func newBuilds() *builds {
	return &builds{slots: make(chan struct{}, maxBuilds), of: map[buildKey]*build{}}
}

// built returns the reader's line, which is built in the background, and whether this reading
// began that. It returns when ctx ends, at the latest.
func (r *read) built(ctx context.Context) (l timeline.Line, mine bool, err error) {
	own := &read{Service: r.Service, row: r.row, viewer: Viewer{ID: r.viewer.ID, Now: r.viewer.Now}}
	b, mine, err := r.builds.join(ctx, buildKey{r.viewer.ID, r.watch}, own.build)
	if err != nil {
		return l, false, err
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		return l, false, fmt.Errorf("the home of %d is being built: %w", r.viewer.ID, ctx.Err())
	}
	l = b.line
	if !mine {
		l.Events, l.Pulled = slices.Clone(l.Events), slices.Clone(l.Pulled)
	}
	return l, mine, b.err
}

// join returns the build of a key that is under way, or begins one.
func (b *builds) join(ctx context.Context, key buildKey, do func(context.Context) (timeline.Line, error)) (of *build, mine bool, err error) {
	select {
	case b.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, false, fmt.Errorf("%d homes are being built: %w", maxBuilds, ctx.Err())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	of = b.of[key]
	if of != nil || b.closed {
		<-b.slots
		if of == nil {
			err = fmt.Errorf("homes are closed: %w", repo.ErrUnavailable)
		}
		return of, false, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), buildTime)
	of = &build{done: make(chan struct{}), cancel: cancel}
	b.of[key] = of
	b.work.Go(func() { b.run(ctx, key, of, do) })
	return of, true, nil
}

// run builds a line. A panic becomes an error, as in a request.
func (b *builds) run(ctx context.Context, key buildKey, of *build, do func(context.Context) (timeline.Line, error)) {
	defer func() {
		if p := recover(); p != nil {
			of.err = fmt.Errorf("build a home: panic: %v\n%s", p, debug.Stack())
		}
		of.cancel()
		b.mu.Lock()
		delete(b.of, key)
		b.mu.Unlock()
		close(of.done)
		<-b.slots
	}()
	of.line, of.err = do(ctx)
}

// close cancels all and waits for them.
func (b *builds) close() {
	b.mu.Lock()
	b.closed = true
	for _, of := range b.of {
		of.cancel()
	}
	b.mu.Unlock()
	b.work.Wait()
}
