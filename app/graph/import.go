package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"kith/app/intake"
	"kith/repo/spill"
)

// importer is one import under way.
type importer struct {
	cfg    ImportConfig
	limits limits
	phases intake.Phases

	edges    *spill.Sorter // both sides of every edge
	vers     *spill.Sorter // the ver each row was left with
	suspects *spill.Sorter // what rows held that the file says otherwise
	touched  *spill.Sorter // rows that moved on
	erased   []uint64      // accounts that must not come back, sorted

	mu  sync.Mutex // guards what follows, and vers and suspects
	sum Summary
}

// limits are how much is taken at once.
type limits struct {
	accounts int   // of a chunk
	bytes    int   // of the lists that are read or written together
	inFlight int64 // of all chunks
}

// maxChunkBytes keeps a statement well below the packet limit of 16 MiB.
const maxChunkBytes = 4 << 20

func limitsOf(memory int64) limits {
	return limits{accounts: maxAccounts, bytes: int(min(max(memory/64, 64<<10), maxChunkBytes)), inFlight: max(memory/8, 1<<20)}
}

// Import reads a follow graph into the database and returns what it did, also
// where it fails. Apart from the errors of the stores and the disk it returns
// ErrRejects, ErrUnreadable, or the error of ctx; with ErrPartial around it where
// something was written. The package doc says what holds then.
func Import(ctx context.Context, cfg ImportConfig) (Summary, error) {
	cfg = cfg.withDefaults()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the reading ahead
	im := &importer{cfg: cfg, phases: intake.Phases{Tell: cfg.Progress}, limits: limitsOf(cfg.Memory), sum: Summary{DryRun: cfg.DryRun}}
	start := time.Now()
	im.edges = im.sorter(cfg.Memory / 4) // Go lets garbage double what is held
	im.vers = im.sorter(cfg.Memory / 32)
	im.suspects = im.sorter(cfg.Memory / 32)
	im.touched = im.sorter(cfg.Memory / 32)
	err := im.run(ctx)
	for _, s := range []*spill.Sorter{im.edges, im.vers, im.suspects, im.touched} {
		err = errors.Join(err, s.Close())
	}
	im.sum.Duration = time.Since(start)
	return im.sum, err
}

func (im *importer) sorter(memory int64) *spill.Sorter {
	return spill.New(spill.Config{Dir: im.cfg.TempDir, Memory: memory})
}

func (im *importer) run(ctx context.Context) error {
	const inexact = "counts may be wrong until it is run again"
	phases := []intake.Phase{{Name: "read", Do: im.read}, {Name: "sort", Do: im.sort}, {Name: "accounts", Do: im.accounts}}
	if !im.cfg.DryRun {
		phases[2].Left = "no edge was imported"
		phases = append(phases, intake.Phase{Name: "write", Do: im.write, Left: "some edges are imported and " + inexact},
			intake.Phase{Name: "check", Do: im.check, Left: inexact}, intake.Phase{Name: "settle", Do: im.settle, Left: inexact})
	}
	return im.phases.Run(ctx, phases...)
}

// read takes the lines of the file.
func (im *importer) read(ctx context.Context) error {
	if err := im.findErased(ctx); err != nil {
		return err
	}
	bad := intake.NewRejects(im.cfg.Rejects, im.cfg.MaxRejects)
	err := im.lines(ctx, bad)
	if err == nil {
		err = bad.Enough(im.sum.SelfFollows + im.edges.Len()/2)
	}
	return errors.Join(err, bad.Flush())
}

// leastErased is how many erased accounts any import can know.
const leastErased = 64 << 10

// findErased reads which accounts must not come back. Their ids may take a
// sixteenth of the memory.
func (im *importer) findErased(ctx context.Context) error {
	most := max(int(im.cfg.Memory/16/8), leastErased)
	var err error
	im.erased, err = intake.Retry(ctx, func(ctx context.Context) ([]uint64, error) { return im.cfg.Accounts.Erased(ctx, most+1) })
	if len(im.erased) > most {
		return fmt.Errorf("more than %d accounts are erased, and their ids do not fit: give the import more memory", most)
	}
	slices.Sort(im.erased)
	return err
}

// isErased reports whether an edge names an erased account.
func (im *importer) isErased(e edge) bool {
	if len(im.erased) == 0 {
		return false
	}
	_, follower := slices.BinarySearch(im.erased, e.follower)
	_, followee := slices.BinarySearch(im.erased, e.followee)
	return follower || followee
}

// lines takes the lines up to the end of the file.
func (im *importer) lines(ctx context.Context, bad *intake.Rejects) error {
	in := intake.Open(ctx, im.cfg.Reader, maxLine)
	for {
		text, end, err := in.Next()
		if err == io.EOF {
			im.phases.Reach(in.Taken(), in.Size)
			return nil
		}
		if err != nil {
			return err
		}
		im.sum.Lines++
		if im.sum.Lines%4096 == 0 {
			im.phases.Reach(in.Taken(), in.Size)
		}
		if err := im.line(ctx, text, end, bad); err != nil {
			return err
		}
	}
}

// line takes one line.
func (im *importer) line(ctx context.Context, text []byte, end intake.Ending, bad *intake.Rejects) error {
	e, is := parseLine(text)
	switch {
	case end == intake.FileEnd && is != isEdge && is != isComment:
		is = cutShort
	case end == intake.TooLong && is != isComment:
		is = longLine
	case is == isEdge && im.isErased(e):
		is = erasedID
	}
	switch {
	case is == isComment:
		im.sum.Comments++
	case is != isEdge:
		im.sum.Rejected++
		return bad.Add(im.sum.Lines, string(is), text)
	case e.follower == e.followee:
		im.sum.SelfFollows++
	default:
		out, in := e.sides()
		if err := im.edges.Add(ctx, out); err != nil {
			return err
		}
		return im.edges.Add(ctx, in)
	}
	return nil
}

// sort ends the reading.
func (im *importer) sort(ctx context.Context) error {
	im.phases.More(0, im.edges.Len())
	err := im.edges.Sort(ctx)
	im.sum.Spilled = im.edges.Spilled()
	return err
}

// accounts makes the accounts that do not exist yet, all of them before any row
// names one: an id in a row that is no account is a fault, and an audit repairs it. A
// dry run counts them.
func (im *importer) accounts(ctx context.Context) error {
	return im.eachChunk(ctx, nil, func(ctx context.Context, c chunk, _ turn) error {
		made, err := intake.Retry(ctx, func(ctx context.Context) (int, error) {
			if im.cfg.DryRun {
				missing, err := im.cfg.Accounts.Missing(ctx, c.ids())
				return len(missing), err
			}
			return im.cfg.Accounts.Ensure(ctx, c.ids(), uint64(im.cfg.Now().UnixMilli()))
		})
		if err != nil {
			return err
		}
		im.mu.Lock()
		defer im.mu.Unlock()
		im.sum.AccountsMade += int64(made)
		im.phases.More(c.edges(), im.edges.Len())
		return nil
	})
}
