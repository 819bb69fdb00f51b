package cron_test

import (
	"strings"
	"testing"
	"time"

	"kith/app/audit"
	app "kith/app/relation"
	"kith/cron"
	"kith/repo/committer"
	"kith/repo/job"
)

// A run reports faults and has failed; one that repairs has not.
func TestAudit(t *testing.T) {
	w := newWorld(t)
	w.followers(1, 40)
	commits := committer.New(w.rows, committer.Config{})
	defer commits.Close(t.Context())
	cfg := audit.Config{Rows: w.rows, Relations: app.New(app.Config{Rows: w.rows, Committer: commits, Accounts: w.accounts, Now: time.Now}), Now: time.Now}
	people := []uint64{1}
	for f := range uint64(40) {
		people = append(people, 100_000+f)
	}
	if _, err := w.accounts.Ensure(t.Context(), people, 1); err != nil {
		t.Fatal(err)
	}
	// The followers of 1 have no rows: each is an edge that only one side knows.
	run, err := w.worker.Run(t.Context(), cron.Audit(cfg), cron.Options{})
	if err == nil || !strings.Contains(err.Error(), "40 faults found, 0 repaired") || run.Result != job.Failed || run.Done != 0 {
		t.Errorf("got %+v, %v, want 40 faults", run, err)
	}
	cfg.Repair = true
	if run, err := w.worker.Run(t.Context(), cron.Audit(cfg), cron.Options{DryRun: true}); err == nil || run.Done != 0 {
		t.Errorf("dry run: got %+v, %v, want 40 faults and nothing done", run, err)
	}
	run, err = w.worker.Run(t.Context(), cron.Audit(cfg), cron.Options{})
	if err != nil || run.Result != job.OK || run.Done != 40 || run.Rows == 0 {
		t.Errorf("got %+v, %v, want 40 faults repaired", run, err)
	}
	cfg.Repair = false
	if run, err := w.worker.Run(t.Context(), cron.Audit(cfg), cron.Options{}); err != nil || run.Done != 0 {
		t.Errorf("got %+v, %v, want no fault", run, err)
	}
	if run, err := w.worker.Run(t.Context(), cron.Audit(cfg), cron.Options{Account: 1}); err != nil || run.Rows != 0 {
		t.Errorf("got %+v, %v, want one account without a fault", run, err)
	}
}
