package list

import (
	"bytes"
	"encoding/binary"
	"fmt"
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

// IsZero tells whether nothing was chosen.
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

// check finds what goes past the limits.
func (o *Option) check() error {
	if len(o.Languages) > MaxLanguages {
		return fmt.Errorf("%d languages: %w", len(o.Languages), repo.ErrTooLarge)
	}
	for _, code := range o.Languages {
		if !validLanguage(code) {
			return fmt.Errorf("language %.40q is not a code", code)
		}
	}
	return nil
}

func validLanguage(code string) bool {
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
		b = appendText(b, strings.Join(o.Languages, ","))
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// rawOption is one option entry, still packed but cut to its parts.
type rawOption struct {
	flags     byte
	muteUntil uint32
	languages []byte
	size      int // bytes it takes in the column
}

// cutOption reads the first option of a column. It makes sure of lengths and
// of what makes bytes canonical, not of the language codes.
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

// open unpacks the entry and makes sure that it keeps to the limits.
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
	if err := o.check(); err != nil {
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
		if n++; n > MaxLanguages || !validLanguage(string(code)) {
			return fmt.Errorf("%w: languages of an option", ErrFormat)
		}
	}
	return nil
}
