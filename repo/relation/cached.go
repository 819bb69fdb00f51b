package relation

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strconv"

	"kith/repo/cache"
	"kith/repo/list"
)

// The cached form: the value is the head of a row, that is its counts as uvarints and
// then what is archived of it, the body its list. Nobody asks for updated_at through
// the cache. The digit in the key is the version of the form.

func rowKey(b []byte, id uint64) []byte { return strconv.AppendUint(append(b, "r4"...), id, 36) }

// head is a row without its list.
type head struct {
	AccountID uint64 `db:"account_id"`
	Ver       uint64 `db:"ver"`
	Counts
	Archived  []byte `db:"archived"`
	UpdatedAt uint32 `db:"updated_at"` // 0 from the cache
}

var errCached = errors.New("bad cached relation")

func packRow(r Row) cache.Entry {
	if r.Ver == 0 {
		return cache.Entry{}
	}
	h := head{Counts: r.Counts, Archived: r.Archived}
	return cache.Entry{Ver: r.Ver, Value: h.bytes(), Body: r.List, Token: r.token}
}

func packHead(h head) cache.Entry {
	if h.Ver == 0 {
		return cache.Entry{}
	}
	return cache.Entry{Ver: h.Ver, Value: h.bytes(), Partial: true}
}

func (h head) bytes() []byte {
	b := make([]byte, 0, 3*binary.MaxVarintLen32+len(h.Archived))
	for _, n := range [...]uint32{h.Friends, h.Followers, h.Following} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return append(b, h.Archived...)
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
	r := Row{AccountID: id, Ver: e.Ver, Counts: h.Counts, Archived: h.Archived, List: e.Body, token: e.Token}
	if _, err = r.Archive(); err == nil {
		_, err = r.View()
	}
	return r, err
}

func unpackHead(id uint64, e cache.Entry) (head, error) {
	h := head{AccountID: id, Ver: e.Ver}
	if e.Ver == 0 {
		return h, nil
	}
	rest := e.Value
	for _, to := range [...]*uint32{&h.Friends, &h.Followers, &h.Following} {
		v, n := binary.Uvarint(rest)
		if n <= 0 || v > math.MaxUint32 {
			return head{}, errCached
		}
		*to = uint32(v)
		rest = rest[n:]
	}
	h.Archived = rest[:len(rest):len(rest)]
	return h, nil
}

// Put puts committed rows into the cache.
func (s *Store) Put(ctx context.Context, rows []Row) {
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
