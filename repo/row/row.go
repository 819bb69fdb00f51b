package row

import (
	"context"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
)

// Meta is what every row has apart from its content; a kind of row embeds it.
type Meta struct {
	AccountID uint64 `db:"account_id"`
	Ver       uint64 `db:"ver"`        // 0: there is no row yet
	UpdatedAt uint32 `db:"updated_at"` // unix seconds; 0 in a row that comes from the cache

	past  uint64      // a ver that the next one must be higher than
	step  uint64      // what a swap raised Ver by, 0 until then
	token cache.Token // of the cache entry that this row, or the one before it, was read from
}

// neverUpdated dates a phantom.
const neverUpdated = 0

// Next is the Meta of the row that is to replace this one, dated now (unix seconds). Its
// Ver is still the one that was read, until it is swapped.
func (m Meta) Next(now uint32) Meta {
	m.UpdatedAt, m.step = max(now, neverUpdated+1), 0
	return m
}

// Past has the next ver be higher than another one, too.
func (m *Meta) Past(ver uint64) { m.past = max(m.past, ver) }

// Last is the ver that the next one will be higher than.
func (m *Meta) Last() uint64 { return max(m.Ver, m.past) }

// Kind says how the rows R of one table are read and written.
type Kind[R any] struct {
	Table   string
	Columns []string // without the bucket and those of Meta, the list first
	Meta    func(*R) *Meta
	// Empty is the row of an account that has none.
	Empty func(Meta) R
	// Scan reads the content: scan takes where Columns go, in their order. The list may
	// come empty, where only the rest was asked for (Heads).
	Scan func(r *R, scan func(columns ...any) error) error
	// Values appends the content as it is stored, in the order of Columns.
	Values func(args []any, r *R) ([]any, error)

	// Key begins the names of cache entries; it carries the version of their form.
	Key string
	// Pack writes the cached form, see cache.Entry.
	Pack func(r *R) (value, body []byte)
	// Unpack reads it. A partial one comes without its body.
	Unpack func(m Meta, value, body []byte, partial bool) (R, error)

	// Attached reports whether a row brings more than itself; Attach stores that, in the
	// transaction that swaps the row, after the swap. A kind may have none.
	Attached func(*R) bool
	Attach   func(ctx context.Context, tx *sqlx.Tx, r *R) error
}

// ids returns whose rows these are.
func (k *Kind[R]) ids(rows []R) []uint64 {
	ids := make([]uint64, len(rows))
	for i := range rows {
		ids[i] = k.Meta(&rows[i]).AccountID
	}
	return ids
}

// raise gives rows their next ver, by a step that is the same for all, and the same
// date. Rows that have theirs already keep it.
func (k *Kind[R]) raise(rows []R) {
	step, now := repo.Step(), uint32(neverUpdated+1)
	for i := range rows {
		m := k.Meta(&rows[i])
		if m.step > 0 {
			return
		}
		step = max(step, m.past+step)
		now = max(now, m.UpdatedAt)
	}
	for i := range rows {
		m := k.Meta(&rows[i])
		m.Ver += step
		m.step, m.UpdatedAt = step, now
	}
}
