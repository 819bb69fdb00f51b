package cron

import (
	"context"
	"fmt"

	"kith/repo/list"
	"kith/repo/relation"
)

// trimPage is how many long rows are read at once.
const trimPage = 200

// Trim makes the job that cuts the sections of rows to their newest listCap entries; the
// others move to the archive. It walks the index of long rows, which costs little if
// there are none. It reads the lengths of the sections before it opens a row: a row that
// was trimmed is as long as the cap, so the index finds it again each time.
func Trim(rows *relation.Store, listCap int) Job {
	t := trimming{rows: rows, cap: listCap}
	return Job{Name: "trim", About: "moves what is over the cap of a row to the archive", Work: t.work}
}

type trimming struct {
	rows *relation.Store
	cap  int
}

func (t trimming) work(ctx context.Context, run *Run) error {
	if run.Account != 0 {
		found, err := t.rows.Outlines(ctx, []uint64{run.Account})
		if err != nil {
			return err
		}
		o := found[run.Account] // none where there is no row
		o.AccountID = run.Account
		return t.page(ctx, run, []relation.Outline{o}, 1)
	}
	var after relation.Outline
	if _, err := fmt.Sscanf(run.Cursor(), "%d %d", &after.Blocks, &after.AccountID); err != nil && run.Cursor() != "" {
		return fmt.Errorf("read the cursor %q of trim: %w", run.Cursor(), err)
	}
	total, err := t.rows.CountLong(ctx, t.cap)
	if err != nil {
		return err
	}
	for {
		page, err := t.rows.Long(ctx, t.cap, after, trimPage)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return run.Step(ctx, Step{Total: total})
		}
		if err := t.page(ctx, run, page, total); err != nil {
			return err
		}
		after = page[len(page)-1]
	}
}

// page trims the rows of a page that need it, with a step for each of them and one
// at the end.
func (t trimming) page(ctx context.Context, run *Run, page []relation.Outline, total int64) error {
	var s Step
	for i, r := range page {
		changed, err := t.one(ctx, run, r)
		if err := run.Skip(ctx, r.AccountID, err); err != nil {
			return err
		}
		s.Rows++
		if changed {
			s.Done++
		}
		if !changed && i < len(page)-1 {
			continue
		}
		s.Total, s.Cursor = total, fmt.Sprintf("%d %d", r.Blocks, r.AccountID)
		if err := run.Step(ctx, s); err != nil {
			return err
		}
		s = Step{}
	}
	return nil
}

// one trims one row where it needs it, and reports whether it did or would.
func (t trimming) one(ctx context.Context, run *Run, o relation.Outline) (bool, error) {
	over, longest := t.over(o)
	if o.Err != nil || over == 0 {
		return false, o.Err
	}
	log := run.Log.With("account", o.AccountID, "longest", longest)
	if run.DryRun {
		log.Info("would be trimmed", "entries", over)
		return true, nil
	}
	done, err := t.rows.Trim(ctx, o.AccountID, t.cap)
	if err != nil {
		return false, fmt.Errorf("trim %d: %w", o.AccountID, err)
	}
	log.Debug("trimmed", "entries", done) // none where another writer has shortened it
	return done > 0, nil
}

// over returns how many entries of a row are over the cap, and the length of its
// longest section.
func (t trimming) over(o relation.Outline) (over, longest int) {
	for s := list.Friends; s <= list.Following; s++ {
		over += max(0, o.Len(s)-t.cap)
		longest = max(longest, o.Len(s))
	}
	return over, longest
}
