package list

import (
	"fmt"
	"math"
)

// Open makes the list ready for edits. It makes sure of ids, order and columns; that
// no id stands twice is left to Check. A section is unpacked when an edit needs its
// entries, out of the bytes of v. Errors wrap ErrFormat.
func (v View) Open() (*List, error) {
	l := New()
	for s := range Options {
		if v.parts[s].n == 0 {
			continue
		}
		if err := v.checkSection(s); err != nil {
			return nil, fmt.Errorf("open list: %w", err)
		}
		l.runs[s].packed, l.runs[s].section = &v, s
	}
	if v.Len(Options) > 0 {
		if err := v.checkOptions(); err != nil {
			return nil, fmt.Errorf("open list: %w", err)
		}
		l.options.packed = &v
	}
	return l, nil
}

// openSection fills a slice from its end, as entries stand newest first in the
// bytes. It leaves room for edits to append.
func (v *View) openSection(s Section) ([]entry, error) {
	n := v.Len(s)
	entries := make([]entry, n, n+n/32+8)
	w := v.walk(s)
	last := Cursor{}
	for i := n - 1; w.step(); i-- {
		id := w.id()
		if err := w.checkOrder(last, id); err != nil {
			return nil, err
		}
		last = Cursor{Time: w.key, ID: id}
		mine, theirs := w.times()
		entries[i] = entry{id: id, mine: mine, theirs: theirs}
	}
	return entries, w.done()
}

// checkOrder makes sure of the id stepped onto and that it comes after last,
// which is not set before the first.
func (w *walker) checkOrder(last Cursor, id uint64) error {
	if !validID(id) {
		return fmt.Errorf("%w: id %d in %v", ErrFormat, id, w.s)
	}
	if w.i > 1 && w.key == last.Time && id >= last.ID {
		return fmt.Errorf("%w: order of %d in %v", ErrFormat, id, w.s)
	}
	return nil
}

// openOptions cuts the column into its entries, which stay packed.
func (v *View) openOptions() ([]openOptionEntry, error) {
	n := v.Len(Options)
	entries := make([]openOptionEntry, 0, n+1)
	col := v.column(Options)
	err := v.eachRawOption(col, func(id uint64, raw rawOption) {
		entries = append(entries, openOptionEntry{id: id, packed: col[:raw.size:raw.size]})
		col = col[raw.size:]
	})
	return entries, err
}

// eachRawOption hands every option of a column to fn, checked in full.
func (v *View) eachRawOption(col []byte, fn func(id uint64, raw rawOption)) error {
	last, ids := uint64(0), v.ids(Options)
	for i := range v.Len(Options) {
		id := v.id(ids, i)
		if !validID(id) || id <= last {
			return fmt.Errorf("%w: id %d in options", ErrFormat, id)
		}
		raw, err := cutOption(col)
		if err != nil {
			return err
		}
		if err := raw.checkLanguages(); err != nil {
			return err
		}
		last, col = id, col[raw.size:]
		fn(id, raw)
	}
	if len(col) != 0 {
		return fmt.Errorf("%w: column of options ends late", ErrFormat)
	}
	return nil
}

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
	for _, check := range []func() error{v.checkOptions, v.checkOnce, v.checkWidth} {
		if err := check(); err != nil {
			return fmt.Errorf("check list: %w", err)
		}
	}
	return nil
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

// checkOnce looks for ids that stand twice. Options have none: they are
// sorted by id.
func (v *View) checkOnce() error {
	seen := newIndex(v.Len(Friends) + v.Len(Followers) + v.Len(Following))
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
	for s := range numSections {
		if v.width == narrow || v.wide(s) {
			return nil
		}
	}
	return fmt.Errorf("%w: ids wider than they have to be", ErrFormat)
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
