package list

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// openOptionEntry is an entry of the opened section options. The option stays
// packed, as most lists are opened for other edits.
type openOptionEntry struct {
	id     uint64
	packed []byte // never changed in place: clones share it
}

func (l *List) findOption(id uint64) (int, bool) {
	return slices.BinarySearchFunc(l.options, id, func(o openOptionEntry, id uint64) int {
		return cmp.Compare(o.id, id)
	})
}

// Option returns what the owner chose about id; zero if nothing.
func (l *List) Option(id uint64) Option {
	at, ok := l.findOption(id)
	if !ok {
		return Option{}
	}
	o, err := openOption(l.options[at].packed)
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
	at, ok := l.findOption(id)
	if o.IsZero() {
		if ok {
			l.options = slices.Delete(l.options, at, at+1)
		}
		return ok, nil
	}
	e := openOptionEntry{id: id, packed: o.append(nil)}
	switch {
	case !ok:
		l.options = slices.Insert(l.options, at, e)
	case bytes.Equal(l.options[at].packed, e.packed):
		return false, nil
	default:
		l.options[at] = e
	}
	return true, nil
}

// Packed returns the bytes of the option about id, nil if there is none. They are
// not to be changed.
func (l *List) Packed(id uint64) []byte {
	if at, ok := l.findOption(id); ok {
		return l.options[at].packed
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
