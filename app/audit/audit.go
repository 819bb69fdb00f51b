package audit

import (
	"context"
	"fmt"
	"slices"
	"time"

	rules "kith/app/relation"
	"kith/repo/relation"
)

// Rows reads relation rows and their archive as they are stored.
type Rows interface {
	Scan(ctx context.Context, after uint64, limit int, each func(relation.Stored) error) error
	Archived(ctx context.Context, after, last uint64, limit int) ([]uint64, error)
	Examine(ctx context.Context, id uint64, locked bool, row func(relation.Stored) error, segment func(relation.Segment) error) error
	About(ctx context.Context) (int64, error)
	Fresh(ctx context.Context, ids []uint64) (map[uint64]relation.Row, error)
	Outlines(ctx context.Context, ids []uint64) (map[uint64]relation.Outline, error)
	Orphans(ctx context.Context, after, last uint64) ([]uint64, error)
	Missing(ctx context.Context, ids []uint64) (map[uint64]bool, error)
}

// Edits works on rows under their locks.
type Edits interface {
	Locked(ctx context.Context, ids []uint64, loaded map[uint64]*relation.Draft, edit func(map[uint64]*relation.Draft) ([]relation.Row, error)) (won bool, err error)
	Rewrite(ctx context.Context, id uint64, told *relation.Told) (relation.Rewritten, error)
	Forget(ctx context.Context, id uint64, ids []uint64, dry bool) (gone []uint64, err error)
}

// Committer carries out edits.
type Committer interface {
	Do(ctx context.Context, ids []uint64, apply func(rows map[uint64]*relation.Draft) error) error
}

// Config is what an audit works with.
type Config struct {
	Rows      Rows
	Edits     Edits
	Committer Committer      // needed to mend
	Relations *rules.Service // needed to mend
	Names     Names          // nil: names are not looked at
	Now       func() time.Time
	// Repair mends what is found; else nothing is written.
	Repair bool
	// Account restricts the audit to one account and its entries; 0 for all.
	Account uint64
	// Report is told each fault as it is found, or mended. Nil tells nobody.
	Report func(Fault)
	// Step is called after each bounded piece of work, and before each mend. It may
	// pause; its error ends the audit. Nil for none.
	Step func(ctx context.Context, at Progress) error
	// Slices is how many checksums each side has, a power of two; 0 is DefaultSlices.
	Slices int
	// Collect bounds the entries gathered in one of the later passes, 24 bytes
	// each; 0 is DefaultCollect.
	Collect int
}

// The values a Config gets where it says nothing.
const (
	DefaultSlices  = 1 << 16
	DefaultCollect = 4 << 20
)

// maxPasses bounds the groups of slices that are looked at closer.
const maxPasses = 16

// maxBad is how many accounts are made anew at once, with what others know.
const maxBad = 1000

// maxAside is how many short rows are remembered until that is done. Of more the
// counts are mended as if nothing were lost.
const maxAside = 100_000

// Progress is how far an audit is.
type Progress struct {
	Phase string // sums, rebuild, nobody, closer, verify, names, accounts
	Rows  int64  // rows looked at in this phase
	Total int64  // about how many there are, 0 unknown
	Mends int64  // mended so far, in all phases
}

// Summary has the numbers of an audit.
type Summary struct {
	Rows      int64 // looked at in the first pass
	Archives  int64 // of which so many have an archive
	Segments  int64
	Edges     int64 // as the followers' rows say
	Blocks    int64
	Requests  int64
	Slices    int64 // that differed
	Passes    int64 // over all rows
	Suspects  int64 // pairs that were judged
	Unlooked  int64 // slices that differed and were not looked at, for lack of room
	Faults    map[Kind]int64
	Found     int64
	Mended    int64
	Names     int64 // that are claimed
	Duration  time.Duration
	FirstPass time.Duration
}

// Remain is how many faults were found and not mended, or may be in slices
// that were not looked at.
func (s Summary) Remain() int64 { return s.Found - s.Mended + s.Unlooked }

// Run audits all rows, or those of one account. The summary is right up to the
// point where an error stopped it. Errors are those of the stores, of Step and
// of ctx.
func Run(ctx context.Context, cfg Config) (Summary, error) {
	a := newAuditor(cfg)
	begun := a.cfg.Now()
	a.start = uint32(begun.Unix())
	err := a.run(ctx)
	if err == nil {
		err = a.names(ctx)
	}
	if err == nil {
		err = a.pause(ctx) // for those who count the mends
	}
	a.sum.Duration = a.cfg.Now().Sub(begun)
	if err != nil {
		return a.sum, fmt.Errorf("audit: %w", err)
	}
	return a.sum, nil
}

// auditor is one audit under way.
type auditor struct {
	cfg      Config
	start    uint32 // unix seconds
	sums     *sums
	aside    map[uint64]*badAccount // to be made anew
	bad      map[uint64]bool        // that were not
	reported map[pair]bool          // whose faults were reported and stay
	pairs    map[pair]bool          // suspects that one row alone shows
	whole    map[uint64]bool        // whose rows were looked at for gaps and have none
	orphans  map[uint64]bool        // that have a row, or segments, but do not exist
	nobodies int64                  // how many these are, also past what orphans holds
	doubted  error                  // why nobody is taken not to exist
	sum      Summary
	total    int64 // rows there are, about
	at       Progress
}

func newAuditor(cfg Config) *auditor {
	if cfg.Slices == 0 {
		cfg.Slices = DefaultSlices
	}
	if cfg.Collect == 0 {
		cfg.Collect = DefaultCollect
	}
	if cfg.Report == nil {
		cfg.Report = func(Fault) {}
	}
	if cfg.Step == nil {
		cfg.Step = func(ctx context.Context, _ Progress) error { return ctx.Err() }
	}
	return &auditor{cfg: cfg, sums: newSums(cfg.Slices), aside: map[uint64]*badAccount{}, bad: map[uint64]bool{}, reported: map[pair]bool{}, pairs: map[pair]bool{},
		whole: map[uint64]bool{}, orphans: map[uint64]bool{}, sum: Summary{Faults: map[Kind]int64{}}}
}

func (a *auditor) run(ctx context.Context) error {
	if a.cfg.Account != 0 {
		return a.one(ctx, a.cfg.Account)
	}
	var err error
	if a.total, err = a.cfg.Rows.About(ctx); err != nil {
		return err
	}
	begun := a.cfg.Now()
	if err := a.firstPass(ctx); err != nil {
		return err
	}
	a.sum.FirstPass = a.cfg.Now().Sub(begun)
	if err := a.rebuild(ctx); err != nil {
		return err
	}
	if err := a.forgetOrphans(ctx); err != nil {
		return err
	}
	if err := a.verifyAll(ctx, a.shown()); err != nil {
		return err
	}
	return a.closer(ctx)
}

// shown returns the suspects that one row alone shows.
func (a *auditor) shown() (out []pair) {
	for p := range a.pairs {
		out = append(out, p)
	}
	clear(a.pairs)
	slices.SortFunc(out, pair.compare)
	return out
}

// report counts a fault and tells it.
func (a *auditor) report(f Fault) {
	a.sum.Found++
	a.sum.Faults[f.Kind]++
	if f.Mended {
		a.sum.Mended++
	}
	a.cfg.Report(f)
}

// step says how far a phase is, and may pause.
func (a *auditor) step(ctx context.Context, phase string, rows, total int64) error {
	a.at = Progress{Phase: phase, Rows: rows, Total: total}
	return a.pause(ctx)
}

// pause is step without anything new: whoever is about to write asks whether to.
func (a *auditor) pause(ctx context.Context) error {
	a.at.Mends = a.sum.Mended
	return a.cfg.Step(ctx, a.at)
}
