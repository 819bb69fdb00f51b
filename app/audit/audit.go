package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	rules "kith/app/relation"
	"kith/repo/account"
	"kith/repo/relation"
)

// Config is what an audit works with.
type Config struct {
	Rows      *relation.Store
	Relations *rules.Service // repairs pairs
	Names     *account.Store // nil: names are not looked at
	Posts     *Posts         // nil: posts are not looked at
	Now       func() time.Time
	// Repair repairs what is found; else nothing is written.
	Repair bool
	// Account restricts the audit to one account and its entries; 0 for all.
	Account uint64
	// Rebuild rebuilds Account from what the other rows say, whatever is wrong with it.
	Rebuild bool
	// Report is given each fault as it is found, or repaired. Nil for none.
	Report func(Fault)
	// Step is called after each bounded piece of work, and before each write. It may
	// pause; its error ends the audit. Nil for none.
	Step func(ctx context.Context, at Progress) error
	// Slices is how many checksums each side has of each kind, a power of two; 0 is
	// 65,536. Tests set fewer.
	Slices int
	// Collect bounds the entries that one of the later passes remembers, 24 bytes
	// each; 0 is 4 Mi.
	Collect int
}

const (
	// maxPasses bounds the groups of slices that are read again.
	maxPasses = 16
	// maxRebuilt is how many accounts one audit rebuilds.
	maxRebuilt = 1000
	// maxNoted bounds each of the other sets of accounts that an audit remembers.
	maxNoted = 100_000
)

// Progress is how far an audit is.
type Progress struct {
	Phase   string // audit, rebuild, differing, verify, others, names, nameless, post rows
	Rows    int64  // rows looked at in this phase
	Total   int64  // about how many there are, 0 unknown
	Repairs int64  // so far, in all phases
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
	Suspects  int64 // pairs that were looked at closely
	Unlooked  int64 // slices that differed, pairs and accounts that were not looked at, for lack of room
	Faults    map[Kind]int64
	Found     int64
	Repaired  int64
	Names     int64 // that are claimed
	Posts     int64 // rows about posts
	Duration  time.Duration
	FirstPass time.Duration
}

// Remain is how many faults were found and not repaired, or may be in what was not
// looked at.
func (s Summary) Remain() int64 { return s.Found - s.Repaired + s.Unlooked }

// Run audits all rows, or those of one account. The summary is right up to the
// point where an error stopped it. Errors are those of the stores, of Step and
// of ctx.
func Run(ctx context.Context, cfg Config) (Summary, error) {
	if cfg.Report == nil {
		cfg.Report = func(Fault) {}
	}
	if cfg.Step == nil {
		cfg.Step = func(ctx context.Context, _ Progress) error { return ctx.Err() }
	}
	cfg.Slices = cmp.Or(cfg.Slices, 1<<16)
	cfg.Collect = cmp.Or(cfg.Collect, 4<<20)
	begun := cfg.Now()
	a := &auditor{cfg: cfg, start: uint32(begun.Unix()), sums: newSums(cfg.Slices), rebuilds: map[uint64]*rebuilding{}, bad: map[uint64]bool{}, pairs: map[pair]bool{},
		short: map[uint64][]Fault{}, unsound: map[uint64]bool{}, existed: map[uint64]bool{}, lacking: map[uint64]int{}, unknown: map[uint64][]uint64{}, sum: Summary{Faults: map[Kind]int64{}}}
	err := a.run(ctx)
	if err == nil {
		err = a.names(ctx)
	}
	if err == nil {
		err = a.posts(ctx)
	}
	if err == nil {
		err = a.pause(ctx) // reports the last repairs
	}
	a.sum.Duration = cfg.Now().Sub(begun)
	if err != nil {
		return a.sum, fmt.Errorf("audit: %w", err)
	}
	return a.sum, nil
}

// auditor is one audit under way.
type auditor struct {
	cfg   Config
	start uint32 // unix seconds
	total int64  // rows there are, about
	at    Progress
	sum   Summary
	sums  *sums

	rebuilds   map[uint64]*rebuilding // to be rebuilt
	bad        map[uint64]bool        // were not: their faults are reported and stay
	short      map[uint64][]Fault     // count more of what others did than there is: to be counted anew at the end
	unsound    map[uint64]bool        // whether entries of a row are lost, as far as it was looked at
	pairs      map[pair]bool          // suspects that one row alone shows
	existed    map[uint64]bool        // unknown accounts that existed once: they have a row, an archive or many who name them
	lacking    map[uint64]int         // how much of what others say they did their own rows lack
	unknown    map[uint64][]uint64    // unknown accounts by the rows that name them
	orphanRows int64                  // rows and archives of unknown accounts, also past what existed holds
	doubt      error                  // why no account counts as unknown
}

func (a *auditor) run(ctx context.Context) (err error) {
	if a.cfg.Account != 0 {
		return a.auditAccount(ctx, a.cfg.Account)
	}
	if a.total, err = a.cfg.Rows.About(ctx); err != nil {
		return err
	}
	if err := a.firstPass(ctx); err != nil {
		return err
	}
	if err := a.rebuildAll(ctx); err != nil {
		return err
	}
	suspects, err := a.differing(ctx)
	if err != nil {
		return err
	}
	if err := a.verify(ctx, suspects); err != nil {
		return err
	}
	return a.finish(ctx)
}

// firstPass adds every entry to the checksums and checks each account by itself.
func (a *auditor) firstPass(ctx context.Context) error {
	begun := a.cfg.Now()
	w := walk{auditor: a, phase: "audit", wrong: a.checkAccount, each: func(e entry) {
		if !a.recent(e) {
			a.sums.count(e, 1)
		}
	}}
	err := w.run(ctx)
	a.sum.Rows, a.sum.Archives, a.sum.Segments = w.rows, w.archives, w.segments
	a.sum.Edges, a.sum.Blocks, a.sum.Requests = a.sums.total(follow), a.sums.total(block), a.sums.total(request)
	a.sum.FirstPass = a.cfg.Now().Sub(begun)
	a.doubt = plausible(a.orphanRows, w.rows)
	return err
}

// longest is how long a pass may take: a follow dated later than that after the start is
// taken for one with a wrong time.
const longest = 48 * 60 * 60

// recent reports whether an entry was made since the audit began, if its time
// is true.
func (a *auditor) recent(e entry) bool {
	return e.kind == follow && e.at > a.start && e.at-a.start <= longest
}

// checkAccount reads an account again, under its lock, and repairs the faults that it
// shows by itself. What takes the rows of others is left to rebuildAll.
func (a *auditor) checkAccount(ctx context.Context, id uint64) error {
	if a.existed[id] {
		return nil // forgetUnknown empties it
	}
	x, err := a.examine(ctx, id, true)
	if err != nil {
		return err
	}
	for _, other := range x.contradictory {
		a.suspect(id, other)
	}
	switch {
	case x.damaged || x.shortOwn:
		a.queueRebuild(x)
		return nil
	case x.short && len(a.short) < maxNoted:
		a.short[id], a.unsound[id] = x.faults, true
		return nil
	}
	return a.recount(ctx, id, x.faults)
}

// recount repairs what needs no other row: counts, columns and headers of segments.
func (a *auditor) recount(ctx context.Context, id uint64, faults []Fault) (err error) {
	if len(faults) == 0 {
		return nil
	}
	if a.cfg.Repair {
		if err := a.pause(ctx); err != nil {
			return err
		}
		_, err = a.cfg.Rows.Rebuild(ctx, id, nil)
	}
	a.reportAll(faults, err)
	return ctx.Err()
}

// finish repairs what had to wait until all else is right: counts that are too large, and
// unknown accounts. Until then both show that a row has lost entries.
func (a *auditor) finish(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(a.short)) {
		if err := a.recount(ctx, id, a.short[id]); err != nil {
			return err
		}
	}
	return a.forgetUnknown(ctx)
}

// reportAll reports faults that were, if Repair is set, repaired together.
func (a *auditor) reportAll(faults []Fault, err error) {
	for _, f := range faults {
		f.Repaired, f.Err = a.cfg.Repair && err == nil, err
		a.report(f)
	}
}

func (a *auditor) report(f Fault) {
	a.sum.Found++
	a.sum.Faults[f.Kind]++
	if f.Repaired {
		a.sum.Repaired++
	}
	a.cfg.Report(f)
}

// step reports how far a phase is, and may pause.
func (a *auditor) step(ctx context.Context, phase string, rows, total int64) error {
	a.at = Progress{Phase: phase, Rows: rows, Total: total}
	return a.pause(ctx)
}

// pause is step without progress, before a write.
func (a *auditor) pause(ctx context.Context) error {
	a.at.Repairs = a.sum.Repaired
	return a.cfg.Step(ctx, a.at)
}
