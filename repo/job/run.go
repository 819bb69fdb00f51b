// Package job keeps what maintenance jobs did and how far they came: a row for
// each run, and for each job the cursor at which it goes on after a stop.
//
// Both are written while the job holds its lease (repo/lease) and lie in the
// bucket of the lease; runs for one account (OfOne) lie in a bucket of their own.
// A process that lost the lease without knowing it yet can do no harm: its run is
// a row of its own, and a cursor is only replaced under a lease with a ver as high.
package job

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// Result is how a run ended.
type Result string

// The results.
const (
	Running Result = "running" // it has not ended, or was killed
	OK      Result = "ok"      // it did all there was to do
	Failed  Result = "failed"  // it met an error
	Stopped Result = "stopped" // it was stopped, or lost its lease, and goes on later
	Lost    Result = "lost"    // it was killed; the next one noticed
)

// Run is one run of a job. Times are unix milliseconds, 0 for none.
type Run struct {
	Name    string `db:"name"`
	Started int64  `db:"started_ms"`
	Holder  string `db:"holder"`
	Tick    int64  `db:"tick_ms"` // the time on the schedule, 0: by hand
	Ended   int64  `db:"ended_ms"`
	Rows    int64  `db:"looked_at"`
	Done    int64  `db:"changed"`
	Result  Result `db:"result"`
	Failure string `db:"failure"` // one sentence
}

// maxFailure is what the column holds, in bytes.
const maxFailure = 500

// OfOne is the name under which runs of a job for one account are kept: they say
// nothing about when the job was last done for all.
func OfOne(name string) string { return name + " account" }

// Store keeps runs and cursors. It is safe for concurrent use.
type Store struct{ db *sqlx.DB }

// New makes a store.
func New(pool *sqlx.DB) *Store { return &Store{db: pool} }

// Save writes a run as it now is: when it begins, from time to time, and when
// it has ended. Saving the same twice is harmless. Index: PRIMARY (bucket,
// name, started_ms, holder), one row.
func (s *Store) Save(ctx context.Context, r Run) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO job_run (bucket, name, started_ms, holder, tick_ms, ended_ms, looked_at, changed, result, failure) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON DUPLICATE KEY UPDATE ended_ms = VALUES(ended_ms), looked_at = VALUES(looked_at), changed = VALUES(changed), result = VALUES(result), failure = VALUES(failure)`,
		repo.NameBucket(r.Name), r.Name, r.Started, r.Holder, r.Tick, r.Ended, r.Rows, r.Done, string(r.Result), fit(r.Failure))
	if err != nil {
		return fmt.Errorf("save a run of %s: %w", r.Name, db.Wrap(err))
	}
	return nil
}

func fit(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxFailure)], "") }

// MaxRuns bounds how many runs are read or deleted at once.
const MaxRuns = 1000

// Last returns the newest runs of a job, newest first. Index: PRIMARY (bucket,
// name, started_ms, …), a range read backwards.
func (s *Store) Last(ctx context.Context, name string, limit int) ([]Run, error) {
	var out []Run
	err := s.db.SelectContext(ctx, &out, `SELECT name, started_ms, holder, tick_ms, ended_ms, looked_at, changed, result, failure FROM job_run WHERE bucket = ? AND name = ? ORDER BY started_ms DESC, holder DESC LIMIT ?`,
		repo.NameBucket(name), name, min(limit, MaxRuns))
	if err != nil {
		return nil, fmt.Errorf("read the runs of %s: %w", name, db.Wrap(err))
	}
	return out, nil
}

// Bury records that a run that has not ended was killed, which the next holder of the
// lease knows. Index: PRIMARY, one row.
func (s *Store) Bury(ctx context.Context, r Run, now int64) error {
	_, err := s.db.ExecContext(ctx, `UPDATE job_run SET ended_ms = ?, result = ? WHERE bucket = ? AND name = ? AND started_ms = ? AND holder = ? AND ended_ms = 0`,
		now, string(Lost), repo.NameBucket(r.Name), r.Name, r.Started, r.Holder)
	if err != nil {
		return fmt.Errorf("bury a run of %s: %w", r.Name, db.Wrap(err))
	}
	return nil
}

// Expire deletes up to limit runs of a job, MaxRuns at most, that began before a
// time, the newest run of all excepted. Index: PRIMARY (bucket, name, started_ms, …), a
// range.
func (s *Store) Expire(ctx context.Context, name string, before int64, limit int) (int64, error) {
	newest, err := s.Last(ctx, name, 1)
	if err != nil || len(newest) == 0 {
		return 0, err
	}
	res, err := s.db.ExecContext(ctx, `DELETE FROM job_run WHERE bucket = ? AND name = ? AND started_ms < ? ORDER BY started_ms LIMIT ?`,
		repo.NameBucket(name), name, min(before, newest[0].Started), min(limit, MaxRuns))
	if err != nil {
		return 0, fmt.Errorf("delete runs of %s: %w", name, db.Wrap(err))
	}
	return res.RowsAffected()
}

// MaxCursor is the longest cursor in bytes.
const MaxCursor = 200

// Cursor returns where a job goes on, empty for the beginning. Index: PRIMARY
// (bucket, name), one row.
func (s *Store) Cursor(ctx context.Context, name string) (string, error) {
	var cursor string
	err := db.Wrap(s.db.GetContext(ctx, &cursor, `SELECT resume_at FROM job_cursor WHERE bucket = ? AND name = ?`, repo.NameBucket(name), name))
	if errors.Is(err, repo.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the cursor of %s: %w", name, err)
	}
	return cursor, nil
}

// SaveCursor records where a job goes on, unless a later lease has done so;
// leaseVer is that of the lease, now is unix milliseconds. Index: PRIMARY
// (bucket, name), one row.
func (s *Store) SaveCursor(ctx context.Context, name, cursor string, leaseVer uint64, now int64) error {
	if len(cursor) > MaxCursor {
		return fmt.Errorf("save the cursor of %s: %d bytes: %w", name, len(cursor), repo.ErrTooLarge)
	}
	// lease_ver is assigned last, since assignments run left to right.
	_, err := s.db.ExecContext(ctx, `INSERT INTO job_cursor (bucket, name, resume_at, lease_ver, saved_ms) VALUES (?, ?, ?, ?, ?)
		ON DUPLICATE KEY UPDATE resume_at = IF(lease_ver <= VALUES(lease_ver), VALUES(resume_at), resume_at),
		saved_ms = IF(lease_ver <= VALUES(lease_ver), VALUES(saved_ms), saved_ms), lease_ver = GREATEST(lease_ver, VALUES(lease_ver))`,
		repo.NameBucket(name), name, cursor, leaseVer, now)
	if err != nil {
		return fmt.Errorf("save the cursor of %s: %w", name, db.Wrap(err))
	}
	return nil
}
