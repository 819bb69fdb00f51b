// Package marker decides about read positions: how far an account has read its home and its
// notifications, on all of its devices.
//
// # Markers
//
// A client sets a position where it wants, back too, as in Mastodon. It says which version
// of the marker it saw, or does not; of two that set one at the same moment one wins, and
// the other is told.
//
// # Refresh: what is new
//
// The first refresh hands out the newest 30 entries of the home. Each later one hands out
// the oldest 30 of those that came since, so that a thousand are read in order. The position
// is the newest entry that was handed out.
//
// Events may come late: an event is in the home when its commit is done and it was pushed,
// and others with higher ids may have been there before. A position alone would leave it
// out. So the marker has two parts: up to Settled, home.Late ago, all was handed out or
// passed; of what was handed out above, Recent has the ids. A refresh reads from Settled on
// and leaves out what Recent has.
//
//	──────────── Settled ──────────── position ───────▶ newer
//	 handed out           Recent:                 to be
//	 or passed            handed out              handed out
//
// The marker is swapped after all of the page is read and before it is answered. Of two devices
// that refresh at once one wins; the other reads again and gets what comes next. What holds:
//
//   - an entry that comes into the home after the first refresh, within home.Late of its
//     time, and is there at the next refresh, is handed out to one of the devices. Only what
//     is older than all that the first refresh handed out is not: the first leaves that out,
//     too;
//   - it is handed out once, unless a repost that it stood at is undone, so that it stands
//     elsewhere, or an answer of the database was lost;
//   - Recent has 128 ids. Where more than these were handed out within home.Late, an entry
//     that comes late behind the others is left out of refreshes. So it is where so many
//     events are not shown that a page of the home ends early.
//
// An answer that is lost on the way to its client is handed out all the same. The client
// sets the position back to where it was, and refreshes again.
//
// A refresh reads one page of the home, of at most 30 + 128 entries, ten times where nine
// others were faster.
package marker

import (
	"context"
	"errors"
	"time"

	"kith/app"
	"kith/app/home"
	"kith/repo"
	"kith/repo/marker"
)

// Store keeps markers. It is an interface because tests put faults in.
type Store interface {
	Of(ctx context.Context, account uint64, timelines ...marker.Timeline) ([]marker.Marker, error)
	Swap(ctx context.Context, account uint64, markers []marker.Marker) ([]marker.Marker, error)
}

// Config is what a Service works with.
type Config struct {
	Store Store
	Homes Homes
	Now   func() time.Time
}

// Homes reads homes.
type Homes interface {
	Home(ctx context.Context, reader uint64, want home.Range) (home.Items, error)
}

// Service reads and moves positions. It is safe for concurrent use.
type Service struct{ cfg Config }

// New makes a Service.
func New(cfg Config) *Service { return &Service{cfg} }

// Marker is a read position as it is stored, Timeline what it is in: names for those who ask
// the service.
type (
	Marker   = marker.Marker
	Timeline = marker.Timeline
)

// Timelines are those that have positions, by their names.
var Timelines = map[string]Timeline{"home": marker.Home, "notifications": marker.Notifications}

// errStale refuses a change that began from a marker which another has replaced.
var errStale = app.Refuse(app.Conflict, "Conflict during update, please try again")

// Of returns the markers of an account on timelines, in their order; Ver 0 where there is
// none.
func (s *Service) Of(ctx context.Context, account uint64, timelines ...Timeline) ([]Marker, error) {
	found, err := s.cfg.Store.Of(ctx, account, timelines...)
	return found, app.From(err)
}

// Move is where a position is to be.
type Move struct {
	Timeline Timeline
	LastRead uint64  // 0: nowhere, as if nothing was read yet
	Ver      *uint64 // of the marker that the caller saw; nil: whichever
}

// Set moves positions, forward or back, all or none of them, and returns the markers in the
// order of timelines. It is a conflict where a marker is no longer the one that the caller
// saw, or another moves it at the same moment. A position that is there already stays as it
// is, with its version.
func (s *Service) Set(ctx context.Context, account uint64, moves []Move) ([]Marker, error) {
	timelines := make([]Timeline, len(moves))
	for i, m := range moves {
		timelines[i] = m.Timeline
	}
	found, err := s.Of(ctx, account, timelines...)
	if err != nil {
		return nil, err
	}
	var changed []Marker
	for i, m := range moves {
		if m.Ver != nil && *m.Ver != found[i].Ver {
			return nil, errStale
		}
		if m.LastRead != found[i].LastRead || found[i].Ver == 0 {
			changed = append(changed, Marker{Timeline: m.Timeline, Ver: found[i].Ver, LastRead: m.LastRead, Settled: m.LastRead, UpdatedAt: s.now()})
		}
	}
	if len(changed) == 0 {
		return found, nil
	}
	stored, err := s.cfg.Store.Swap(ctx, account, changed)
	if errors.Is(err, repo.ErrConflict) {
		return nil, errStale
	}
	if err != nil {
		return nil, app.From(err)
	}
	for _, m := range stored {
		for i := range found {
			if found[i].Timeline == m.Timeline {
				found[i] = m
			}
		}
	}
	return found, nil
}

func (s *Service) now() uint32 { return uint32(s.cfg.Now().Unix()) }
