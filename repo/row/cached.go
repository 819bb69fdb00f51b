package row

import (
	"context"
	"strconv"

	"kith/repo/cache"
)

func (s *Store[R]) key(b []byte, id uint64) []byte {
	return strconv.AppendUint(append(b, s.kind.Key...), id, 36)
}

func (s *Store[R]) pack(r R) cache.Entry {
	m := s.kind.Meta(&r)
	if m.Ver == 0 {
		return cache.Entry{}
	}
	value, body := s.kind.Pack(&r)
	return cache.Entry{Ver: m.Ver, Value: value, Body: body, Token: m.token}
}

func (s *Store[R]) packHead(r R) cache.Entry {
	e := s.pack(r)
	return cache.Entry{Ver: e.Ver, Value: e.Value, Partial: e.Ver > 0}
}

func (s *Store[R]) unpack(id uint64, e cache.Entry) (R, error) {
	m := Meta{AccountID: id, Ver: e.Ver, token: e.Token}
	if e.Ver == 0 {
		return s.kind.Empty(m), nil
	}
	return s.kind.Unpack(m, e.Value, e.Body, e.Partial)
}

// Put puts committed rows into the cache.
func (s *Store[R]) Put(ctx context.Context, rows []R) {
	if len(rows) > 0 {
		ids := s.kind.ids(rows)
		s.heads.Outdate(ids)
		s.rows.Tell(ctx, ids, rows)
	}
}

// Drop drops what the cache holds of rows that may have been written.
func (s *Store[R]) Drop(ctx context.Context, rows []R) {
	if len(rows) > 0 {
		ids := s.kind.ids(rows)
		s.heads.Outdate(ids)
		s.rows.Forget(ctx, ids)
	}
}
