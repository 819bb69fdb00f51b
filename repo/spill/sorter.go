// Package spill sorts more records than fit in memory.
//
// A Sorter takes fixed-size records in any order and gives them back sorted by
// (Hi, Lo, Val), as often as asked. While they fit into its share of memory they
// stay there; else each full buffer is sorted and written to disk as a run, and
// walking merges the runs with a heap.
//
//	Add ──► buffer ──full──► sort ──► run 1, run 2, … ──► heap ──► Walk
//	           └── never full: sort ────────────────────────────────┘
//
// Equal records are all kept; what a repeat means is for the caller to say.
//
// A buffer is split by the top bits in which its Hi differ, into up to 2,048 parts, which
// all processors sort: about three times as fast as one comparison sort, and without a
// second buffer.
//
// A run is a file of blocks of up to 3,276 records:
//
//	4 bytes  records in the block, little-endian
//	4 bytes  CRC-32C of what follows
//	20 bytes a record: Hi, Lo, Val, little-endian
//
// Reading checks the counts, the sums and the order: other bytes than were written are
// an error (ErrDamaged), not wrong records. 64 runs of one level are merged into one of
// the next at once, so that few files are open however much is sorted. A run's file loses
// its name as soon as it is made, so that nothing is left behind, also after kill -9.
package spill

import (
	"context"
	"errors"
	"fmt"
)

// fanIn is how many runs of one level are merged into one of the next.
const fanIn = 64

// minRecords is the smallest buffer.
const minRecords = 1 << 12

// Config says where and with how much memory to sort.
type Config struct {
	// Dir is where runs are written, empty means os.TempDir.
	Dir string
	// Memory bounds the buffer in bytes; reading back takes 64 KiB a run,
	// at most some 12 MiB, on top. The least is about 100 KB.
	Memory int64
}

// Sorter sorts records: Add them all, Sort, then Walk as often as needed, and
// Close. It belongs to one goroutine until it is sorted; then walks may run at
// the same time.
type Sorter struct {
	dir    string
	most   int
	buf    []Record
	runs   []*run
	n      int64
	sorted bool
}

// New makes an empty sorter.
func New(c Config) *Sorter {
	return &Sorter{dir: c.Dir, most: int(max(c.Memory/memoryBytes, minRecords))}
}

// Add takes one record. An error comes from the disk or from ctx.
func (s *Sorter) Add(ctx context.Context, r Record) error {
	if len(s.buf) == cap(s.buf) {
		if err := s.room(ctx); err != nil {
			return err
		}
	}
	s.buf = append(s.buf, r)
	s.n++
	return nil
}

// room makes room for a record: a larger buffer, or an empty one.
func (s *Sorter) room(ctx context.Context) error {
	if s.sorted {
		return errors.New("spill: add after sort")
	}
	if cap(s.buf) < s.most {
		// Growing by four keeps the old and the new buffer together within the bound.
		grown := make([]Record, len(s.buf), min(s.most, max(minRecords, 4*cap(s.buf))))
		copy(grown, s.buf)
		s.buf = grown
		return nil
	}
	return s.spill(ctx)
}

// Len returns how many records were added.
func (s *Sorter) Len() int64 { return s.n }

// Spilled returns how many files the records stand in, 0 while all are in memory.
func (s *Sorter) Spilled() int { return len(s.runs) }

// Sort ends the adding. What was spilled stays on disk, and then the buffer
// is given back too.
func (s *Sorter) Sort(ctx context.Context) error {
	s.sorted = true
	if len(s.runs) > 0 {
		err := s.spill(ctx)
		s.buf = nil
		return err
	}
	if err := sortRecords(ctx, s.buf); err != nil {
		return fmt.Errorf("sort %d records: %w", len(s.buf), err)
	}
	s.buf = s.buf[:len(s.buf):len(s.buf)]
	return nil
}

// spill writes the buffer as a run and empties it.
func (s *Sorter) spill(ctx context.Context) error {
	if len(s.buf) == 0 {
		return nil
	}
	if err := sortRecords(ctx, s.buf); err != nil {
		return fmt.Errorf("sort %d records: %w", len(s.buf), err)
	}
	r, err := writeRun(ctx, s.dir, 0, &memory{s.buf})
	if err != nil {
		return err
	}
	s.runs = append(s.runs, r)
	s.buf = s.buf[:0]
	return s.merge(ctx)
}

// merge makes one run of the last ones while there are enough of one level.
func (s *Sorter) merge(ctx context.Context) error {
	for {
		from := len(s.runs) - fanIn
		if from < 0 || s.runs[from].level != s.runs[len(s.runs)-1].level {
			return nil
		}
		old := s.runs[from:]
		w := newWalk(old, nil)
		r, err := writeRun(ctx, s.dir, old[0].level+1, w)
		if err != nil {
			return err
		}
		err = closeAll(old)
		s.runs = append(s.runs[:from], r)
		if err != nil {
			return fmt.Errorf("merge sort files: %w", err)
		}
	}
}

// Walk starts reading all records in order. Sort must have been called.
func (s *Sorter) Walk() *Walk { return newWalk(s.runs, s.buf) }

// Close gives memory and disk back. Walks end with it.
func (s *Sorter) Close() error {
	s.sorted, s.buf = true, nil
	err := closeAll(s.runs)
	s.runs = nil
	if err != nil {
		return fmt.Errorf("remove sort files: %w", err)
	}
	return nil
}

func closeAll(runs []*run) error {
	var errs []error
	for _, r := range runs {
		errs = append(errs, r.close())
	}
	return errors.Join(errs...)
}
