package cron

import (
	"fmt"
	"strconv"

	"kith/repo/relation"
)

// walk is the way of a job through all rows in key order: (bucket, account).
type walk struct {
	at    uint64  // the last account that is done, 0: none
	begun float64 // share of the buckets before this run's first row
	rows  int64
	all   int64 // rows of this run, 0: not known yet
}

// resume goes on at a cursor that walk wrote.
func (w *walk) resume(cursor string) error {
	if cursor == "" {
		return nil
	}
	at, err := strconv.ParseUint(cursor, 10, 64)
	if err != nil {
		return fmt.Errorf("read the cursor %q: %w", cursor, err)
	}
	w.at, w.begun = at, share(at)
	return nil
}

// share is how much of all rows comes before an account, if all buckets hold
// about as many.
func share(account uint64) float64 { return float64(relation.Bucket(account)) / 1024 }

// pass counts rows up to an account and returns the step to report.
func (w *walk) pass(account uint64, rows, done int64) Step {
	w.at = account
	w.rows += rows
	return Step{Rows: rows, Done: done, Total: w.total(), Cursor: strconv.FormatUint(account, 10)}
}

// last notes that a page is the last one, if it is not full: then the end is known.
func (w *walk) last(page, limit int) {
	if page < limit {
		w.all = w.rows + int64(page)
	}
}

// total guesses how many rows the run will see from how far it came: counting
// them would be a walk of its own.
func (w *walk) total() int64 {
	if w.all > 0 {
		return max(w.rows, w.all)
	}
	done := share(w.at) - w.begun
	if done <= 0 {
		return 0
	}
	return max(w.rows, int64(float64(w.rows)*(1-w.begun)/done))
}
