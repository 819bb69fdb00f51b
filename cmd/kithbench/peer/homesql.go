package peer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/jmoiron/sqlx"

	"kith/cmd/kithbench/feed"
)

// sqlHome keeps posts in a table. Without push a home is a query over the posts of whom the
// reader follows; with push it is a range of the table timeline, which gets a row for each
// follower of an author who posts. Homes are cut to [HomeCap] rows after every so many posts
// of an author, as a job would: that takes seconds, and shows in no median.
type sqlHome struct {
	ids
	name string
	pool *sqlx.DB

	mu    sync.Mutex
	posts map[uint64]int // of each author, since its followers' homes were cut
}

// homeTables have the indexes that pages and pushes need. That of timeline is the table.
var homeTables = []string{
	`CREATE TABLE IF NOT EXISTS account (
		id   BIGINT UNSIGNED NOT NULL,
		name VARBINARY(64)   NOT NULL,
		PRIMARY KEY (id)
	) ENGINE=InnoDB`,
	`CREATE TABLE IF NOT EXISTS follow (
		follower_id BIGINT UNSIGNED NOT NULL,
		followed_id BIGINT UNSIGNED NOT NULL,
		PRIMARY KEY (follower_id, followed_id),
		KEY by_followed (followed_id, follower_id)
	) ENGINE=InnoDB`,
	`CREATE TABLE IF NOT EXISTS post (
		id        BIGINT UNSIGNED NOT NULL,
		author_id BIGINT UNSIGNED NOT NULL,
		text      VARBINARY(2000) NOT NULL,
		PRIMARY KEY (id),
		KEY by_author (author_id, id)
	) ENGINE=InnoDB`,
	`CREATE TABLE IF NOT EXISTS timeline (
		reader_id BIGINT UNSIGNED NOT NULL,
		post_id   BIGINT UNSIGNED NOT NULL,
		PRIMARY KEY (reader_id, post_id)
	) ENGINE=InnoDB`,
}

func openSQLHome(ctx context.Context, name, dsn string) (*sqlHome, error) {
	pool, err := openPool(ctx, dsn, homeTables...)
	return &sqlHome{name: name, pool: pool, posts: map[uint64]int{}}, err
}

func (h *sqlHome) Name() string { return h.name }
func (h *sqlHome) Close() error { return h.pool.Close() }

// Load fills the tables in the order of their primary keys.
func (h *sqlHome) Load(ctx context.Context, w *feed.World) error {
	following, _ := w.Graph.Sides()
	people := map[uint64]bool{}
	var accounts, follows, posts, timeline []byte
	for _, e := range following {
		people[e.From], people[e.To] = true, true
		follows = fmt.Appendln(follows, e.From, e.To)
	}
	for _, id := range slices.Sorted(maps.Keys(people)) {
		accounts = fmt.Appendln(accounts, id, feed.Name(id))
	}
	for _, p := range w.Posts {
		posts = fmt.Appendf(posts, "%d %d %q\n", p.ID, p.Author, p.Text)
	}
	if h.name == PushName {
		homes := w.Homes(HomeCap)
		for _, reader := range slices.Sorted(maps.Keys(homes)) {
			for _, id := range slices.Backward(homes[reader]) {
				timeline = append(strconv.AppendUint(timeline, reader, 10), ' ')
				timeline = append(strconv.AppendUint(timeline, id, 10), '\n')
			}
		}
	}
	if err := cmp.Or(loadData(ctx, h.pool, "account", accounts), loadData(ctx, h.pool, "follow", follows),
		loadData(ctx, h.pool, "post", posts), loadData(ctx, h.pool, "timeline", timeline)); err != nil {
		return err
	}
	_, err := h.pool.ExecContext(ctx, `ANALYZE TABLE account, follow, post, timeline`)
	return err
}

// pushSQL is one bulk insert. Its SELECT goes by by_followed, and so in the order of the
// primary key of timeline. With the followers read first and sent back as VALUES it took
// 57 ms for 10,000 instead of 35.
const pushSQL = `START TRANSACTION;
	INSERT INTO post (id, author_id, text) VALUES (?, ?, ?);
	INSERT INTO timeline (reader_id, post_id) SELECT follower_id, ? FROM follow WHERE followed_id = ?;
	COMMIT`

// trimSQL cuts the homes of all followers of an author. For 10,000 of them it takes seconds.
const trimSQL = `DELETE t FROM (
		SELECT f.follower_id, (SELECT kept.post_id FROM timeline kept WHERE kept.reader_id = f.follower_id ORDER BY kept.post_id DESC LIMIT ?, 1) AS oldest
		FROM follow f WHERE f.followed_id = ?) cut
	STRAIGHT_JOIN timeline t ON t.reader_id = cut.follower_id AND t.post_id < cut.oldest`

// Post inserts the post and, with push, an entry for each follower.
func (h *sqlHome) Post(ctx context.Context, author uint64, text string) (uint64, error) {
	id := h.next(author)
	if h.name != PushName {
		_, err := h.pool.ExecContext(ctx, `INSERT INTO post (id, author_id, text) VALUES (?, ?, ?)`, id, author, text)
		return id, err
	}
	if err := again(ctx, func() error { return inOneTrip(ctx, h.pool, pushSQL, id, author, text, id, author) }); err != nil || !h.full(author) {
		return id, err
	}
	return id, again(ctx, func() error {
		_, err := h.pool.ExecContext(ctx, trimSQL, HomeCap-1, author)
		return err
	})
}

// trimEvery is after how many posts of an author its followers' homes are cut.
const trimEvery = 50

// full counts a post of an author. It reports whether homes are to be cut.
func (h *sqlHome) full(author uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.posts[author]++
	return h.posts[author]%trimEvery == 0
}

// The newest posts of a home, as queries. pullSQL is that of the starting documents: it goes
// by by_author, reads each post of each author, and sorts. deferredSQL sorts ids, of which the
// index has all, and then reads 20 posts. Both have the ids of whom the reader follows in
// their text: a join with follow instead took as long. rangeSQL reads 20 rows of timeline.
const (
	pullSQL = `SELECT p.id, p.author_id AS author, a.name, p.text FROM post p FORCE INDEX (by_author)
	JOIN account a ON a.id = p.author_id WHERE p.author_id IN (?) AND p.id < ? ORDER BY p.id DESC LIMIT ?`
	deferredSQL = `SELECT p.id, p.author_id AS author, a.name, p.text
	FROM (SELECT id FROM post WHERE author_id IN (?) AND id < ? ORDER BY id DESC LIMIT ?) newest
	STRAIGHT_JOIN post p ON p.id = newest.id STRAIGHT_JOIN account a ON a.id = p.author_id ORDER BY p.id DESC`
	rangeSQL = `SELECT p.id, p.author_id AS author, a.name, p.text FROM timeline t
	STRAIGHT_JOIN post p ON p.id = t.post_id STRAIGHT_JOIN account a ON a.id = p.author_id
	WHERE t.reader_id = ? AND t.post_id < ? ORDER BY t.post_id DESC LIMIT ?`
)

// Page reads from timeline or, without push, from the posts of whom the reader follows.
func (h *sqlHome) Page(ctx context.Context, reader, before uint64, limit int) (page []feed.Post, err error) {
	before = cmp.Or(before, 1<<63)
	if h.name == PushName {
		err = h.pool.SelectContext(ctx, &page, rangeSQL, reader, before, limit)
		return page, err
	}
	var follows []uint64
	if err := h.pool.SelectContext(ctx, &follows, `SELECT followed_id FROM follow WHERE follower_id = ?`, reader); err != nil || len(follows) == 0 {
		return nil, err
	}
	query := pullSQL
	if h.name == DeferredName {
		query = deferredSQL
	}
	err = selectIn(ctx, h.pool, &page, query, follows, before, limit)
	return page, err
}

// HomeSpace is that of timeline. Homes that are pulled take nothing.
func (h *sqlHome) HomeSpace(ctx context.Context) (s Space, entries int64, err error) {
	if h.name != PushName {
		return s, 0, nil
	}
	if err := h.pool.GetContext(ctx, &entries, `SELECT COUNT(*) FROM timeline`); err != nil {
		return s, 0, err
	}
	s, err = tableSpace(ctx, h.pool, "timeline")
	return s, entries, err
}
