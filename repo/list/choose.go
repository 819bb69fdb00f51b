package list

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
)

// openOptionEntry is an entry of the opened section options. The option stays
// packed, as most lists are opened for other edits.
type openOptionEntry struct {
	id     uint64
	packed []byte // never changed in place: clones share it
}

// openOptions is the opened section options. Like a run it stays packed until an edit
// needs its entries.
type openOptions struct {
	packed  *View // which has the entries; nil once they are unpacked
	entries []openOptionEntry
}

func (o *openOptions) len() int {
	if o.packed != nil {
		return o.packed.Len(Options)
	}
	return len(o.entries)
}

// all returns the entries, the smallest id first.
func (o *openOptions) all() []openOptionEntry {
	if o.packed != nil {
		entries, err := o.packed.openOptions()
		if err != nil {
			panic("list: options were not checked when they came in: " + err.Error())
		}
		o.entries, o.packed = entries, nil
	}
	return o.entries
}

// has reports whether anything was chosen about id.
func (o *openOptions) has(id uint64) bool {
	if o.packed != nil {
		return (o.packed.width == wide || id <= math.MaxUint32) && o.packed.has(o.packed.ids(Options), id)
	}
	_, ok := slices.BinarySearchFunc(o.entries, id, func(e openOptionEntry, id uint64) int { return cmp.Compare(e.id, id) })
	return ok
}

func (l *List) findOption(id uint64) (int, bool) {
	return slices.BinarySearchFunc(l.options.all(), id, func(o openOptionEntry, id uint64) int {
		return cmp.Compare(o.id, id)
	})
}

// Option returns what the owner chose about id; zero if nothing.
func (l *List) Option(id uint64) Option {
	if !l.options.has(id) {
		return Option{}
	}
	at, ok := l.findOption(id)
	if !ok {
		return Option{}
	}
	o, err := openOption(l.options.entries[at].packed)
	if err != nil {
		panic("list: option was not checked when it came in: " + err.Error())
	}
	return o
}

// SetOption sets what the owner chose about id and tells whether that is new;
// a zero Option removes the entry. An option past the limits is refused, with
// ErrTooLarge if it is too much of something, and so is an id past MaxID.
func (l *List) SetOption(id uint64, o Option) (changed bool, err error) {
	if !validID(id) {
		return false, fmt.Errorf("set option of %d: no such id", id)
	}
	if err := o.check(); err != nil {
		return false, fmt.Errorf("set option of %d: %w", id, err)
	}
	if o.IsZero() && !l.options.has(id) {
		return false, nil
	}
	at, ok := l.findOption(id)
	if o.IsZero() {
		l.options.entries = slices.Delete(l.options.entries, at, at+1)
		return true, nil
	}
	e := openOptionEntry{id: id, packed: o.append(nil)}
	switch {
	case !ok:
		l.options.entries = slices.Insert(l.options.entries, at, e)
	case bytes.Equal(l.options.entries[at].packed, e.packed):
		return false, nil
	default:
		l.options.entries[at] = e
	}
	return true, nil
}

// Packed returns the bytes of the option about id, nil if there is none. They are
// not to be changed.
func (l *List) Packed(id uint64) []byte {
	if at, ok := l.findOption(id); ok {
		return l.options.entries[at].packed
	}
	return nil
}

// SetPacked is SetOption with bytes that Packed returned. Others are an error that
// wraps ErrFormat.
func (l *List) SetPacked(id uint64, packed []byte) error {
	raw, err := cutOption(packed)
	if err == nil && raw.size != len(packed) {
		err = fmt.Errorf("%w: option of %d bytes ends after %d", ErrFormat, len(packed), raw.size)
	}
	if err != nil {
		return err
	}
	o, err := raw.open()
	if err == nil {
		_, err = l.SetOption(id, o)
	}
	return err
}
