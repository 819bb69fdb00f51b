// Package interactions takes the interactions that the product's own servers report.
package interactions

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"time"

	"kith/app/api/core"
	"kith/app/interaction"
	"kith/app/token"
)

const (
	maxSent = 1000
	// maxValues is how many values an interaction may have on average, unknown ones
	// included.
	maxValues = 16
	// maxBody has room for maxSent, whatever the limit of other bodies.
	maxBody = 256 << 10
	// maxAhead is how far the clocks of the product's servers may be ahead of ours.
	maxAhead = 5 * time.Minute
)

type resource struct {
	recorder *interaction.Recorder // nil: what was sent is checked and dropped
}

// Routes returns the route of interactions.
func Routes(recorder *interaction.Recorder) []core.Route {
	r := resource{recorder}
	return []core.Route{core.Post("/api/v1/interactions", core.SignedIn(token.ServerScope).WithBody(maxBody), r.take)}
}

// take checks all that was sent before it takes any of it.
func (r resource) take(_ context.Context, c *core.Call) error {
	var body struct {
		Interactions []sent `json:"interactions"`
	}
	err := c.JSONBody(&body, maxSent*maxValues, `{"interactions":[{"actor","target","kind","at"}]}`)
	if err != nil {
		return err
	}
	switch n := len(body.Interactions); {
	case n == 0:
		return core.Unprocessable("Validation failed: interactions is missing or empty")
	case n > maxSent:
		return core.Unprocessable("Validation failed: at most %d interactions can be sent at once", maxSent)
	}
	events := make([]interaction.Event, len(body.Interactions))
	now := c.Now()
	for i, one := range body.Interactions {
		var why string
		if events[i], why = one.event(now); why == "" && r.recorder != nil && !r.recorder.Counts(one.Kind) {
			why = "kind is none that counts here"
		}
		if why != "" {
			return core.Unprocessable("Validation failed: interactions[%d]: %s", i, why)
		}
	}
	if r.recorder != nil {
		r.recorder.Record(events...)
	}
	return c.Accepted()
}

// sent is one interaction as it is sent: ids as strings or numbers, the time as RFC 3339
// or unix seconds.
type sent struct {
	Actor  json.RawMessage `json:"actor"`
	Target json.RawMessage `json:"target"`
	Kind   string          `json:"kind"`
	At     json.RawMessage `json:"at"`
}

func unquoted(raw json.RawMessage) string { return string(bytes.Trim(raw, `"`)) }

// event returns the event, or why it is refused.
func (in sent) event(now time.Time) (e interaction.Event, why string) {
	var ok bool
	e.Kind = in.Kind
	if e.Actor, ok = core.ParseID(unquoted(in.Actor)); !ok {
		return e, "actor is not an account id"
	}
	if e.Target, ok = core.ParseID(unquoted(in.Target)); !ok {
		return e, "target is not an account id"
	}
	text := unquoted(in.At)
	if text == "" || text == "null" {
		return e, ""
	}
	at, err := time.Parse(time.RFC3339, text)
	if seconds, noNumber := strconv.ParseInt(text, 10, 64); noNumber == nil {
		at, err = time.Unix(seconds, 0), nil
	}
	switch {
	case err != nil:
		return e, "at must be RFC 3339 or unix seconds"
	case at.Unix() <= 0 || at.After(now.Add(maxAhead)):
		return e, "at is not within 1970 and now"
	}
	e.At = uint32(at.Unix())
	return e, ""
}
