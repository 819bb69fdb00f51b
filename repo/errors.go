package repo

import "errors"

// The four failures that a store reports. Everything else a store returns
// wraps one of them or is a bug. Test with errors.Is.
var (
	// ErrNotFound says that the row or entry asked for does not exist.
	ErrNotFound = errors.New("not found")
	// ErrConflict says that a swap was lost more often than it may be retried.
	ErrConflict = errors.New("conflict")
	// ErrTooLarge says that a value would outgrow what a row may hold.
	ErrTooLarge = errors.New("too large")
	// ErrUnavailable says that the database is away or has no room for more
	// work; the same call may succeed later.
	ErrUnavailable = errors.New("unavailable")
)
