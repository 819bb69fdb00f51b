package relation

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"

	"kith/repo/cache"
	"kith/repo/list"
)

// The cached forms. A row is its counts, updated_at and archived_at (20 bytes) and
// then the list; a head is the counts alone (12 bytes). The digit in a key is the
// version of the form.

func rowKey(id uint64) string  { return "r1:" + strconv.FormatUint(id, 36) }
func headKey(id uint64) string { return "h1:" + strconv.FormatUint(id, 36) }

// rowHead is what stands before the list of a cached row.
const rowHead = 20

// head is a row without its list.
type head struct {
	AccountID uint64 `db:"account_id"`
	Ver       uint64 `db:"ver"`
	Counts
}

var errCached = errors.New("bad cached relation")

func packRow(r Row) (uint64, []byte) {
	if r.Ver == 0 {
		return 0, nil
	}
	b := appendCounts(make([]byte, 0, rowHead+len(r.List)), r.Counts)
	b = binary.BigEndian.AppendUint32(b, r.UpdatedAt)
	b = binary.BigEndian.AppendUint32(b, r.ArchivedAt)
	return r.Ver, append(b, r.List...)
}

func unpackRow(id uint64, e cache.Entry) (Row, error) {
	if e.Ver == 0 {
		return absent(id), nil
	}
	if len(e.Value) < rowHead {
		return Row{}, errCached
	}
	r := Row{AccountID: id, Ver: e.Ver, Counts: readCounts(e.Value), UpdatedAt: binary.BigEndian.Uint32(e.Value[12:]),
		ArchivedAt: binary.BigEndian.Uint32(e.Value[16:]), List: e.Value[rowHead:]}
	_, err := r.View()
	return r, err
}

func packHead(h head) (uint64, []byte) {
	if h.Ver == 0 {
		return 0, nil
	}
	return h.Ver, appendCounts(make([]byte, 0, 12), h.Counts)
}

func unpackHead(id uint64, e cache.Entry) (head, error) {
	if e.Ver == 0 {
		return head{AccountID: id}, nil
	}
	if len(e.Value) != 12 {
		return head{}, errCached
	}
	return head{AccountID: id, Ver: e.Ver, Counts: readCounts(e.Value)}, nil
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

// Tell puts committed rows and their heads into the cache.
func (s *Store) Tell(ctx context.Context, rows []Row) {
	ids := make([]uint64, len(rows))
	heads := make([]head, len(rows))
	for i, r := range rows {
		ids[i] = r.AccountID
		heads[i] = head{AccountID: r.AccountID, Ver: r.Ver, Counts: r.Counts}
	}
	s.rows.Tell(ctx, ids, rows)
	s.heads.Tell(ctx, ids, heads)
}

// forget drops what the cache holds of rows and their heads.
func (s *Store) forget(ctx context.Context, rows []Row) {
	ids := make([]uint64, len(rows))
	for i, r := range rows {
		ids[i] = r.AccountID
	}
	s.rows.Forget(ctx, ids)
	s.heads.Forget(ctx, ids)
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
