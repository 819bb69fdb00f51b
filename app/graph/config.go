package graph

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"kith/app/intake"
	rules "kith/app/relation"
	"kith/repo/list"
	"kith/repo/relation"
)

// The errors that are not those of the stores and the disk, see package intake.
var (
	ErrRejects    = intake.ErrRejects
	ErrUnreadable = intake.ErrUnreadable
	ErrPartial    = intake.ErrPartial
)

// Accounts makes accounts that do not exist yet, 500 at a time at most, and knows
// which must not come back.
type Accounts interface {
	Missing(ctx context.Context, ids []uint64) (map[uint64]bool, error)
	Ensure(ctx context.Context, ids []uint64, createdAt uint64) (made int, err error)
	Erased(ctx context.Context, most int) ([]uint64, error)
}

// Rows reads and swaps relation rows.
type Rows interface {
	Outlines(ctx context.Context, ids []uint64) (map[uint64]relation.Outline, error)
	Vers(ctx context.Context, ids []uint64) (map[uint64]uint64, error)
	Fresh(ctx context.Context, ids []uint64) (map[uint64]relation.Row, error)
	OpenFor(ctx context.Context, row relation.Row, edges []list.Edge) (*relation.Draft, []list.Edge, error)
	Pack(d *relation.Draft) (relation.Row, error)
	Swap(ctx context.Context, rows []relation.Row) (won bool, err error)
	MergeLocked(ctx context.Context, id uint64, edges []list.Edge, merge func(d *relation.Draft, left []list.Edge)) (relation.Row, error)
}

// ImportConfig says what to import and into what.
type ImportConfig struct {
	intake.Config

	Accounts  Accounts
	Rows      Rows
	Relations *rules.Service   // repairs what disagrees in the end
	Log       *slog.Logger     // nil drops it
	Now       func() time.Time // dates made accounts
}

// Progress is how far a phase is: read, sort, write, check, settle; export. Done and Total
// are bytes of the file in read, sides of edges in write and settle, rows in check, edges in
// export.
type Progress = intake.Progress

// Summary has every number of an import. Each line of the file is counted once
// in Comments, Rejected, SelfFollows, Repeats or Edges; each edge once in
// EdgesNew, EdgesHeld or Blocked. A dry run has those of the lines, and
// AccountsMade is how many it would make.
type Summary struct {
	DryRun bool

	Lines       int64
	Comments    int64 // and empty lines
	Rejected    int64
	SelfFollows int64
	Repeats     int64
	Edges       int64 // distinct and valid

	EdgesNew  int64
	EdgesHeld int64 // were there already
	Blocked   int64 // left out because one blocks the other

	AccountsMade int64
	RowsWritten  int64
	LostSwaps    int64 // statements that came too late: others had changed a row
	RowsMoved    int64 // changed by others while the import ran
	Settled      int64 // edges whose two sides had to be made to agree
	Spilled      int   // sorted runs on disk, 0: all fitted in memory
	Duration     time.Duration
}

// String writes the summary, a number a line.
func (s Summary) String() string {
	var b strings.Builder
	put := func(name string, v any) { fmt.Fprintf(&b, "%-26s%v\n", name, v) }
	put("lines", s.Lines)
	put("comments and empty lines", s.Comments)
	put("rejected", s.Rejected)
	put("self-follows", s.SelfFollows)
	put("repeats", s.Repeats)
	put("edges", s.Edges)
	if s.DryRun {
		put("accounts to be made", s.AccountsMade)
	} else {
		put("edges new", s.EdgesNew)
		put("edges held already", s.EdgesHeld)
		put("edges left out, blocked", s.Blocked)
		put("accounts made", s.AccountsMade)
		put("rows written", s.RowsWritten)
		put("lost swaps", s.LostSwaps)
		put("rows changed by others", s.RowsMoved)
		put("edges settled", s.Settled)
	}
	put("duration", s.Duration.Round(time.Millisecond))
	return b.String()
}

func (c ImportConfig) withDefaults() ImportConfig {
	c.Config = c.Config.WithDefaults()
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c
}
