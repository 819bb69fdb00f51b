//go:build race

package api_test

// racing says that the race detector is on, which makes times and allocations others.
const racing = true
