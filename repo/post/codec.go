package post

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"kith/repo/list"
	"kith/repo/row"
)

// ErrFormat says that bytes are not a post.
var ErrFormat = errors.New("bad post bytes")

// The versions of the packed forms.
const (
	detailsVersion = 1
	cachedKey      = "p1:"
)

// reader takes a packed form apart. The first thing that is not there makes it bad.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uint(most uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > most {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) string() string {
	n := int(r.uint(uint64(len(r.b))))
	if n > len(r.b) {
		r.b, r.bad = nil, true
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

// end returns an error unless all was there, and nothing else.
func (r *reader) end() error {
	if r.bad || len(r.b) > 0 {
		return ErrFormat
	}
	return nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// The flags of details.
const (
	isSensitive = 1 << iota
	isImported
)

// appendDetails packs what has no column of its own. A post without any has no bytes.
//
//	version 1, flags (1: sensitive, 2: imported); of an imported post 8 bytes, big-endian;
//	mentions: number, ids; media: number, and of each the three strings with their lengths;
//	all numbers uvarints
func appendDetails(b []byte, p *Post) []byte {
	if !p.Sensitive && p.Imported == 0 && len(p.Mentions) == 0 && len(p.Media) == 0 {
		return b
	}
	flags := byte(0)
	if p.Sensitive {
		flags |= isSensitive
	}
	if p.Imported != 0 {
		flags |= isImported
	}
	b = append(b, detailsVersion, flags)
	if p.Imported != 0 {
		b = binary.BigEndian.AppendUint64(b, p.Imported)
	}
	b = binary.AppendUvarint(b, uint64(len(p.Mentions)))
	for _, id := range p.Mentions {
		b = binary.AppendUvarint(b, id)
	}
	b = binary.AppendUvarint(b, uint64(len(p.Media)))
	for _, m := range p.Media {
		b = appendString(appendString(appendString(b, m.URL), m.Preview), m.Description)
	}
	return b
}

func (p *Post) readDetails(b []byte) error {
	p.Sensitive, p.Imported, p.Mentions, p.Media = false, 0, nil, nil
	if len(b) == 0 {
		return nil
	}
	if len(b) < 2 || b[0] != detailsVersion || b[1] > isSensitive|isImported {
		return fmt.Errorf("%w: version or flags", ErrFormat)
	}
	p.Sensitive = b[1]&isSensitive != 0
	r := reader{b: b[2:]}
	if b[1]&isImported != 0 {
		if len(r.b) < 8 {
			return fmt.Errorf("%w: what it was imported as", ErrFormat)
		}
		p.Imported, r.b = binary.BigEndian.Uint64(r.b), r.b[8:]
	}
	for range r.uint(uint64(len(r.b))) {
		p.Mentions = append(p.Mentions, r.uint(list.MaxID))
	}
	for range r.uint(uint64(len(r.b))) {
		p.Media = append(p.Media, Media{r.string(), r.string(), r.string()})
	}
	return r.end()
}

// pack is the cached form. A post is short, so it has no body apart.
func pack(p *Post) (value, _ []byte) {
	b := make([]byte, 0, 64+len(p.Text)+len(p.Spoiler))
	b = append(b, byte(p.Visibility), byte(p.State))
	for _, n := range [...]uint64{p.Author, p.Origin, p.ReplyTo, p.ReplyWho, uint64(p.Replies), uint64(p.Reposts), uint64(p.Favourites)} {
		b = binary.AppendUvarint(b, n)
	}
	b = appendString(appendString(appendString(b, p.Language), p.Spoiler), p.Text)
	return appendDetails(b, p), nil
}

func unpack(m row.Meta, b, _ []byte, _ bool) (Post, error) {
	p := Post{Meta: m}
	if len(b) < 2 {
		return p, ErrFormat
	}
	p.Visibility, p.State = Visibility(b[0]), State(b[1])
	r := reader{b: b[2:]}
	for _, to := range [...]*uint64{&p.Author, &p.Origin, &p.ReplyTo, &p.ReplyWho} {
		*to = r.uint(list.MaxID)
	}
	for _, to := range [...]*uint32{&p.Replies, &p.Reposts, &p.Favourites} {
		*to = uint32(r.uint(math.MaxUint32))
	}
	p.Language, p.Spoiler, p.Text = r.string(), r.string(), r.string()
	details := r.b
	if r.b = nil; r.end() != nil {
		return p, ErrFormat
	}
	return p, p.readDetails(details)
}
