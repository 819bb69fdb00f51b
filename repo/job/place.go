package job

import (
	"context"
	"errors"
	"fmt"

	"kith/repo"
	"kith/repo/db"
)

// MaxPlace is the longest place in bytes.
const MaxPlace = 200

// Place returns where a job goes on, empty for the beginning. Index: PRIMARY
// (bucket, name), one row.
func (s *Store) Place(ctx context.Context, name string) (string, error) {
	var place string
	err := db.Wrap(s.db.GetContext(ctx, &place, `SELECT place FROM job_cursor WHERE bucket = ? AND name = ?`, repo.NameBucket(name), name))
	if errors.Is(err, repo.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the place of %s: %w", name, err)
	}
	return place, nil
}

// SavePlace notes where a job goes on, unless a later lease has done so;
// leaseVer is that of the lease, now is unix milliseconds. Index: PRIMARY
// (bucket, name), one row.
func (s *Store) SavePlace(ctx context.Context, name, place string, leaseVer uint64, now int64) error {
	if len(place) > MaxPlace {
		return fmt.Errorf("note the place of %s: %d bytes: %w", name, len(place), repo.ErrTooLarge)
	}
	// lease_ver is assigned last, since assignments run left to right.
	_, err := s.db.ExecContext(ctx, `INSERT INTO job_cursor (bucket, name, place, lease_ver, saved_ms) VALUES (?, ?, ?, ?, ?)
		ON DUPLICATE KEY UPDATE place = IF(lease_ver <= VALUES(lease_ver), VALUES(place), place),
		saved_ms = IF(lease_ver <= VALUES(lease_ver), VALUES(saved_ms), saved_ms), lease_ver = GREATEST(lease_ver, VALUES(lease_ver))`,
		repo.NameBucket(name), name, place, leaseVer, now)
	if err != nil {
		return fmt.Errorf("note the place of %s: %w", name, db.Wrap(err))
	}
	return nil
}
