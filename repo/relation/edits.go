package relation

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
)

// Edits is the store as a committer sees it: drafts in, drafts out.
type Edits struct {
	store *Store
	now   func() time.Time
}

// NewEdits makes the committer's side of a store; now dates the rows.
func NewEdits(s *Store, now func() time.Time) *Edits { return &Edits{store: s, now: now} }

// Load opens the rows of ids, from the database if fresh, else through the
// cache. Whoever is answered from fresh rows is not to read older ones
// afterwards, so the cache is told of them.
func (e *Edits) Load(ctx context.Context, ids []uint64, fresh bool) (map[uint64]*Draft, error) {
	if !fresh {
		rows, err := e.store.Rows(ctx, ids)
		if err != nil {
			return nil, err
		}
		drafts, err := openAll(slices.Values(rows))
		if err == nil {
			return drafts, nil
		}
		e.store.forget(ctx, rows) // the database decides whether its row is bad
	}
	rows, err := e.store.Fresh(ctx, ids)
	if err != nil {
		return nil, err
	}
	e.store.Tell(ctx, slices.Collect(maps.Values(rows)))
	return openAll(maps.Values(rows))
}

// more opens drafts anew with what they turned out to want from the archive;
// false where they want nothing.
func more(ctx context.Context, q sqlx.QueryerContext, drafts map[uint64]*Draft) (map[uint64]*Draft, bool, error) {
	if !lacking(drafts) {
		return drafts, false, nil
	}
	next, err := recallAll(ctx, q, drafts)
	return next, true, err
}

func lacking(drafts map[uint64]*Draft) bool {
	for _, d := range drafts {
		if d.Lacks() {
			return true
		}
	}
	return false
}

// Locked opens the rows of ids while it holds their locks, lets edit work on
// them and swaps what edit returns. Where Swap would lose again and again to
// other processes, this waits its turn instead. While the locks are held the
// segments stand still too, so this is where drafts get what they lack. The long list
// of a draft that was loaded before is not sent again where its ver is the same.
func (e *Edits) Locked(ctx context.Context, ids []uint64, loaded map[uint64]*Draft, edit func(map[uint64]*Draft) ([]Row, error)) (won bool, err error) {
	var sent []Row
	var read map[uint64]Row
	err = e.store.inTx(ctx, func(tx *sqlx.Tx) error {
		sent = nil
		if read, err = e.store.lockRows(ctx, tx, ids, loaded); err != nil {
			return err
		}
		drafts, err := openAll(maps.Values(read))
		if err != nil {
			return err
		}
		for again := true; again; {
			if sent, err = edit(drafts); err != nil {
				return err
			}
			if drafts, again, err = more(ctx, tx, drafts); err != nil {
				return err
			}
		}
		return e.store.swapAll(ctx, tx, sent)
	})
	if err == nil {
		e.store.Tell(ctx, unsent(read, sent))
	}
	return e.store.judge(ctx, sent, err)
}

// unsent returns the rows that were read and not swapped. Whoever is answered from
// them is not to read older ones afterwards, so the cache is told of them too.
func unsent(read map[uint64]Row, sent []Row) []Row {
	for _, r := range sent {
		delete(read, r.AccountID)
	}
	return slices.Collect(maps.Values(read))
}

// Pack turns a changed draft into the row to swap in.
func (e *Edits) Pack(d *Draft) (Row, error) { return e.store.Pack(d, uint32(e.now().Unix())) }

// swapIn packs a draft and swaps it within tx. It returns what it sent, also where
// that is lost.
func (e *Edits) swapIn(ctx context.Context, tx *sqlx.Tx, d *Draft) (sent []Row, err error) {
	r, err := e.Pack(d)
	if err != nil {
		return nil, err
	}
	sent = []Row{r}
	return sent, e.store.swapAll(ctx, tx, sent)
}

// Swap stores rows, all or none.
func (e *Edits) Swap(ctx context.Context, rows []Row) (won bool, err error) {
	return e.store.Swap(ctx, rows)
}

// Tell puts committed rows into the cache.
func (e *Edits) Tell(ctx context.Context, rows []Row) { e.store.Tell(ctx, rows) }

func openAll(rows iter.Seq[Row]) (map[uint64]*Draft, error) {
	drafts := map[uint64]*Draft{}
	for r := range rows {
		d, err := Open(r)
		if err != nil {
			return nil, err
		}
		drafts[r.AccountID] = d
	}
	return drafts, nil
}
