package post

import (
	"context"
	"fmt"

	"kith/repo"
	"kith/repo/db"
)

// Wanted is what columns tell of the posts of an author that a page may show. Who loads them
// sees more, and decides.
type Wanted struct {
	NoReplies, NoReposts bool // as of a page of posts: replies to others, reposts
	Details              bool // with pictures, or other details
	Tagged               bool // with some #tag
	// Visibility is the narrowest that the viewer sees unless it is mentioned.
	Visibility Visibility
}

// Sift returns the ids of a part of the live posts of an author that may be wanted, newest
// first. Index: by_author (bucket, author_id, id), a range; the caller bounds it by Nth.
func (s *Store) Sift(ctx context.Context, author uint64, w Wanted, r repo.IDRange) (ids []uint64, err error) {
	err = s.db.SelectContext(ctx, &ids, `SELECT id FROM post FORCE INDEX (by_author) WHERE bucket = ? AND author_id = ? AND id > ? AND id < ? AND state = ?
		AND (visibility <= ? OR details <> '') AND (? OR reply_to_id = 0 OR reply_to_account = author_id) AND (? OR origin_id = 0) AND (? OR details <> '') AND (? OR LOCATE('#', text) > 0)`+r.Order(`id`),
		repo.Bucket(author), author, r.After, r.Below(), Live, w.Visibility, !w.NoReplies, !w.NoReposts, !w.Details, !w.Tagged, r.Limit)
	if err != nil {
		return nil, fmt.Errorf("sift posts of %d: %w", author, db.Wrap(err))
	}
	return repo.NewestFirst(ids, r), nil
}

// Nth returns the id of the nth event of a part of an author's events, in the order of the
// range, 0 where it has fewer. Index: by_author (bucket, author_id, id), n entries of it
// without their rows.
func (s *Store) Nth(ctx context.Context, author uint64, r repo.IDRange, n int) (uint64, error) {
	var ids []uint64
	err := s.db.SelectContext(ctx, &ids, `SELECT id FROM post WHERE bucket = ? AND author_id = ? AND id > ? AND id < ?`+r.Order(`id`)+` OFFSET ?`,
		repo.Bucket(author), author, r.After, r.Below(), 1, n-1)
	if err != nil || len(ids) == 0 {
		return 0, db.Wrap(err)
	}
	return ids[0], nil
}
