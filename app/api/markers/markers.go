// Package markers answers with the caller's read positions, and moves them.
package markers

import (
	"context"
	"slices"
	"strconv"
	"time"

	"kith/app/api/core"
	"kith/app/marker"
)

type resource struct{ markers *marker.Service }

// Routes returns the routes of read positions.
func Routes(of *marker.Service) []core.Route {
	const path = "/api/v1/markers"
	r := resource{of}
	return []core.Route{
		core.Get(path, core.SignedIn("read:statuses"), r.get),
		core.Post(path, core.SignedIn("write:statuses").WithBody(core.UsualBody), r.set),
	}
}

// names are the timelines, in the order in which they are answered.
var names = []string{"home", "notifications"}

// get answers for the timelines that are asked for. Names that kith does not know have no
// marker.
func (r resource) get(ctx context.Context, c *core.Call) error {
	q, err := c.Query()
	if err != nil {
		return err
	}
	asked, _, err := q.All("timeline")
	if err != nil {
		return err
	}
	var timelines []marker.Timeline
	for _, name := range names {
		if slices.Contains(asked, name) {
			timelines = append(timelines, marker.Timelines[name])
		}
	}
	return r.answer(c)(r.markers.Of(ctx, c.Account, timelines...))
}

// set moves the positions that the body names.
func (r resource) set(ctx context.Context, c *core.Call) error {
	sent, err := c.Body()
	if err != nil {
		return err
	}
	var moves []marker.Move
	for _, name := range names {
		if !sent.Given(name) {
			continue
		}
		m, err := readMove(sent, name)
		if err != nil {
			return err
		}
		moves = append(moves, m)
	}
	return r.answer(c)(r.markers.Set(ctx, c.Account, moves))
}

// readMove reads name[last_read_id], and name[version]: what the caller saw, an extension.
func readMove(sent core.Values, name string) (marker.Move, error) {
	m := marker.Move{Timeline: marker.Timelines[name]}
	text, err := sent.One(name + "[last_read_id]")
	if err != nil {
		return m, err
	}
	var ok bool
	if m.LastRead, ok = core.ParseID(text); !ok && text != "0" {
		return m, core.Unprocessable("Validation failed: %s[last_read_id] must be an id", name)
	}
	field := name + "[version]"
	if text, err = sent.One(field); text == "" {
		return m, err
	}
	ver, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return m, core.Unprocessable("Validation failed: %s must be a whole number", field)
	}
	m.Ver = &ver
	return m, nil
}

// position is a Marker as clients see it.
type position struct {
	LastRead string `json:"last_read_id"`
	Version  uint64 `json:"version"`
	Updated  string `json:"updated_at"`
}

func (r resource) answer(c *core.Call) func([]marker.Marker, error) error {
	return func(found []marker.Marker, err error) error {
		if err != nil {
			return err
		}
		out := map[string]position{}
		for _, m := range found {
			for name, t := range marker.Timelines {
				if t == m.Timeline && m.Ver != 0 {
					out[name] = position{strconv.FormatUint(m.LastRead, 10), m.Ver, time.Unix(int64(m.UpdatedAt), 0).UTC().Format("2006-01-02T15:04:05.000Z")}
				}
			}
		}
		return c.JSON(out)
	}
}
