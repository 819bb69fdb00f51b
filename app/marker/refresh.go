package marker

import (
	"context"
	"errors"
	"slices"

	"kith/app"
	"kith/app/home"
	"kith/repo"
	"kith/repo/event"
	"kith/repo/marker"
)

// PageSize is how many entries a refresh hands out at most.
const PageSize = 30

// refreshTries is how often a refresh is redone that others were faster than.
const refreshTries = 10

// Refreshed is what a refresh hands out.
type Refreshed struct {
	Items  []home.Item // newest first
	Marker Marker      // as it is now; Ver 0: there is no position yet
	More   bool        // there may be more to hand out at once
}

// Refresh hands out what is new in an account's home, and moves the position on. See the
// package doc. Before it moves, load gets what the answer needs of the entries: where that
// fails, nothing is handed out. It is called once more where another was faster.
func (s *Service) Refresh(ctx context.Context, account uint64, load func([]home.Item) error) (Refreshed, error) {
	for range refreshTries {
		found, err := s.Of(ctx, account, marker.Home)
		if err != nil {
			return Refreshed{}, err
		}
		out, moved, err := s.next(ctx, account, found[0])
		if err == nil {
			err = load(out.Items)
		}
		if err != nil || !moved {
			return out, err
		}
		out.Marker.UpdatedAt = s.now()
		stored, err := s.cfg.Store.Swap(ctx, account, []marker.Marker{out.Marker})
		switch {
		case err == nil:
			out.Marker = stored[0]
			return out, nil
		case !errors.Is(err, repo.ErrConflict):
			return Refreshed{}, app.From(err)
		}
	}
	return Refreshed{}, errStale
}

// next returns what comes after a marker, and whether that moves it.
func (s *Service) next(ctx context.Context, account uint64, m Marker) (out Refreshed, moved bool, err error) {
	settled := event.First(s.cfg.Now().Add(-home.Late)) - 1
	if m.LastRead == 0 {
		page, err := s.cfg.Homes.Home(ctx, account, home.Range{Limit: PageSize})
		switch {
		case err != nil || page.Next == 0 && len(page.Items) == 0:
			return Refreshed{Marker: m}, false, err
		case len(page.Items) == 0: // very many events that are not shown
			return Refreshed{Marker: pass(m, max(settled, page.Next))}, true, nil
		}
		if page.Next != 0 { // what is older is not handed out
			settled = max(settled, page.Items[len(page.Items)-1].Event.ID-1)
		}
		return Refreshed{Items: page.Items, Marker: handOut(m, page.Items, settled)}, true, nil
	}
	page, err := s.cfg.Homes.Home(ctx, account, home.Range{After: m.Settled, Oldest: true, Limit: PageSize + len(m.Recent)})
	if err != nil {
		return Refreshed{}, false, err
	}
	fresh := slices.DeleteFunc(page.Items, func(i home.Item) bool {
		_, handedOut := slices.BinarySearch(m.Recent, i.Event.ID)
		return handedOut
	})
	if page.Next != 0 { // what is newer was not looked at
		settled = min(settled, page.Next)
	}
	if n := len(fresh) - PageSize; n > 0 {
		settled = min(settled, fresh[n-1].Event.ID-1)
		fresh = fresh[n:]
		page.Next = fresh[0].Event.ID
	}
	switch {
	case len(fresh) > 0:
		m = handOut(m, fresh, settled)
	case page.Next != 0: // very many events that are not shown: go on behind them
		m = pass(m, page.Next)
	default:
		return Refreshed{Marker: m}, false, nil
	}
	return Refreshed{Items: fresh, Marker: m, More: page.Next != 0}, true, nil
}

// handOut notes entries, newest first, as handed out. All up to settled are, or are passed.
func handOut(m Marker, items []home.Item, settled uint64) Marker {
	m.LastRead = max(m.LastRead, items[0].Event.ID)
	m.Recent = slices.Clone(m.Recent)
	for _, i := range items {
		m.Recent = append(m.Recent, i.Event.ID)
	}
	slices.Sort(m.Recent)
	if n := len(m.Recent) - marker.MaxRecent; n > 0 {
		settled = max(settled, m.Recent[n-1])
	}
	return settle(m, min(settled, m.LastRead))
}

// pass moves the position behind events that are not shown.
func pass(m Marker, id uint64) Marker {
	m.LastRead = max(m.LastRead, id)
	return settle(m, id)
}

// settle forgets what need not be remembered of entries up to an id.
func settle(m Marker, id uint64) Marker {
	m.Settled = max(m.Settled, id)
	at, _ := slices.BinarySearch(m.Recent, m.Settled+1)
	m.Recent = slices.Clone(m.Recent[at:])
	return m
}
