package main

import (
	"encoding/json"
	"fmt"
	"os"
	"text/tabwriter"
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

// printAll prints a list: with --json an object each, else a line each, whose tabs
// separate the columns of a table, under its head if there is one.
func printAll[T any](j asJSON, head string, all []T, object func(T) any, line func(T) string) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	if head != "" && !j.JSON {
		fmt.Fprintln(w, head)
	}
	for _, one := range all {
		if !j.JSON {
			fmt.Fprintln(w, line(one))
		} else if err := j.line(object(one)); err != nil {
			return err
		}
	}
	return w.Flush()
}

// moment is a time in a JSON object, null where it is zero.
type moment struct{ time.Time }

// MarshalJSON writes it.
func (m moment) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return m.UTC().MarshalJSON()
}

// String writes it for people, in UTC.
func (m moment) String() string { return m.UTC().Format(time.RFC3339) }

// atMilli is the moment of unix milliseconds, 0 for none.
func atMilli(ms int64) moment {
	if ms == 0 {
		return moment{}
	}
	return moment{time.UnixMilli(ms)}
}
