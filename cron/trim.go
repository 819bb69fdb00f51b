package cron

import (
	"context"
	"fmt"

	"kith/repo"
	"kith/repo/list"
	"kith/repo/relation"
)

// TrimRows finds long rows.
type TrimRows interface {
	Long(ctx context.Context, entries int, after relation.LongRow, limit int) ([]relation.LongRow, error)
	CountLong(ctx context.Context, entries int) (int64, error)
	Outlines(ctx context.Context, ids []uint64) ([]relation.Outline, error)
}

// Trimmer cuts one account's row.
type Trimmer interface {
	Trim(ctx context.Context, id uint64, limit int) (relation.Trimmed, error)
}

var (
	_ TrimRows = (*relation.Store)(nil)
	_ Trimmer  = (*relation.Edits)(nil)
)

// trimPage is how many long rows are looked up at once.
const trimPage = 200

// trimTries bounds how often the trim of one row may lose to other writers.
const trimTries = 3

// Trim makes the job that cuts the sections of rows to their newest listCap
// entries; the others move to the archive. It walks the index of long rows, so
// that it costs little where there are none, and looks at the lengths of
// sections before it opens a row: one that was cut is as long as the cap and
// is found again each time.
func Trim(rows TrimRows, edits Trimmer, listCap int) Job {
	t := trimming{rows: rows, edits: edits, cap: listCap}
	return Job{Name: "trim", About: "moves what is over the cap of a row to the archive", Work: t.work}
}

type trimming struct {
	rows  TrimRows
	edits Trimmer
	cap   int
}

func (t trimming) work(ctx context.Context, run *Run) error {
	bad := &faults{run: run, what: "trim"}
	if run.Account != 0 {
		_, err := t.accounts(ctx, run, bad, []relation.LongRow{{AccountID: run.Account}}, 1)
		if err != nil {
			return err
		}
		return bad.err()
	}
	after, err := parseLong(run.Cursor())
	if err != nil {
		return err
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
			break
		}
		if after, err = t.accounts(ctx, run, bad, page, total); err != nil {
			return err
		}
	}
	if err := run.Step(ctx, Step{Total: total}); err != nil {
		return err
	}
	return bad.err()
}

// accounts trims the rows of a page that need it and returns the last.
func (t trimming) accounts(ctx context.Context, run *Run, bad *faults, page []relation.LongRow, total int64) (last relation.LongRow, err error) {
	ids := make([]uint64, len(page))
	for i, r := range page {
		ids[i] = r.AccountID
	}
	found, err := t.rows.Outlines(ctx, ids)
	if err != nil {
		return last, err
	}
	outlines := make(map[uint64]relation.Outline, len(found))
	for _, o := range found {
		outlines[o.AccountID] = o
	}
	looked := int64(0)
	for i, r := range page {
		looked++
		changed, err := t.one(ctx, run, outlines[r.AccountID])
		if err := bad.note(ctx, r.AccountID, err); err != nil {
			return last, err
		}
		if last = r; !changed && i < len(page)-1 {
			continue
		}
		s := Step{Rows: looked, Total: total, Cursor: longCursor(r)}
		if looked = 0; changed {
			s.Done = 1
		}
		if err := run.Step(ctx, s); err != nil {
			return last, err
		}
	}
	return last, nil
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
	for range trimTries {
		done, err := t.edits.Trim(ctx, o.AccountID, t.cap)
		if err != nil {
			return false, fmt.Errorf("trim %d: %w", o.AccountID, err)
		}
		if done.Entries > 0 {
			log.Debug("trimmed", "entries", done.Entries)
			return true, nil
		}
		if short, err := t.short(ctx, o.AccountID); short || err != nil {
			return false, err // somebody else has shortened it
		}
	}
	return false, fmt.Errorf("trim %d: lost to other writers %d times: %w", o.AccountID, trimTries, repo.ErrConflict)
}

// short reports that a row does not need a trim any more.
func (t trimming) short(ctx context.Context, id uint64) (bool, error) {
	now, err := t.rows.Outlines(ctx, []uint64{id})
	if err != nil || len(now) == 0 {
		return true, err
	}
	over, _ := t.over(now[0])
	return over == 0, now[0].Err
}

// over tells how many entries of a row are over the cap, and the length of its
// longest section.
func (t trimming) over(o relation.Outline) (over, longest int) {
	for s := list.Friends; s <= list.Following; s++ {
		over += max(0, o.Len(s)-t.cap)
		longest = max(longest, o.Len(s))
	}
	return over, longest
}

// longCursor writes a place in the index of long rows.
func longCursor(r relation.LongRow) string { return fmt.Sprintf("%d %d", r.Blocks, r.AccountID) }

func parseLong(cursor string) (r relation.LongRow, err error) {
	if cursor == "" {
		return r, nil
	}
	if _, err := fmt.Sscanf(cursor, "%d %d", &r.Blocks, &r.AccountID); err != nil {
		return r, fmt.Errorf("read the cursor %q of trim: %w", cursor, err)
	}
	return r, nil
}
