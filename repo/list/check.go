package list

import (
	"fmt"
	"math"
)

// Check makes sure of everything that Parse leaves out: ids and their order,
// columns that end with their last entry, options within their limits, no id
// twice within a section or within friends, followers and following together,
// and ids no wider than they have to be. A list that passes is opened and
// encoded again to the same bytes. Errors wrap ErrFormat.
func (v View) Check() error {
	if v.b == nil {
		return fmt.Errorf("%w: no bytes", ErrFormat)
	}
	for s := range Options {
		if err := v.checkSection(s); err != nil {
			return fmt.Errorf("check list: %w", err)
		}
	}
	if err := v.checkOptions(); err != nil {
		return fmt.Errorf("check list: %w", err)
	}
	if err := v.checkOnce(); err != nil {
		return fmt.Errorf("check list: %w", err)
	}
	return v.checkWidth()
}

func (v *View) checkSection(s Section) error {
	w := v.walk(s)
	last := Cursor{}
	for w.step() {
		id := w.id()
		if err := w.checkOrder(last, id); err != nil {
			return err
		}
		last = Cursor{Time: w.key, ID: id}
	}
	return w.done()
}

// checkOnce looks for ids that stand twice. Options need no look: they are
// sorted by id.
func (v *View) checkOnce() error {
	edges := v.Len(Friends) + v.Len(Followers) + v.Len(Following)
	seen := newIndex(edges)
	for s := range Options {
		if !s.edge() {
			seen = newIndex(v.Len(s))
		}
		ids := v.ids(s)
		for i := range v.Len(s) {
			if id := v.id(ids, i); !seen.add(id, 0) {
				return fmt.Errorf("%w: id %d of %v stands twice", ErrFormat, id, s)
			}
		}
	}
	return nil
}

func (v *View) checkWidth() error {
	if v.width == narrow {
		return nil
	}
	for s := range numSections {
		if v.wide(s) {
			return nil
		}
	}
	return fmt.Errorf("check list: %w: ids wider than they have to be", ErrFormat)
}

func (v *View) checkOptions() error {
	return v.eachRawOption(v.column(Options), func(uint64, rawOption) {})
}

// wide reports whether a section has an id that needs 8 bytes.
func (v *View) wide(s Section) bool {
	ids := v.ids(s)
	for i := range v.Len(s) {
		if v.id(ids, i) > math.MaxUint32 {
			return true
		}
	}
	return false
}
