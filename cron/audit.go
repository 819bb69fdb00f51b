package cron

import (
	"context"
	"fmt"

	"kith/app/audit"
)

// faultsLogged is how many faults of one run are logged; the others are counted.
const faultsLogged = 1000

// Audit makes the job that checks that the rows agree. With cfg.Repair it repairs those
// that do not, but never in a dry run. Faults are logged, and a run after which some
// remain has failed, so that the list of jobs shows it. It has no cursor: the checksums
// of a run that stops are lost, and the next run starts at the beginning.
func Audit(cfg audit.Config) Job {
	return Job{Name: "audit", About: "checks that both sides of every follow agree, that posts agree with feeds and marks, and that counts are true",
		Work: func(ctx context.Context, run *Run) error { return auditAll(ctx, cfg, run) }}
}

func auditAll(ctx context.Context, cfg audit.Config, run *Run) error {
	cfg.Repair = cfg.Repair && !run.DryRun
	cfg.Account = run.Account
	logged := 0
	cfg.Report = func(f audit.Fault) {
		if logged++; logged <= faultsLogged {
			run.Log.Warn("audit found a fault", "kind", f.Kind, "account", f.Account, "other", f.Other, "repaired", f.Repaired, "fault", f.String())
		}
	}
	var at auditProgress
	cfg.Step = func(ctx context.Context, p audit.Progress) error { return run.Step(ctx, at.step(p)) }
	sum, err := audit.Run(ctx, cfg)
	if err != nil {
		return err
	}
	run.Log.Info("audit", "rows", sum.Rows, "edges", sum.Edges, "suspects", sum.Suspects, "faults", sum.Found, "repaired", sum.Repaired, "duration_ms", sum.Duration.Milliseconds())
	return Remain(sum)
}

// FaultsError says that an audit left faults, or did not look at everything.
type FaultsError struct{ sum audit.Summary }

// Error counts them.
func (e *FaultsError) Error() string {
	text := fmt.Sprintf("%s found, %d repaired", counted(e.sum.Found, "fault"), e.sum.Repaired)
	if e.sum.Unlooked > 0 {
		text += fmt.Sprintf(", and %d checksums, pairs or accounts were not checked for lack of room: audit again", e.sum.Unlooked)
	}
	return text
}

// Remain returns a FaultsError where an audit left faults.
func Remain(sum audit.Summary) error {
	if sum.Remain() == 0 {
		return nil
	}
	return &FaultsError{sum}
}

// auditProgress adds up the phases of an audit, each of which counts from 0.
type auditProgress struct {
	last  audit.Progress
	ended int64 // rows of the phases that ended
}

// step returns what was done since the last step, over all phases.
func (at *auditProgress) step(p audit.Progress) Step {
	rows := p.Rows - at.last.Rows
	if p.Phase != at.last.Phase || rows < 0 {
		at.ended += at.last.Rows
		rows = p.Rows
	}
	s := Step{Rows: rows, Done: p.Repairs - at.last.Repairs, Total: at.ended + p.Total}
	at.last = p
	return s
}
