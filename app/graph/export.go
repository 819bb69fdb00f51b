package graph

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"kith/app/intake"
	"kith/repo/list"
	"kith/repo/relation"
)

// ExportConfig says from where to where to export.
type ExportConfig struct {
	Rows *relation.Store
	// Writer gets the lines, in large pieces.
	Writer io.Writer
	// Progress is called with how many edges are written; it may be nil.
	Progress func(Progress)
}

// Export writes every edge as a line `follower followee [unixtime]`, without the
// time where it is unknown, and returns how many. An edge is taken from its
// follower's row. Each row is read at a moment of its own, the rows in order of
// (bucket, account_id); memory is bounded. A row whose list cannot be read is left
// out, and the error at the end, ErrPartial, says so. Other errors are those of the
// store, of the writer and of ctx, and then what was written is not the whole.
func Export(ctx context.Context, cfg ExportConfig) (edges int64, err error) {
	x := exporter{cfg: cfg, to: bufio.NewWriterSize(cfg.Writer, 256<<10)}
	if err := x.run(ctx); err != nil {
		return x.edges, fmt.Errorf("export: %w", err)
	}
	return x.edges, nil
}

type exporter struct {
	cfg   ExportConfig
	to    *bufio.Writer
	line  []byte
	edges int64
	bad   []error // rows that cannot be read
}

func (x *exporter) run(ctx context.Context) error {
	for after := uint64(0); ; {
		outlines, err := x.cfg.Rows.WalkOutlines(ctx, after, maxAccounts)
		if err != nil {
			return err
		}
		if len(outlines) == 0 {
			break
		}
		after = outlines[len(outlines)-1].AccountID
		c, sizes := make(chunk, len(outlines)), make(map[uint64]relation.Outline, len(outlines))
		for i, m := range outlines {
			c[i].id, sizes[m.AccountID] = m.AccountID, m
		}
		for part := range c.parts(sizes, maxChunkBytes) {
			if err := x.rows(ctx, part.ids()); err != nil {
				return err
			}
		}
		if x.cfg.Progress != nil {
			x.cfg.Progress(Progress{Phase: "export", Done: x.edges})
		}
	}
	err := x.to.Flush()
	if len(x.bad) > 0 {
		err = errors.Join(err, intake.Partial(fmt.Errorf("all but the follows of %d accounts are written, whose lists cannot be read: %w", len(x.bad), x.bad[0])))
	}
	return err
}

// rows writes the edges of some rows.
func (x *exporter) rows(ctx context.Context, ids []uint64) error {
	rows, err := x.cfg.Rows.Fresh(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		views, err := x.views(ctx, rows[id])
		if err != nil {
			x.bad = append(x.bad, err)
			continue
		}
		for _, v := range views {
			for _, s := range []list.Section{list.Friends, list.Following} {
				if err := x.section(id, v, s); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// views returns the list of a row and, where there are follows in its archive, those
// too.
func (x *exporter) views(ctx context.Context, r relation.Row) (archive []list.View, err error) {
	if len(r.Archived) > 0 {
		if r, archive, err = x.cfg.Rows.Whole(ctx, r.ID); err != nil {
			return nil, err
		}
	}
	v, err := r.View()
	return append([]list.View{v}, archive...), err
}

// section writes the follows of one section.
func (x *exporter) section(id uint64, v list.View, s list.Section) error {
	var failed error
	err := v.Each(s, func(other uint64, mine, _ uint32) bool {
		x.line = strconv.AppendUint(x.line[:0], id, 10)
		x.line = strconv.AppendUint(append(x.line, ' '), other, 10)
		if mine != 0 {
			x.line = strconv.AppendUint(append(x.line, ' '), uint64(mine), 10)
		}
		_, failed = x.to.Write(append(x.line, '\n'))
		x.edges++
		return failed == nil
	})
	if err != nil {
		return fmt.Errorf("list of account %d: %w", id, err)
	}
	return failed
}
