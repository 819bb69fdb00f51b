package intake

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Progress is how far a phase is. Total is 0 where it is not known.
type Progress struct {
	Phase       string
	Done, Total int64
}

// Phase is one step of an import.
type Phase struct {
	Name string
	Do   func(context.Context) error
	// Left says what an error leaves behind; empty where nothing was written yet.
	Left string
}

// Phases does the steps of an import, and tells how far they are. Tell may be nil. Several may
// report at once.
type Phases struct {
	Tell func(Progress)

	mu    sync.Mutex
	at    Progress
	shown time.Time
}

// Run does one phase after the other until one fails. Where something was written by then the
// error is ErrPartial, too.
func (p *Phases) Run(ctx context.Context, phases ...Phase) error {
	for _, phase := range phases {
		p.begin(phase.Name)
		err := phase.Do(ctx)
		if err == nil {
			continue
		}
		left := phase.Left
		if left == "" {
			left = "nothing was imported"
		}
		if ctx.Err() != nil {
			err = fmt.Errorf("import interrupted in phase %s, %s: %w", phase.Name, left, context.Cause(ctx))
		} else {
			err = fmt.Errorf("import, phase %s, %s: %w", phase.Name, left, err)
		}
		if phase.Left != "" {
			return Partial(err)
		}
		return err
	}
	return nil
}

func (p *Phases) begin(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.shown = Progress{Phase: name}, time.Time{}
}

// More notes what more of the phase is done, seldom enough to cost nothing.
func (p *Phases) More(more, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reach(p.at.Done+more, total)
}

// Reach notes how much of the phase is done.
func (p *Phases) Reach(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reach(done, total)
}

// reach is Reach with the lock.
func (p *Phases) reach(done, total int64) {
	p.at.Done, p.at.Total = done, total
	now := time.Now()
	if p.Tell == nil || now.Sub(p.shown) < 100*time.Millisecond && done != total {
		return
	}
	p.shown = now
	p.Tell(p.at)
}
