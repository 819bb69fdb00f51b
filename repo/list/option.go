package list

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"kith/repo"
)

// Option is what the owner of a list chose about one other account.
type Option struct {
	HideReposts       bool
	Notify            bool
	HideNotifications bool     // of somebody muted
	MuteUntil         uint32   // unix seconds, 0: the mute does not end
	Note              bool     // there is a note, which is kept elsewhere
	Languages         []string // at most MaxLanguages codes, in the order chosen
}

// The limits of an Option.
const (
	MaxLanguages = 64
	MaxLanguage  = 35 // bytes of one code, of A-Z, a-z, 0-9 and -
)

const (
	flagHideReposts = 1 << iota
	flagNotify
	flagHideNotifications
	flagMuteUntil
	flagNote
	flagLanguages
	flagsEnd
)

// IsZero reports whether nothing was chosen.
func (o Option) IsZero() bool { return o.flags() == 0 }

func (o *Option) flags() (f byte) {
	for i, set := range []bool{
		o.HideReposts, o.Notify, o.HideNotifications,
		o.MuteUntil != 0, o.Note, len(o.Languages) != 0,
	} {
		if set {
			f |= 1 << i
		}
	}
	return f
}

// Check returns an error where the option goes past the limits; SetOption would
// refuse it too.
func (o Option) Check() error {
	if len(o.Languages) > MaxLanguages {
		return fmt.Errorf("%d languages: %w", len(o.Languages), repo.ErrTooLarge)
	}
	for _, code := range o.Languages {
		if !ValidLanguage(code) {
			return fmt.Errorf("language %.40q is not a code", code)
		}
	}
	return nil
}

// ValidLanguage tells whether code has the form of a language code.
func ValidLanguage(code string) bool {
	if code == "" || len(code) > MaxLanguage {
		return false
	}
	for _, c := range []byte(code) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-':
		default:
			return false
		}
	}
	return true
}

// append adds the packed option to b.
func (o *Option) append(b []byte) []byte {
	f := o.flags()
	b = append(b, f)
	if f&flagMuteUntil != 0 {
		b = binary.BigEndian.AppendUint32(b, o.MuteUntil)
	}
	if f&flagLanguages != 0 {
		codes := strings.Join(o.Languages, ",")
		b = append(binary.AppendUvarint(b, uint64(len(codes))), codes...)
	}
	return b
}

// rawOption is one option entry, still packed but cut to its parts.
type rawOption struct {
	flags     byte
	muteUntil uint32
	languages []byte
	size      int // bytes it takes in the column
}

// cutOption reads the first option of a column. It checks lengths and that the bytes are
// canonical, but not the language codes.
func cutOption(col []byte) (o rawOption, err error) {
	if len(col) == 0 {
		return o, fmt.Errorf("%w: options end early", ErrFormat)
	}
	o.flags = col[0]
	if o.flags == 0 || o.flags >= flagsEnd {
		return o, fmt.Errorf("%w: option flags %#x", ErrFormat, o.flags)
	}
	rest, ok := col[1:], true
	if o.flags&flagMuteUntil != 0 {
		o.muteUntil, rest, ok = cutTime(rest)
	}
	if ok && o.flags&flagLanguages != 0 {
		o.languages, rest, ok = cutText(rest, MaxLanguages*(MaxLanguage+1)-1)
	}
	if !ok {
		return o, fmt.Errorf("%w: what option flags %#x announce", ErrFormat, o.flags)
	}
	o.size = len(col) - len(rest)
	return o, nil
}

func cutTime(b []byte) (t uint32, rest []byte, ok bool) {
	if len(b) < 4 {
		return 0, nil, false
	}
	t = binary.BigEndian.Uint32(b)
	return t, b[4:], t != 0
}

func cutText(b []byte, most uint64) (text, rest []byte, ok bool) {
	size, n := uvarint(b)
	if n == 0 || size == 0 || size > most || size > uint64(len(b)-n) {
		return nil, nil, false
	}
	b = b[n:]
	return b[:size:size], b[size:], true
}

// open unpacks the entry and checks its limits.
func (r *rawOption) open() (Option, error) {
	o := Option{
		HideReposts:       r.flags&flagHideReposts != 0,
		Notify:            r.flags&flagNotify != 0,
		HideNotifications: r.flags&flagHideNotifications != 0,
		MuteUntil:         r.muteUntil,
		Note:              r.flags&flagNote != 0,
	}
	if r.flags&flagLanguages != 0 {
		o.Languages = strings.Split(string(r.languages), ",")
	}
	if err := o.Check(); err != nil {
		return Option{}, fmt.Errorf("%w: option: %v", ErrFormat, err)
	}
	return o, nil
}

// checkLanguages is what open checks beyond cutOption, without unpacking.
func (r *rawOption) checkLanguages() error {
	if r.flags&flagLanguages == 0 {
		return nil
	}
	n := 0
	for code := range bytes.SplitSeq(r.languages, []byte{','}) {
		if n++; n > MaxLanguages || !ValidLanguage(string(code)) {
			return fmt.Errorf("%w: languages of an option", ErrFormat)
		}
	}
	return nil
}

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

// Options returns all that the owner chose, by id. Errors wrap ErrFormat.
func (v View) Options() (map[uint64]Option, error) {
	ids, col := v.ids(Options), v.column(Options)
	out := make(map[uint64]Option, v.Len(Options))
	for i := range v.Len(Options) {
		raw, err := cutOption(col)
		if err == nil {
			out[v.id(ids, i)], err = raw.open()
		}
		if err != nil {
			return nil, fmt.Errorf("options: %w", err)
		}
		col = col[raw.size:]
	}
	return out, nil
}

func openOption(col []byte) (Option, error) {
	raw, err := cutOption(col)
	if err != nil {
		return Option{}, err
	}
	return raw.open()
}

// openOptionEntry is an entry of the opened section options, which stays packed, as most
// lists are opened for other edits.
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

// all returns the entries, the smallest id first.
func (o *openOptions) all() []openOptionEntry {
	if o.packed != nil {
		col := o.packed.column(Options)
		entries := make([]openOptionEntry, 0, o.packed.Len(Options)+1)
		err := o.packed.eachRawOption(col, func(id uint64, raw rawOption) {
			entries = append(entries, openOptionEntry{id: id, packed: col[:raw.size:raw.size]})
			col = col[raw.size:]
		})
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
	_, ok := o.find(id)
	return ok
}

// find returns where the entry of id stands or would stand.
func (o *openOptions) find(id uint64) (int, bool) {
	return slices.BinarySearchFunc(o.all(), id, func(e openOptionEntry, id uint64) int { return cmp.Compare(e.id, id) })
}

// Option returns what the owner chose about id; zero if nothing.
func (l *List) Option(id uint64) Option {
	if !l.options.has(id) {
		return Option{}
	}
	at, _ := l.options.find(id)
	o, err := openOption(l.options.entries[at].packed)
	if err != nil {
		panic("list: option was not checked when it came in: " + err.Error())
	}
	return o
}

// SetOption sets what the owner chose about id and reports whether that is new; a zero
// Option removes the entry. An option past the limits is refused, with repo.ErrTooLarge for
// too many languages, and so is an id past MaxID.
func (l *List) SetOption(id uint64, o Option) (changed bool, err error) {
	if !validID(id) {
		return false, fmt.Errorf("set option of %d: no such id", id)
	}
	if err := o.Check(); err != nil {
		return false, fmt.Errorf("set option of %d: %w", id, err)
	}
	if o.IsZero() && !l.options.has(id) {
		return false, nil
	}
	at, ok := l.options.find(id)
	e := openOptionEntry{id: id, packed: o.append(nil)}
	switch {
	case o.IsZero():
		l.options.entries = slices.Delete(l.options.entries, at, at+1)
	case !ok:
		l.options.entries = slices.Insert(l.options.entries, at, e)
	case bytes.Equal(l.options.entries[at].packed, e.packed):
		return false, nil
	default:
		l.options.entries[at] = e
	}
	l.Dirty = true
	return true, nil
}

// Packed returns the bytes of the option about id, nil if there is none. They are
// not to be changed.
func (l *List) Packed(id uint64) []byte {
	if at, ok := l.options.find(id); ok {
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
