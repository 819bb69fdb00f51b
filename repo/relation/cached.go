package relation

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"

	"kith/repo/cache"
	"kith/repo/list"
)

// The cached form: the value is the head of a row, that is its counts, updated_at
// and archived_at (20 bytes), the body its list. The digit in the key is the version
// of the form, that of the list included.

func rowKey(id uint64) string { return "r3:" + strconv.FormatUint(id, 36) }

// headBytes is the length of a cached head.
const headBytes = 20

// head is a row without its list.
type head struct {
	AccountID uint64 `db:"account_id"`
	Ver       uint64 `db:"ver"`
	Counts
	UpdatedAt  uint32 `db:"updated_at"`
	ArchivedAt uint32 `db:"archived_at"`
}

var errCached = errors.New("bad cached relation")

func packRow(r Row) cache.Entry {
	if r.Ver == 0 {
		return cache.Entry{}
	}
	h := head{Counts: r.Counts, UpdatedAt: r.UpdatedAt, ArchivedAt: r.ArchivedAt}
	return cache.Entry{Ver: r.Ver, Value: h.bytes(), Body: r.List, Token: r.token}
}

func packHead(h head) cache.Entry {
	if h.Ver == 0 {
		return cache.Entry{}
	}
	return cache.Entry{Ver: h.Ver, Value: h.bytes(), Partial: true}
}

func (h head) bytes() []byte {
	b := appendCounts(make([]byte, 0, headBytes), h.Counts)
	b = binary.BigEndian.AppendUint32(b, h.UpdatedAt)
	return binary.BigEndian.AppendUint32(b, h.ArchivedAt)
}

func unpackRow(id uint64, e cache.Entry) (Row, error) {
	if e.Ver == 0 {
		r := absent(id)
		r.token = e.Token
		return r, nil
	}
	h, err := unpackHead(id, e)
	if err != nil {
		return Row{}, err
	}
	r := Row{AccountID: id, Ver: e.Ver, Counts: h.Counts, UpdatedAt: h.UpdatedAt, ArchivedAt: h.ArchivedAt, List: e.Body, token: e.Token}
	_, err = r.View()
	return r, err
}

func unpackHead(id uint64, e cache.Entry) (head, error) {
	if e.Ver == 0 {
		return head{AccountID: id}, nil
	}
	if len(e.Value) != headBytes {
		return head{}, errCached
	}
	return head{AccountID: id, Ver: e.Ver, Counts: readCounts(e.Value),
		UpdatedAt: binary.BigEndian.Uint32(e.Value[12:]), ArchivedAt: binary.BigEndian.Uint32(e.Value[16:])}, nil
}

func appendCounts(b []byte, c Counts) []byte {
	b = binary.BigEndian.AppendUint32(b, c.Friends)
	b = binary.BigEndian.AppendUint32(b, c.Followers)
	return binary.BigEndian.AppendUint32(b, c.Following)
}

func readCounts(b []byte) Counts {
	return Counts{
		Friends:   binary.BigEndian.Uint32(b),
		Followers: binary.BigEndian.Uint32(b[4:]),
		Following: binary.BigEndian.Uint32(b[8:]),
	}
}

// Tell puts committed rows into the cache.
func (s *Store) Tell(ctx context.Context, rows []Row) {
	ids := idsOf(rows)
	s.heads.Outdate(ids)
	s.rows.Tell(ctx, ids, rows)
}

// forget drops what the cache holds of rows.
func (s *Store) forget(ctx context.Context, rows []Row) {
	ids := idsOf(rows)
	s.heads.Outdate(ids)
	s.rows.Forget(ctx, ids)
}

func idsOf(rows []Row) []uint64 {
	ids := make([]uint64, len(rows))
	for i, r := range rows {
		ids[i] = r.AccountID
	}
	return ids
}

func keptFollowers(v list.View) int { return v.Len(list.Friends) + v.Len(list.Followers) }

// BlockEntries is how many entries make a block, the unit of the column blocks.
const BlockEntries = 64

// blocks is the length of the longest section in blocks, for the index by which
// the trim job finds long rows.
func blocks(v list.View) int {
	return max(v.Len(list.Friends), v.Len(list.Followers), v.Len(list.Following)) / BlockEntries
}

func keptFollowing(v list.View) int { return v.Len(list.Friends) + v.Len(list.Following) }
