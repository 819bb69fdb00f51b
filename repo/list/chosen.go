package list

import (
	"fmt"
	"sort"
)

// Option returns what the owner chose about id, and whether that is anything.
// Errors wrap ErrFormat.
func (v View) Option(id uint64) (Option, bool, error) {
	ids := v.ids(Options)
	at := sort.Search(v.Len(Options), func(i int) bool { return v.id(ids, i) >= id })
	if at == v.Len(Options) || v.id(ids, at) != id {
		return Option{}, false, nil
	}
	col := v.column(Options)
	for range at {
		raw, err := cutOption(col)
		if err != nil {
			return Option{}, false, fmt.Errorf("option of %d: %w", id, err)
		}
		col = col[raw.size:]
	}
	o, err := openOption(col)
	if err != nil {
		return Option{}, false, fmt.Errorf("option of %d: %w", id, err)
	}
	return o, true, nil
}

// Options puts into out what the owner chose about those of ids about whom
// anything was chosen. Errors wrap ErrFormat.
func (v View) Options(ids []uint64, out map[uint64]Option) error {
	if v.Len(Options) == 0 || len(ids) == 0 {
		return nil
	}
	if len(ids) <= fewIDs {
		return v.eachOption(ids, out)
	}
	var w wanted
	w.slots = manySlots(len(ids))
	w.fill(ids, v.width)
	have, col := v.ids(Options), v.column(Options)
	for i := range v.Len(Options) {
		raw, err := cutOption(col)
		if err != nil {
			return fmt.Errorf("options: %w", err)
		}
		if id := v.id(have, i); w.has(id) {
			if out[id], err = raw.open(); err != nil {
				return fmt.Errorf("option of %d: %w", id, err)
			}
		}
		col = col[raw.size:]
	}
	return nil
}

func (v *View) eachOption(ids []uint64, out map[uint64]Option) error {
	for _, id := range ids {
		o, ok, err := v.Option(id)
		if err != nil {
			return err
		}
		if ok {
			out[id] = o
		}
	}
	return nil
}

func openOption(col []byte) (Option, error) {
	raw, err := cutOption(col)
	if err != nil {
		return Option{}, err
	}
	return raw.open()
}
