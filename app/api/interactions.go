package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"strconv"
	"time"

	"kith/app/interaction"
	"kith/repo/list"
)

// Interactions takes what accounts do with each other. It never waits.
type Interactions interface {
	// Counts tells whether events of a kind are taken.
	Counts(kind string) bool
	// Record takes events.
	Record(events ...interaction.Event)
	// Visit notes that viewer looked at the page of target.
	Visit(viewer, target uint64)
	// Seen notes that an account is there.
	Seen(account uint64)
}

var _ Interactions = (*interaction.Recorder)(nil)

const (
	interactionsPath = "/api/v1/interactions"
	maxInteractions  = 1000
	// interactionValues is how many values one may have on average, those that we
	// do not know included.
	interactionValues = 16
	// interactionsBody lets as many through as may come at once, whatever the
	// limit for other bodies.
	interactionsBody = 256 << 10
)

// maxBody is the longest body of a call.
func (s *Server) maxBody(c *call) int64 {
	if c.Path() == interactionsPath {
		return max(s.cfg.MaxBody, interactionsBody)
	}
	return s.cfg.MaxBody
}

// interactions takes what the product's servers saw. All of it is checked
// before any of it is taken.
func (s *Server) interactions(_ context.Context, c *call) error {
	kind, _, err := mime.ParseMediaType(c.Request().Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return errContentTypeJSON
	}
	raw, err := c.raw()
	if err != nil {
		return err
	}
	sent, err := readInteractions(raw)
	if err != nil {
		return err
	}
	events := make([]interaction.Event, len(sent))
	now := s.cfg.Now()
	for i, one := range sent {
		var why string
		if events[i], why = one.event(now); why == "" && s.cfg.Interactions != nil && !s.cfg.Interactions.Counts(one.Kind) {
			why = "kind is none that counts here"
		}
		if why != "" {
			return unprocessable("Validation failed: interactions[%d]: %s", i, why)
		}
	}
	if s.cfg.Interactions != nil {
		s.cfg.Interactions.Record(events...)
	}
	return c.accepted()
}

// sentInteraction is one interaction as the product sends it.
type sentInteraction struct {
	Actor  sentID   `json:"actor"`
	Target sentID   `json:"target"`
	Kind   string   `json:"kind"`
	At     sentTime `json:"at"`
}

// sentID is an account id, as text or as a number; 0 is none.
type sentID uint64

// UnmarshalJSON reads an id; what is none is 0, so that the refusal can say
// where it stands.
func (id *sentID) UnmarshalJSON(b []byte) error {
	n, _ := parseID(string(bytes.Trim(b, `"`)))
	*id = sentID(n)
	return nil
}

// sentTime is a moment, as RFC 3339 or unix seconds.
type sentTime struct {
	at    time.Time
	given bool
	bad   bool
}

// UnmarshalJSON reads a moment.
func (t *sentTime) UnmarshalJSON(b []byte) error {
	text := string(bytes.Trim(b, `"`))
	if text == "null" || text == "" {
		return nil
	}
	t.given = true
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		t.at = time.Unix(n, 0)
		return nil
	}
	at, err := time.Parse(time.RFC3339, text)
	t.at, t.bad = at, err != nil
	return nil
}

// readInteractions reads {"interactions":[…]}.
func readInteractions(raw []byte) ([]sentInteraction, error) {
	var body struct {
		Interactions []sentInteraction `json:"interactions"`
	}
	if !fits(raw, maxInteractions*interactionValues) {
		return nil, errTooManyValues
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&body); err != nil {
		return nil, unprocessable(`Validation failed: the body must be {"interactions":[{"actor","target","kind","at"}]}`)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errJSON
	}
	switch n := len(body.Interactions); {
	case n == 0:
		return nil, unprocessable("Validation failed: interactions is missing or empty")
	case n > maxInteractions:
		return nil, unprocessable("Validation failed: at most %d interactions can be sent at once", maxInteractions)
	}
	return body.Interactions, nil
}

// maxAhead is how far the clocks of the product's servers may be before ours.
const maxAhead = 5 * time.Minute

// event returns what was sent, or why it cannot be.
func (in sentInteraction) event(now time.Time) (interaction.Event, string) {
	e := interaction.Event{Actor: uint64(in.Actor), Target: uint64(in.Target), Kind: in.Kind}
	switch {
	case e.Actor == 0 || e.Actor > list.MaxID:
		return e, "actor is not an account id"
	case e.Target == 0 || e.Target > list.MaxID:
		return e, "target is not an account id"
	case in.At.bad:
		return e, "at must be RFC 3339 or unix seconds"
	case !in.At.given:
		return e, ""
	case in.At.at.Unix() <= 0 || in.At.at.After(now.Add(maxAhead)):
		return e, "at is not within 1970 and now"
	}
	e.At = uint32(in.At.at.Unix())
	return e, ""
}

// visited answers with an account and notes who looked at it.
func (s *Server) visited(ctx context.Context, c *call) error {
	err := s.account(ctx, c)
	if id, bad := c.pathID(); err == nil && bad == nil && s.cfg.Interactions != nil {
		s.cfg.Interactions.Visit(c.account(), id)
	}
	return err
}
