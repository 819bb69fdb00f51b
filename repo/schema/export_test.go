package schema

import (
	"context"
	"time"
)

// The tests are in a package of their own, because dbtest imports this one.
const LockName = lockName

var (
	GetLock     = getLock
	ReleaseLock = releaseLock
)

// LockedWithin is locked with a time-out and beats of the test's own.
func (s *Schema) LockedWithin(ctx context.Context, timeout, beat time.Duration, fn func(context.Context) error) error {
	return s.lockedWithin(ctx, timeout, beat, fn)
}
