package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"kith/app/audit"
	"kith/app/graph"
	"kith/cron"
	"kith/repo"
	"kith/repo/postcheck"
	"kith/repo/task"
	"kith/repo/timeline"
)

type auditCmd struct {
	listTool
	asJSON
	Repair  bool      `help:"Repair what is wrong. If two rows disagree, the row of the one who follows, replies or favours counts; a damaged row is rebuilt from the rows of others. A fault that takes more is reported with the command to type."`
	Rebuild accountID `placeholder:"ID" xor:"account" help:"Rebuild the row of this account from what can be read of it and from the rows of others, as a fault that names this command asks for."`
	DryRun  bool      `help:"Write nothing, even with --repair or --rebuild. Without these two nothing is written either."`
	Account accountID `placeholder:"ID" xor:"account" help:"Print this account and audit it alone, with the other side of each of its entries, its posts and what stands at them, its marks, keys, tasks and home: up to 1,000,000 rows about posts."`
}

// Help is the text above the flags.
func (auditCmd) Help() string {
	return "Reads all rows and checks that they agree: every list can be read, counts are true, both sides of every follow, block and " +
		"request are there, every account that is named exists, and every name belongs to its account; that author feeds, posts, their counts and what others did about them agree; that every row lies in the right bucket. Servers may run meanwhile. The exit code is 4 if faults remain: " +
		"audit with --repair, or type the command that a fault names. With --json " +
		"each fault is an object, and the last line is one with the numbers."
}

// Run audits and prints every fault and every number.
func (c *auditCmd) Run(ctx context.Context) error {
	return c.with(ctx, func(s *stack) error {
		only := cmp.Or(c.Account, c.Rebuild)
		err := s.checkAccount(ctx, only)
		if err == nil && only != 0 && !c.JSON {
			err = show(ctx, s, uint64(only))
		}
		if err != nil {
			return err
		}
		bar := newProgress(os.Stderr, time.Now)
		cfg := s.auditConfig((c.Repair || c.Rebuild != 0) && !c.DryRun)
		cfg.Account, cfg.Rebuild = uint64(only), c.Rebuild != 0 && !c.DryRun
		cfg.Step = func(ctx context.Context, at audit.Progress) error {
			bar.report(graph.Progress{Phase: at.Phase, Done: at.Rows, Total: at.Total})
			return ctx.Err()
		}
		var written error
		cfg.Report = func(f audit.Fault) { written = cmp.Or(written, c.fault(f)) }
		sum, err := audit.Run(ctx, cfg)
		bar.end()
		err = cmp.Or(err, written, c.summary(sum), cron.Remain(sum))
		if err == nil && sum.Repaired > 0 {
			c.late()
		}
		return err
	})
}

// auditConfig is what an audit works with on the stack.
func (s *stack) auditConfig(repair bool) audit.Config {
	return audit.Config{Rows: s.rows, Relations: s.relations, Names: s.people, Now: time.Now, Repair: repair,
		Posts: &audit.Posts{Rows: postcheck.New(s.pool), Posts: s.posts.rows, Feeds: s.posts.feeds, Marks: s.posts.config.Marks, Tasks: task.New(s.pool),
			Timelines: timeline.NewStore(s.pool, time.Now, slog.Default()), Service: s.posts.service}}
}

// show prints an account for a person to read.
func show(ctx context.Context, s *stack, id uint64) error {
	found, err := s.people.Get(ctx, id)
	switch {
	case errors.Is(err, repo.ErrNotFound):
		fmt.Printf("account         %d, which is unknown: it has no row in the table account\n", id)
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

// fault prints one fault.
func (c *auditCmd) fault(f audit.Fault) error {
	if !c.JSON {
		fmt.Println(f)
		return nil
	}
	out := faultObject{Kind: string(f.Kind), Account: strconv.FormatUint(f.Account, 10), Fault: f.Text, Repaired: f.Repaired, Note: f.Note}
	if f.Other != 0 {
		other := strconv.FormatUint(f.Other, 10)
		out.Other = &other
	}
	if f.Err != nil {
		out.Error = f.Err.Error()
	}
	if f.Rebuild != 0 {
		rebuild := strconv.FormatUint(f.Rebuild, 10)
		out.Rebuild = &rebuild
	}
	return c.line(out)
}

// faultObject is a fault as a JSON object.
type faultObject struct {
	Kind     string  `json:"kind"`
	Account  string  `json:"account"`
	Other    *string `json:"other"` // null: it is about one account
	Fault    string  `json:"fault"`
	Repaired bool    `json:"repaired"`
	Note     string  `json:"note"`
	Error    string  `json:"error"`   // why it is not repaired
	Rebuild  *string `json:"rebuild"` // the account that kith audit --rebuild puts right; null: it takes no rebuild
}

// summary prints the numbers; as JSON, one object that has them by name.
func (c *auditCmd) summary(sum audit.Summary) error {
	object := map[string]any{"kinds": sum.Faults, "duration_seconds": sum.Duration.Seconds()}
	for _, n := range []struct {
		name string
		n    int64
	}{
		{"rows", sum.Rows}, {"archives", sum.Archives}, {"archive segments", sum.Segments}, {"follows", sum.Edges}, {"blocks", sum.Blocks},
		{"requests", sum.Requests}, {"passes over all rows", sum.Passes}, {"sums that differed", sum.Slices}, {"names", sum.Names}, {"posts", sum.Posts}, {"pairs looked at closely", sum.Suspects},
		{"faults found", sum.Found}, {"faults repaired", sum.Repaired},
	} {
		object[strings.ReplaceAll(n.name, " ", "_")] = n.n
		if !c.JSON && (c.Account+c.Rebuild == 0 || n.n > 0 || n.name == "faults found") {
			fmt.Printf("%-26s%d\n", n.name, n.n)
		}
	}
	if c.JSON {
		return c.line(map[string]any{"summary": object})
	}
	for _, k := range slices.Sorted(maps.Keys(sum.Faults)) {
		fmt.Printf("  %-24s%d\n", k, sum.Faults[k])
	}
	fmt.Printf("%-26s%v\n", "duration", sum.Duration.Round(time.Millisecond))
	return nil
}
