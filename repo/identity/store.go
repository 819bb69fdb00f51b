// Package identity keeps the identity of the database: a random number, which stands
// in every cache key, and a secret, which keys the checksums of what is cached. The
// first process makes them; Renew makes others, so that nothing that was cached before
// is found again.
//
// An identity is renewed when the database is no longer what the cache knew: after a
// failover that lost commits, after a restore, and in a copy of a database that is to
// use the memcached of the original. See docs/operations.md.
package identity

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
)

// Store reads and renews the identity. It is safe for concurrent use.
type Store struct{ db *sqlx.DB }

// New makes a store.
func New(pool *sqlx.DB) *Store { return &Store{db: pool} }

// Open returns the identity, and makes it where there is none yet.
func (s *Store) Open(ctx context.Context) (cache.Identity, error) {
	id, err := s.Load(ctx)
	if !errors.Is(err, repo.ErrNotFound) {
		return id, err
	}
	if err := s.put(ctx, ``); err != nil && db.Classify(err) != db.Duplicate {
		return id, fmt.Errorf("make the identity of the database: %w", db.Wrap(err))
	}
	return s.Load(ctx)
}

// Load returns the identity, or wraps repo.ErrNotFound. Index: PRIMARY (bucket).
func (s *Store) Load(ctx context.Context) (id cache.Identity, err error) {
	var row struct {
		ID     uint64 `db:"id"`
		Secret []byte `db:"secret"`
	}
	if err := s.db.GetContext(ctx, &row, `SELECT id, secret FROM cache_identity WHERE bucket = 0`); err != nil {
		return id, fmt.Errorf("read the identity of the database: %w", db.Wrap(err))
	}
	if len(row.Secret) != cache.SecretBytes {
		return id, fmt.Errorf("the secret of the database's identity has %d bytes, want %d: type kith cache renew", len(row.Secret), cache.SecretBytes)
	}
	id.ID = row.ID
	copy(id.Secret[:], row.Secret)
	return id, nil
}

// Renew gives the database another identity. Doing it twice does no harm.
func (s *Store) Renew(ctx context.Context) error {
	err := s.put(ctx, ` ON DUPLICATE KEY UPDATE id = VALUES(id), secret = VALUES(secret), renewed_at = VALUES(renewed_at)`)
	if err != nil {
		return fmt.Errorf("renew the identity of the database: %w", db.Wrap(err))
	}
	return nil
}

// put makes a new identity. Index: PRIMARY (bucket).
func (s *Store) put(ctx context.Context, orElse string) error {
	var b [8 + cache.SecretBytes]byte
	rand.Read(b[:]) // never fails
	_, err := s.db.ExecContext(ctx, `INSERT INTO cache_identity (bucket, id, secret, renewed_at) VALUES (0, ?, ?, ?)`+orElse,
		binary.LittleEndian.Uint64(b[:]), b[8:], time.Now().Unix())
	return err
}
