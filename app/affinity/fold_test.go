package affinity

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"kith/repo"
	"kith/repo/affinity"
	"kith/repo/cache"
	"kith/repo/interaction"
)

// Many folders at once, each event counted once.
func TestFolder_Once(t *testing.T) {
	w := newWorld(t, cache.NewNone())
	ids := w.relations.People(40)
	r := rand.New(rand.NewPCG(3, 4))
	byActor := map[uint64][]interaction.Event{}
	for range 30 {
		var some []interaction.Event
		for range 400 {
			e := interaction.Event{Actor: ids[r.IntN(3)], Target: ids[r.IntN(40)], Kind: "visit", At: start - r.Uint32N(1000)}
			some = append(some, e)
			byActor[e.Actor] = append(byActor[e.Actor], e)
		}
		w.record(some...)
	}
	var wg sync.WaitGroup
	below := w.folder.Before()
	for range 4 {
		wg.Go(func() {
			for i := 0; i < 3; {
				done, err := w.folder.Step(context.Background(), repo.Bucket(ids[i]), below)
				if err != nil && !errors.Is(err, repo.ErrConflict) {
					t.Error(err)
					return
				}
				if err == nil && done.Events == 0 {
					i++
				}
			}
		})
	}
	wg.Wait()
	rows, err := w.store.Fresh(t.Context(), ids[:3])
	if err != nil {
		t.Fatal(err)
	}
	for id, events := range byActor {
		want := plain(worth, events, rows[id].At)
		for _, e := range rows[id].Entries {
			if d := math.Abs(float64(e.Score) - want[e.ID]); d > 1e-4*want[e.ID] {
				t.Errorf("%d to %d: got %g, want %g", id, e.ID, e.Score, want[e.ID])
			}
		}
		if len(rows[id].Entries) != len(want) {
			t.Errorf("%d has %d entries, want %d", id, len(rows[id].Entries), len(want))
		}
	}
	if n, err := w.folder.Waiting(t.Context(), 0, repo.Buckets-1); err != nil || n != 0 {
		t.Errorf("%d events wait, %v", n, err)
	}
}

// A batch that cannot be read goes, and those around it count.
func TestFolder_BadBatch(t *testing.T) {
	w := newWorld(t, cache.NewNone())
	w.record(interaction.Event{Actor: 5, Target: 6, Kind: "visit", At: start})
	if err := w.log.Append(t.Context(), []interaction.Batch{{Bucket: 5, ID: 7, N: 3, Events: []byte("junk")}}); err != nil {
		t.Fatal(err)
	}
	if n := w.fold(); n != 1 {
		t.Errorf("folded %d events, want 1", n)
	}
	if n, err := w.folder.Waiting(t.Context(), 0, repo.Buckets-1); err != nil || n != 0 {
		t.Errorf("%d events wait, %v", n, err)
	}
}

// What comes while a run is under way is left to the next.
func TestFolder_Before(t *testing.T) {
	w := newWorld(t, cache.NewNone())
	below := w.folder.Before()
	w.relations.Clock.Add(1)
	w.record(interaction.Event{Actor: 5, Target: 6, Kind: "visit", At: start})
	if done, err := w.folder.Step(t.Context(), 5, below); err != nil || done.Events != 0 || done.More {
		t.Fatalf("got %+v, %v", done, err)
	}
	if n := w.fold(); n != 1 {
		t.Errorf("folded %d events, want 1", n)
	}
}

// losing is a store that loses swaps or does not answer.
type losing struct {
	Rows
	lose int
	err  error // after it was done
}

func (l *losing) Fold(ctx context.Context, bucket uint16, rows []affinity.Row, batches []interaction.Batch, now uint32) (bool, error) {
	if l.lose > 0 {
		l.lose--
		return false, nil
	}
	won, err := l.Rows.Fold(ctx, bucket, rows, batches, now)
	if err == nil && l.err != nil {
		err, l.err = l.err, nil
		return false, err
	}
	return won, err
}

func TestFolder_Lost(t *testing.T) {
	w := newWorld(t, cache.NewNone())
	l := &losing{Rows: w.store, lose: maxTries - 1}
	w.folder.rows = l
	w.record(interaction.Event{Actor: 5, Target: 6, Kind: "visit", At: start})
	if n := w.fold(); n != 1 {
		t.Fatalf("folded %d", n)
	}
	l.lose = maxTries
	w.record(interaction.Event{Actor: 5, Target: 6, Kind: "visit", At: start})
	if _, err := w.folder.Step(t.Context(), 5, w.folder.Before()); !errors.Is(err, repo.ErrConflict) {
		t.Fatalf("got %v, want a conflict", err)
	}
}

// A commit whose answer was lost is not folded again.
func TestFolder_UnknownOutcome(t *testing.T) {
	w := newWorld(t, cache.NewNone())
	w.folder.rows = &losing{Rows: w.store, err: repo.ErrUnavailable}
	w.record(interaction.Event{Actor: 5, Target: 6, Kind: "visit", At: start})
	if _, err := w.folder.Step(t.Context(), 5, w.folder.Before()); !errors.Is(err, repo.ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
	w.fold()
	rows, err := w.store.Fresh(t.Context(), []uint64{5})
	if err != nil || len(rows[5].Entries) != 1 || rows[5].Entries[0].Score != 1 {
		t.Fatalf("got %+v, %v, want a score of 1", rows[5], err)
	}
}
