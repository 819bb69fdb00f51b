package feed

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/event"
	"kith/repo/post"
)

// examineTries bounds how often an examination that lost a swap is done again.
const examineTries = 20

// Examine compares the feed of an author with its posts, under the lock of the feed, and
// returns what is wrong, in words. With repair the feed is made anew from the posts. It
// reads all posts of the author, by index.
func (s *Store) Examine(ctx context.Context, author uint64, repair bool) (wrong []string, err error) {
	for range examineTries {
		won, err := s.Store.Locked(ctx, []uint64{author}, nil, func(tx *sqlx.Tx, rows map[uint64]Row) ([]Row, error) {
			is := rows[author]
			want, events, err := s.rebuilt(ctx, tx, is)
			if err != nil {
				return nil, err
			}
			if wrong = differences(&is, &want, events); repair && len(wrong) > 0 {
				return []Row{want}, nil
			}
			return nil, nil
		})
		if err != nil || won {
			return wrong, err
		}
	}
	return nil, fmt.Errorf("examine the feed of %d: %w", author, repo.ErrConflict)
}

// rebuilt makes a feed from the posts of its author, and returns its events. What posts do
// not say stays. Index: by_author (bucket, author_id, id), twice.
func (s *Store) rebuilt(ctx context.Context, tx *sqlx.Tx, is Row) (Row, []event.Event, error) {
	var all struct {
		Posts  int    `db:"posts"`
		Live   uint32 `db:"live"`
		Newest uint64 `db:"newest"`
	}
	var last []struct {
		event.Event
		Live bool `db:"live"`
	}
	err := tx.GetContext(ctx, &all, `SELECT COUNT(*) AS posts, COALESCE(SUM(state <> ? AND visibility <> ?), 0) AS live, COALESCE(MAX(id), 0) AS newest FROM post WHERE bucket = ? AND author_id = ?`,
		post.Deleted, post.Direct, repo.Bucket(is.ID), is.ID)
	if err == nil {
		err = tx.SelectContext(ctx, &last, `SELECT id, author_id AS author, origin_id AS origin, state <> ? AND visibility <> ? AS live FROM post WHERE bucket = ? AND author_id = ? ORDER BY id DESC LIMIT ?`,
			post.Deleted, post.Direct, repo.Bucket(is.ID), is.ID, MaxEvents)
	}
	if err != nil {
		return Row{}, nil, fmt.Errorf("load all posts of %d: %w", is.ID, db.Wrap(err))
	}
	want := is
	want.Meta = is.Next(uint32(s.now().Unix()))
	want.Statuses, want.LastID, want.Newest, want.Floor = all.Live, max(is.LastID, all.Newest), 0, 0
	events := make([]event.Event, len(last))
	for i, e := range slices.Backward(last) {
		if events[i] = e.Event; e.Live {
			want.Newest = e.ID
		}
	}
	if all.Posts > len(events) {
		want.Floor = events[len(events)-1].ID
	}
	want.head = nil
	want.packed, err = event.AppendFeed([]byte{}, is.ID, events)
	return want, events, err
}

// differences says what is wrong with a feed.
func differences(is, want *Row, events []event.Event) (wrong []string) {
	note := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	have, _, err := is.Events(nil)
	if err != nil {
		note("its bytes cannot be read: %v", err)
	}
	for _, e := range events {
		if err == nil && !slices.Contains(have, e) {
			note("it misses %d", e.ID)
			break
		}
	}
	for _, e := range have {
		if !slices.Contains(events, e) {
			note("it names %d, which is not among the newest posts", e.ID)
			break
		}
	}
	if is.Floor != want.Floor {
		note("its floor is %d, not %d", is.Floor, want.Floor)
	}
	if is.Statuses != want.Statuses {
		note("it counts %d posts, there are %d", is.Statuses, want.Statuses)
	}
	if is.LastID != want.LastID {
		note("its last id is %d, but there is a post %d", is.LastID, want.LastID)
	}
	if is.Newest != want.Newest {
		note("its newest post that is not deleted is %d, not %d", is.Newest, want.Newest)
	}
	return wrong
}
