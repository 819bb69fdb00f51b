package repo

import (
	"math"
	"slices"
)

// IDRange says which part of an order by ids is wanted.
type IDRange struct {
	Before uint64 // only ids below it; 0: from the newest
	After  uint64 // only ids above it
	Limit  int    // at most so many
	Oldest bool   // of those in between, the oldest and not the newest
}

// Below returns the id that all must be below.
func (r IDRange) Below() uint64 {
	if r.Before == 0 {
		return math.MaxInt64
	}
	return r.Before
}

// Order writes the end of a query: the order by a column, and a limit.
func (r IDRange) Order(column string) string {
	if r.Oldest {
		return ` ORDER BY ` + column + ` LIMIT ?`
	}
	return ` ORDER BY ` + column + ` DESC LIMIT ?`
}

// NewestFirst puts the rows of a range in order: the newest first.
func NewestFirst[T any](rows []T, r IDRange) []T {
	if r.Oldest {
		slices.Reverse(rows)
	}
	return rows
}

// Aged is an account, and when the newest of its rows of a table was written.
type Aged struct {
	AccountID uint64 `db:"account_id"`
	UpdatedAt uint32 `db:"updated_at"` // unix seconds
}
