package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// asJSON is the flag of every command that lists something. The names in the
// objects do not change; ids are strings, as in the API, and times are RFC 3339 in
// UTC, null where there is none.
type asJSON struct {
	JSON bool `name:"json" help:"Print one JSON object a line, with names that do not change."`
}

// line prints one object.
func (asJSON) line(v any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	if err := out.Encode(v); err != nil {
		return fmt.Errorf("write a line: %w", err)
	}
	return nil
}

// moment is a time in such an object, null where it is zero.
type moment struct{ time.Time }

// MarshalJSON writes it.
func (m moment) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return m.UTC().MarshalJSON()
}

// atMilli is the moment of unix milliseconds, 0 for none.
func atMilli(ms int64) moment {
	if ms == 0 {
		return moment{}
	}
	return moment{time.UnixMilli(ms)}
}
