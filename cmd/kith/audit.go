package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"kith/app/audit"
	"kith/app/graph"
	"kith/cron"
	"kith/repo"
	"kith/repo/relation"
)

type auditCmd struct {
	listTool
	Repair  bool    `help:"Mend what is wrong: the side of the one who follows is the truth, and a damaged row yields to the others."`
	DryRun  bool    `help:"Only report. That is the default; it stands above --repair."`
	Account *uint64 `placeholder:"ID" help:"Print this account and audit it alone, with the other side of each of its entries."`
}

// Help is the text above the flags.
func (auditCmd) Help() string {
	return "Walks all rows and looks whether what must hold does: lists can be read, counts are true, both sides of every " +
		"follow, block and request agree, whoever is named exists. Servers may run meanwhile. The exit code is 1 where faults remain."
}

// Run audits and prints every fault and every number.
func (c *auditCmd) Run(ctx context.Context) error {
	return c.with(ctx, func(s *stack) error {
		only, err := s.only(ctx, c.Account)
		if err == nil && only != 0 {
			err = show(ctx, s, only)
		}
		if err != nil {
			return err
		}
		bar := newProgress(os.Stderr, time.Now)
		cfg := s.auditConfig(c.Repair && !c.DryRun)
		cfg.Account = only
		cfg.Step = func(ctx context.Context, at audit.Progress) error {
			bar.report(graph.Progress{Phase: auditPhases[at.Phase], Done: at.Rows, Total: at.Total})
			return ctx.Err()
		}
		cfg.Report = func(f audit.Fault) { fmt.Println(f) }
		sum, err := audit.Run(ctx, cfg)
		bar.end()
		c.tell(sum)
		return cmp.Or(err, cron.Remain(sum))
	})
}

// auditPhases are the phases of an audit as the progress names them.
var auditPhases = map[string]string{"sums": "audit", "rebuild": "rebuild", "closer": "closer", "verify": "verify", "others": "others"}

// auditConfig is what an audit works with on the stack.
func (s *stack) auditConfig(repair bool) audit.Config {
	return audit.Config{Rows: s.rows, Edits: relation.NewEdits(s.rows, time.Now), Committer: s.committer, Now: time.Now, Repair: repair}
}

// show prints an account for a person to read.
func show(ctx context.Context, s *stack, id uint64) error {
	found, err := s.people.Get(ctx, id)
	switch {
	case errors.Is(err, repo.ErrNotFound):
		fmt.Printf("account         %d, which has no name: nobody made it\n", id)
	case err != nil:
		return err
	default:
		fmt.Printf("account         %d %s, %q, %s, created %s\n", found.ID, found.Username, found.DisplayName, lock(found), created(found))
	}
	if err := audit.Show(ctx, os.Stdout, s.rows, id); err != nil {
		return err
	}
	fmt.Println()
	return nil
}

// tell prints the numbers.
func (c *auditCmd) tell(sum audit.Summary) {
	for _, n := range []struct {
		name string
		n    int64
	}{
		{"rows", sum.Rows}, {"archives", sum.Archives}, {"archive segments", sum.Segments}, {"follows", sum.Edges}, {"blocks", sum.Blocks},
		{"requests", sum.Requests}, {"passes over all rows", sum.Passes}, {"sums that differed", sum.Slices}, {"pairs looked at closely", sum.Suspects},
		{"faults found", sum.Found}, {"faults mended", sum.Mended},
	} {
		if c.Account == nil || n.n > 0 || n.name == "faults found" {
			fmt.Printf("%-26s%d\n", n.name, n.n)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(sum.Faults)) {
		fmt.Printf("  %-24s%d\n", k, sum.Faults[k])
	}
	fmt.Printf("%-26s%v\n", "duration", sum.Duration.Round(time.Millisecond))
}
