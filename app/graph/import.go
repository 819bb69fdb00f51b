package graph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"kith/repo/spill"
)

// importer is one import under way.
type importer struct {
	cfg    ImportConfig
	limits limits
	phase  string

	edges    *spill.Sorter // both sides of every edge
	vers     *spill.Sorter // the ver each row was left with
	suspects *spill.Sorter // what rows held that the file says otherwise
	touched  *spill.Sorter // rows that moved on

	mu   sync.Mutex // guards what follows, and vers and suspects
	sum  Summary
	done int64
	told time.Time
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
// ErrRejects, the error of the file, or that of ctx; the package doc says what
// holds then.
func Import(ctx context.Context, cfg ImportConfig) (Summary, error) {
	cfg = cfg.withDefaults()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the reading ahead
	im := &importer{cfg: cfg, limits: limitsOf(cfg.Memory)}
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
	for _, phase := range []struct {
		name string
		do   func(context.Context) error
		left string // what an error leaves behind
	}{
		{"read", im.read, "nothing was imported"},
		{"sort", im.sort, "nothing was imported"},
		{"accounts", im.people, "no edge was imported"},
		{"write", im.write, "some edges are imported and counts may be wrong until it is run again"},
		{"check", im.check, "counts may be wrong until it is run again"},
		{"settle", im.settle, "counts may be wrong until it is run again"},
	} {
		im.phase, im.done, im.told = phase.name, 0, time.Time{}
		im.cfg.Log.Debug("import", "phase", phase.name)
		err := phase.do(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return fmt.Errorf("import interrupted in phase %s, %s: %w", phase.name, phase.left, context.Cause(ctx))
		case errors.Is(err, ErrRejects):
			return err
		case err != nil:
			return fmt.Errorf("import, phase %s, %s: %w", phase.name, phase.left, err)
		}
	}
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// read takes the lines of the file.
func (im *importer) read(ctx context.Context) error {
	in := openInput(ctx, im.cfg.Reader)
	bad := newRejects(im.cfg.Rejects, im.cfg.MaxRejects)
	for {
		text, end, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return errors.Join(err, bad.flush())
		}
		im.sum.Lines++
		if im.sum.Lines == 1 {
			text = bytes.TrimPrefix(text, byteOrderMark)
		}
		if im.sum.Lines%4096 == 0 {
			im.tell(in.taken.Load(), in.size)
		}
		if err := im.line(ctx, text, end, bad); err != nil {
			return err
		}
	}
	im.tell(in.taken.Load(), in.size)
	return bad.flush()
}

// line takes one line.
func (im *importer) line(ctx context.Context, text []byte, end ending, bad *rejects) error {
	e, is := parseLine(text)
	switch {
	case end == streamCut:
		im.sum.CutShort = true
		is = cutShort // even if it parses: the number may go on
	case end == fileEnd && is != isEdge && is != isComment:
		is = cutShort
	case end == tooLong && is != isComment:
		is = longLine
	}
	switch {
	case is == isComment:
		im.sum.Comments++
	case is != isEdge:
		im.sum.Rejected++
		return bad.add(im.sum.Lines, is, text)
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
	im.tell(0, im.edges.Len())
	err := im.edges.Sort(ctx)
	im.sum.Spilled = im.edges.Spilled()
	return err
}

// tell reports progress, seldom enough to cost nothing.
func (im *importer) tell(done, total int64) {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.report(done, total)
}

// report is tell for those who hold the lock.
func (im *importer) report(done, total int64) {
	now := time.Now()
	if now.Sub(im.told) < 100*time.Millisecond && done != total {
		return
	}
	im.told = now
	im.cfg.Progress(Progress{Phase: im.phase, Done: done, Total: total})
}
