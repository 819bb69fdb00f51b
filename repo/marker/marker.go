// Package marker keeps read positions: how far an account has read a timeline, a row each in
// the bucket of the account. A row is changed by a compare-and-swap on its ver.
package marker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// Timeline is what a position is in.
type Timeline uint8

// The timelines, as they are stored.
const (
	Home          Timeline = 1
	Notifications Timeline = 2
)

// MaxRecent is how many entries a marker notes as handed out.
const MaxRecent = 128

// Marker is a read position. One with Ver 0 is not stored.
type Marker struct {
	Timeline  Timeline
	Ver       uint64   // counts up from 1
	LastRead  uint64   // 0: none
	Settled   uint64   // all up to it is read or passed
	Recent    []uint64 // what was handed out above Settled, ascending, MaxRecent at most
	UpdatedAt uint32   // unix seconds
}

// Store reads and swaps markers. It is safe for concurrent use.
type Store struct{ db *sqlx.DB }

// New makes a store.
func New(pool *sqlx.DB) *Store { return &Store{pool} }

// Of returns the markers of an account on timelines, in their order. Index: PRIMARY (bucket,
// account_id, timeline), one range.
func (s *Store) Of(ctx context.Context, account uint64, timelines ...Timeline) ([]Marker, error) {
	if len(timelines) == 0 {
		return nil, nil
	}
	var rows []struct {
		Timeline  Timeline `db:"timeline"`
		Ver       uint64   `db:"ver"`
		LastRead  uint64   `db:"last_read_id"`
		Settled   uint64   `db:"settled_id"`
		Recent    []byte   `db:"recent"`
		UpdatedAt uint32   `db:"updated_at"`
	}
	err := s.db.SelectContext(ctx, &rows, `SELECT timeline, ver, last_read_id, settled_id, recent, updated_at FROM marker WHERE bucket = ? AND account_id = ?`, repo.Bucket(account), account)
	if err != nil {
		return nil, fmt.Errorf("load markers of %d: %w", account, db.Wrap(err))
	}
	out := make([]Marker, len(timelines))
	for i, t := range timelines {
		out[i].Timeline = t
		for _, r := range rows {
			if r.Timeline != t {
				continue
			}
			recent, err := unpack(r.Recent, r.Settled)
			if err != nil {
				return nil, fmt.Errorf("load marker %d of %d: %w", t, account, err)
			}
			out[i] = Marker{t, r.Ver, r.LastRead, r.Settled, recent, r.UpdatedAt}
		}
	}
	return out, nil
}

// tries is how often a transaction that ends in a deadlock is run.
const tries = 10

// Swap writes markers of an account, all or none: each in place of the one with its Ver,
// which goes up by one. It returns them as they are stored, or repo.ErrConflict where
// another was first.
func (s *Store) Swap(ctx context.Context, account uint64, markers []Marker) ([]Marker, error) {
	out := slices.Clone(markers)
	slices.SortFunc(out, func(a, b Marker) int { return int(a.Timeline) - int(b.Timeline) })
	err := db.Retry(ctx, tries, func(ctx context.Context) error {
		return db.WithTx(ctx, s.db, func(tx *sqlx.Tx) error {
			for i := range out {
				if err := swap(ctx, tx, account, &out[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
	for i := range out {
		out[i].Ver++
	}
	if db.OutcomeUnknown(err) && s.holds(ctx, account, out) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("swap markers of %d: %w", account, db.Wrap(err))
	}
	return out, nil
}

var errLost = fmt.Errorf("another marker was written meanwhile: %w", repo.ErrConflict)

// swap writes one marker. Index: PRIMARY, one row.
func swap(ctx context.Context, tx *sqlx.Tx, account uint64, m *Marker) error {
	recent, err := pack(m.Recent, m.Settled)
	if err != nil {
		return err
	}
	if m.Ver == 0 {
		_, err := tx.ExecContext(ctx, `INSERT INTO marker (bucket, account_id, timeline, ver, last_read_id, settled_id, recent, updated_at) VALUES (?,?,?,1,?,?,?,?)`,
			repo.Bucket(account), account, m.Timeline, m.LastRead, m.Settled, recent, m.UpdatedAt)
		return err // a duplicate is a conflict
	}
	done, err := tx.ExecContext(ctx, `UPDATE marker SET ver = ver + 1, last_read_id = ?, settled_id = ?, recent = ?, updated_at = ? WHERE bucket = ? AND account_id = ? AND timeline = ? AND ver = ?`,
		m.LastRead, m.Settled, recent, m.UpdatedAt, repo.Bucket(account), account, m.Timeline, m.Ver)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, errLost)
	}
	return nil
}

// holds reports whether the database has these markers: after a lost connection, whether the
// swap was done. Where another wrote the very same, that is as good.
func (s *Store) holds(ctx context.Context, account uint64, markers []Marker) bool {
	for _, want := range markers {
		found, err := s.Of(ctx, account, want.Timeline)
		if err != nil || !want.equal(found[0]) {
			return false
		}
	}
	return true
}

func (m Marker) equal(o Marker) bool {
	return m.Timeline == o.Timeline && m.Ver == o.Ver && m.LastRead == o.LastRead && m.Settled == o.Settled && m.UpdatedAt == o.UpdatedAt && slices.Equal(m.Recent, o.Recent)
}

var errRecent = errors.New("the recent entries are no ascending ids above the settled one")

func pack(recent []uint64, settled uint64) ([]byte, error) {
	b := make([]byte, 0, 8*len(recent))
	for _, id := range recent {
		b = binary.BigEndian.AppendUint64(b, id)
	}
	_, err := unpack(b, settled)
	return b, err
}

func unpack(b []byte, settled uint64) ([]uint64, error) {
	if len(b)%8 != 0 || len(b) > 8*MaxRecent {
		return nil, errRecent
	}
	var out []uint64
	for last := settled; len(b) > 0; b = b[8:] {
		id := binary.BigEndian.Uint64(b)
		if id <= last {
			return nil, errRecent
		}
		out, last = append(out, id), id
	}
	return out, nil
}
