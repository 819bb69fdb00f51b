// Package feed keeps author feeds: what each author posted and reposted last.
//
// A feed is a versioned row (package row): the newest 800 events of its author, packed
// (package event), the number of posts, and the highest id that the author ever had. Older
// events are found in the table post. Events of deleted posts stay, in both.
//
// All that an author does to its own posts is an edit of its feed, through a committer. The
// swap of the feed's row brings the rest in the same transaction, all of it in the author's
// bucket: the rows of new posts, the state of deleted ones, the mark that says which post
// was reposted, the Idempotency-Key, and the tasks for what lies elsewhere. So a post, its
// entry in the feed and its tasks are there together or not at all, and ids of an author
// never fall, since the next one is made from the last one in the row.
//
//	Add      feed row, post row, tasks, key     swap where ver is what was read
//	Remove   feed row, post row, mark, tasks    the same, under the lock of the row
//
// A commit may change feeds of several buckets. An engine that shards may store it in part
// and say that it failed, and then all of it is done again: each edit must find out what of
// it is there (app/post).
//
// In the cache a feed has a head with the newest events, so that the feeds of a thousand
// authors are a short answer, and a body with all.
package feed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"kith/repo/event"
	"kith/repo/list"
	"kith/repo/row"
)

const (
	// MaxEvents is how many events a feed holds.
	MaxEvents = 800
	// HeadEvents is how many of them stand in the head.
	HeadEvents = 32
)

// Row is the feed of an author. A row that came as a head has its newest events
// only.
type Row struct {
	row.Meta
	Statuses uint32 // posts and reposts that are neither deleted nor direct
	LastID   uint64 // the highest id that the author ever had
	// Newest is the newest of these, 0: none of those that the row has.
	Newest uint64
	// Floor is the id from which on the row has all events; 0: it has all there are.
	Floor uint64
	// PulledSince is since when the events of the author are not pushed, in unix
	// seconds; 0: they are.
	PulledSince uint32

	packed []byte // the events, newest first; nil where only the head is there
	head   []byte // the newest of them; nil where packed is no longer than that

	attached *work // what a packed draft brings
}

// Events appends the events of the row to dst, newest first. From the id floor on they are
// all there are.
func (r *Row) Events(dst []event.Event) (events []event.Event, floor uint64, err error) {
	if r.packed == nil {
		return r.Head(dst)
	}
	dst, err = r.read(dst, r.packed)
	return dst, r.Floor, err
}

// Head is Events for the newest ones only.
func (r *Row) Head(dst []event.Event) (events []event.Event, floor uint64, err error) {
	if r.head == nil {
		dst, err = r.read(dst, r.packed)
		return dst, r.Floor, err
	}
	if dst, err = r.read(dst, r.head); err == nil && len(dst) > 0 {
		floor = dst[len(dst)-1].ID
	}
	return dst, floor, err
}

func (r *Row) read(dst []event.Event, packed []byte) ([]event.Event, error) {
	if len(packed) == 0 {
		return dst, nil
	}
	dst, err := event.ReadFeed(dst, packed, r.ID)
	if err != nil {
		err = fmt.Errorf("feed of %d, ver %d: %w", r.ID, r.Ver, err)
	}
	return dst, err
}

// kind is how feeds are stored and cached. The head is
//
//	statuses, last id, newest id, floor, pulled since: uvarints
//	1 byte     1: the events that follow are all that the row has, and there is no body
//	           0: they are the newest, and the body has all
//	events     packed
func kind() row.Kind[Row] {
	return row.Kind[Row]{
		Table:   `author_feed`,
		Columns: []string{`list`, `statuses`, `last_id`, `newest_id`, `floor_id`, `pulled_since`},
		Meta:    func(r *Row) *row.Meta { return &r.Meta },
		Empty:   func(m row.Meta) Row { return Row{Meta: m} },
		Scan: func(r *Row, scan func(...any) error) error {
			return scan(&r.packed, &r.Statuses, &r.LastID, &r.Newest, &r.Floor, &r.PulledSince)
		},
		Values: func(args []any, r *Row) ([]any, error) {
			return append(args, r.packed, r.Statuses, r.LastID, r.Newest, r.Floor, r.PulledSince), nil
		},
		Key:      "e1:",
		Pack:     pack,
		Unpack:   unpack,
		Attached: func(r *Row) bool { return r.attached != nil },
		Redo:     true,
	}
}

func pack(r *Row) (head, body []byte) {
	head = make([]byte, 0, 64)
	for _, n := range [...]uint64{uint64(r.Statuses), r.LastID, r.Newest, r.Floor, uint64(r.PulledSince)} {
		head = binary.AppendUvarint(head, n)
	}
	events, err := event.ReadFeed(nil, r.packed, r.ID)
	if err != nil || len(events) <= HeadEvents { // bad bytes are found out by whoever reads them
		return append(append(head, 1), r.packed...), nil
	}
	head, err = event.AppendFeed(append(head, 0), r.ID, events[:HeadEvents])
	if err != nil {
		return nil, nil // cannot be: they were just read
	}
	return head, r.packed
}

var errCached = errors.New("bad cached feed")

func unpack(m row.Meta, head, body []byte, partial bool) (Row, error) {
	r := Row{Meta: m}
	var n [5]uint64
	for i, most := range [...]uint64{math.MaxUint32, list.MaxID, list.MaxID, list.MaxID, math.MaxUint32} {
		v, size := binary.Uvarint(head)
		if size <= 0 || v > most {
			return Row{}, errCached
		}
		n[i], head = v, head[size:]
	}
	if len(head) == 0 || head[0] > 1 {
		return Row{}, errCached
	}
	r.Statuses, r.LastID, r.Newest, r.Floor, r.PulledSince = uint32(n[0]), n[1], n[2], n[3], uint32(n[4])
	switch {
	case head[0] == 1:
		r.packed = head[1:]
	case partial:
		r.head = head[1:]
	default:
		r.head, r.packed = head[1:], body
	}
	return r, nil
}
