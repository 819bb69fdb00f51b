package mark

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"kith/repo/row"
)

// headMarks is how many marks a head holds.
const headMarks = 100

// head is the newest marks of an account.
type head struct {
	row.Meta
	marks []Mark // newest first
	floor uint64 // all marks from this id on are there; 0: all
}

// with returns the head with a mark, or without it where its id is 0. It shares nothing that
// is changed.
func (h head) with(m Mark) head {
	next := make([]Mark, 0, len(h.marks)+1)
	if m.ID != 0 {
		next = append(next, m)
	}
	for _, other := range h.marks {
		if other.Kind != m.Kind || other.Post != m.Post {
			next = append(next, other)
		}
	}
	slices.SortFunc(next, newestFirst)
	if len(next) > headMarks {
		h.floor = next[headMarks-1].ID
		next = next[:headMarks]
	}
	h.marks = next
	return h
}

// newest is an id that no mark is above.
func (h head) newest() uint64 {
	if len(h.marks) == 0 {
		return h.floor
	}
	return max(h.marks[0].ID, h.floor)
}

func newestFirst(a, b Mark) int { return cmp.Compare(b.ID, a.ID) }

// markBytes is how long a packed mark is: kind, id, post.
const markBytes = 1 + 8 + 8

var errHead = errors.New("bad bytes of marks")

func (h *head) pack() []byte {
	b := make([]byte, 0, 8+markBytes*len(h.marks))
	for _, m := range h.marks {
		b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(append(b, byte(m.Kind)), m.ID), m.Post)
	}
	return b
}

func (h *head) unpack(b []byte) error {
	if len(b)%markBytes != 0 || len(b) > markBytes*headMarks {
		return fmt.Errorf("%w: %d bytes", errHead, len(b))
	}
	h.marks = make([]Mark, 0, len(b)/markBytes)
	for ; len(b) > 0; b = b[markBytes:] {
		m := Mark{Kind: Kind(b[0]), ID: binary.BigEndian.Uint64(b[1:]), Post: binary.BigEndian.Uint64(b[9:])}
		if n := len(h.marks); m.Kind < Favourite || m.Kind > Pin || n > 0 && h.marks[n-1].ID < m.ID {
			return fmt.Errorf("%w: kind or order", errHead)
		}
		h.marks = append(h.marks, m)
	}
	return nil
}

func kind() row.Kind[head] {
	return row.Kind[head]{
		Table:   `mark_head`,
		Columns: []string{`list`, `floor_id`},
		Meta:    func(h *head) *row.Meta { return &h.Meta },
		Empty:   func(m row.Meta) head { return head{Meta: m} },
		Scan: func(h *head, scan func(...any) error) error {
			var b []byte
			if err := scan(&b, &h.floor); err != nil {
				return err
			}
			return h.unpack(b)
		},
		Values: func(args []any, h *head) ([]any, error) { return append(args, h.pack(), h.floor), nil },
		Key:    "k1:",
		Pack: func(h *head) (value, body []byte) {
			return append(binary.BigEndian.AppendUint64(nil, h.floor), h.pack()...), nil
		},
		Unpack: func(m row.Meta, value, _ []byte, _ bool) (head, error) {
			h := head{Meta: m}
			if len(value) < 8 {
				return h, errHead
			}
			h.floor = binary.BigEndian.Uint64(value)
			return h, h.unpack(value[8:])
		},
	}
}
