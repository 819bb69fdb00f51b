package timelines

import (
	"testing"

	"kith/app/home"
	"kith/repo/event"
)

// A page leads on in its direction, also where it has no entries.
func TestLinks(t *testing.T) {
	entry := func(id uint64) home.Item { return home.Item{Entry: home.Entry{Event: event.Event{ID: id}}} }
	for name, c := range map[string]struct {
		part       home.Range
		page       home.Items
		next, prev string
	}{
		"entries":              {home.Range{Limit: 2}, home.Items{Items: []home.Item{entry(9), entry(7)}, Next: 6}, "limit=2&max_id=7", "limit=2&min_id=9"},
		"the last entries":     {home.Range{Limit: 2}, home.Items{Items: []home.Item{entry(9)}}, "limit=2&max_id=9", "limit=2&min_id=9"},
		"nothing, more below":  {home.Range{Limit: 2}, home.Items{Next: 6}, "limit=2&max_id=6", ""},
		"nothing, more above":  {home.Range{Limit: 2, Oldest: true}, home.Items{Next: 6}, "", "limit=2&min_id=6"},
		"nothing, the end":     {home.Range{Limit: 2}, home.Items{}, "", ""},
		"nothing, all the new": {home.Range{Limit: 2, Oldest: true}, home.Items{}, "", ""},
	} {
		if next, prev := links(c.part, c.page); next != c.next || prev != c.prev {
			t.Errorf("%s: got %q and %q, want %q and %q", name, next, prev, c.next, c.prev)
		}
	}
}
