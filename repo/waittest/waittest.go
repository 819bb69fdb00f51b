// Package waittest is how tests wait for other goroutines and processes: no wait goes on
// for ever.
package waittest

import (
	"testing"
	"time"
)

// Receive returns what comes within a time, or the zero value where from is closed. Else
// it fails the test with what did not come.
func Receive[T any](tb testing.TB, within time.Duration, what string, from <-chan T) (got T) {
	tb.Helper()
	select {
	case got = <-from:
	case <-time.After(within):
		tb.Fatalf("no %s in %v", what, within)
	}
	return got
}

// Until asks until what is true, or fails the test after a time.
func Until(tb testing.TB, within time.Duration, what string, is func() bool) {
	tb.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(within)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			tb.Fatalf("after %v still not: %s", within, what)
		}
	}
}
