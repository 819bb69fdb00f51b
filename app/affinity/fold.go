package affinity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"kith/repo"
	"kith/repo/affinity"
	"kith/repo/interaction"
)

// Rows stores affinity rows. A test makes folds lose.
type Rows interface {
	Fresh(ctx context.Context, ids []uint64) (map[uint64]affinity.Row, error)
	Fold(ctx context.Context, bucket uint16, rows []affinity.Row, batches []interaction.Batch, now uint32) (bool, error)
}

// Bounds of one step.
const (
	maxBatches = 256
	maxEvents  = 2000 // in one transaction, unless a single batch has more
	maxTries   = 10
)

// Folder folds the log into the affinity rows. Any number may run, each event
// is folded once.
type Folder struct {
	cfg  Config
	log  *interaction.Store
	rows Rows
	now  func() time.Time
	out  *slog.Logger
}

// NewFolder makes a Folder; out gets the batches that cannot be read.
func NewFolder(cfg Config, log *interaction.Store, rows Rows, now func() time.Time, out *slog.Logger) *Folder {
	return &Folder{cfg: cfg, log: log, rows: rows, now: now, out: out}
}

// Folded is what a step did.
type Folded struct {
	Events, Batches, Rows int
	// More says that the bucket may have more batches to fold.
	More bool
}

// Waiting counts the events that the log holds of buckets from the first to the last.
func (f *Folder) Waiting(ctx context.Context, first, last uint16) (n int64, err error) {
	const step = 64 // buckets in one statement
	for at := int(first); at <= int(last) && err == nil; at += step {
		var some int64
		some, err = f.log.Count(ctx, uint16(at), uint16(min(at+step-1, int(last))))
		n += some
	}
	return n, err
}

// Next returns the first bucket at or after the given one that has something to
// fold; false where none has.
func (f *Folder) Next(ctx context.Context, bucket uint16) (uint16, bool, error) {
	next, err := f.log.Next(ctx, bucket)
	if errors.Is(err, repo.ErrNotFound) {
		return 0, false, nil
	}
	return next, err == nil, err
}

// Look counts what Step would do with a whole bucket, and writes nothing. It does not
// count batches that cannot be read.
func (f *Folder) Look(ctx context.Context, bucket uint16, below uint64) (would Folded, err error) {
	actors := map[uint64]bool{}
	for after, more := uint64(0), true; more; {
		batches, err := f.log.Load(ctx, bucket, after, below, maxBatches)
		if err != nil {
			return Folded{}, err
		}
		for _, b := range batches {
			after = b.ID
			some, err := b.Decode()
			if err != nil {
				continue
			}
			would.Batches++
			would.Events += len(some)
			for _, e := range some {
				actors[e.Actor] = true
			}
		}
		more = len(batches) == maxBatches
	}
	would.Rows = len(actors)
	return would, nil
}

// Before returns the first batch id that a run which starts now leaves to the next run.
func (f *Folder) Before() uint64 { return interaction.FirstID(f.now().UnixMilli() + 1) }

// Step folds the oldest batches of a bucket whose ids are below the given one,
// as many as one short transaction takes.
func (f *Folder) Step(ctx context.Context, bucket uint16, below uint64) (Folded, error) {
	for range maxTries {
		done, won, err := f.try(ctx, bucket, below)
		if err != nil || won {
			return done, err
		}
	}
	return Folded{}, fmt.Errorf("fold interactions of bucket %d: lost %d swaps: %w", bucket, maxTries, repo.ErrConflict)
}

func (f *Folder) try(ctx context.Context, bucket uint16, below uint64) (Folded, bool, error) {
	batches, err := f.log.Load(ctx, bucket, 0, below, maxBatches)
	if err != nil {
		return Folded{}, false, err
	}
	taken, events, err := f.decode(ctx, batches)
	if err != nil {
		return Folded{}, false, err
	}
	done := Folded{Events: len(events), Batches: len(taken), More: len(taken) < len(batches) || len(batches) == maxBatches}
	if len(taken) == 0 {
		return done, true, nil
	}
	byActor := map[uint64][]interaction.Event{}
	for _, e := range events {
		byActor[e.Actor] = append(byActor[e.Actor], e)
	}
	ids := slices.Sorted(maps.Keys(byActor))
	old, err := f.rows.Fresh(ctx, ids)
	if err != nil {
		return Folded{}, false, err
	}
	rows := make([]affinity.Row, len(ids))
	for i, id := range ids {
		rows[i] = f.cfg.add(old[id], byActor[id])
	}
	done.Rows = len(rows)
	won, err := f.rows.Fold(ctx, bucket, rows, taken, uint32(f.now().Unix()))
	return done, won, err
}

// decode reads batches up to the bound of a step. It drops one that cannot be read, which
// would block its bucket for ever.
func (f *Folder) decode(ctx context.Context, batches []interaction.Batch) (taken []interaction.Batch, events []interaction.Event, err error) {
	for i, b := range batches {
		if i > 0 && len(events)+int(b.N) > maxEvents {
			break
		}
		some, err := b.Decode()
		if err != nil {
			f.out.Error("batch of interactions cannot be read", "bucket", b.Bucket, "batch", b.ID, "events", b.N, "err", err)
			if err := f.log.Drop(ctx, b); err != nil {
				return nil, nil, err
			}
			continue
		}
		taken = append(taken, b)
		events = append(events, some...)
	}
	return taken, events, nil
}
