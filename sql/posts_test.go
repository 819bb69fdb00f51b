package sql_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/app/post"
	"kith/app/post/posttest"
	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/event"
	posts "kith/repo/post"
)

// written is what the people of a plant posted, oldest first.
type written struct {
	ada, bob, cleo                uint64
	first, second, reply, deleted posts.Post
	repost                        uint64
	gone                          uint64 // a reply to first without a post
}

// crowdPosts is how many posts cleo has, all in one bucket.
const crowdPosts = 600

// post makes posts of the last hour.
func (p *plant) post() *written {
	p.t.Helper()
	ctx := p.t.Context()
	w := posttest.New(p.t, posttest.Config{DB: p.pool, Cache: cache.NewNone()})
	w.Clock.Store(time.Now().Unix() - 1800)
	people := w.People(3)
	for repo.Bucket(people[0]) >= repo.Buckets-2 { // they lie in three buckets, one after the other
		people = w.People(3)
	}
	out := &written{ada: people[0], bob: people[1], cleo: people[2]}
	out.first = w.Post(p.t, out.ada, "first")
	out.second = w.Write(p.t, out.ada, post.Draft{Content: posts.Content{Text: "second"}, Visibility: posts.Unlisted})
	out.reply = w.Write(p.t, out.bob, post.Draft{Content: posts.Content{Text: "reply"}, ReplyTo: out.first.ID})
	out.deleted = w.Write(p.t, out.bob, post.Draft{Content: posts.Content{Text: "another"}, ReplyTo: out.second.ID})
	repost, err := w.Posts.Repost(ctx, out.bob, out.first.ID, posts.Public)
	must(p.t, "repost", err)
	out.repost = repost.Post.ID
	_, err = w.Posts.Favour(ctx, out.cleo, out.first.ID, true)
	must(p.t, "favour", err)
	_, err = w.Posts.Favour(ctx, out.bob, out.second.ID, true)
	must(p.t, "favour", err)
	_, err = w.Posts.Delete(ctx, out.bob, out.deleted.ID)
	must(p.t, "delete", err)
	w.Runner.Close(ctx) // takes no tasks over
	out.gone = out.reply.ID + 5<<repo.BucketBits
	p.exec(`INSERT INTO reply (bucket, post_id, reply_id, owner_id, author_id) VALUES (?,?,?,?,?)`, repo.Bucket(out.ada), out.first.ID, out.gone, out.ada, out.bob)
	p.crowdOfPosts(w.Stored, out.cleo)
	p.exec(`UPDATE author_feed SET pulled_since = ? WHERE bucket = ? AND account_id = ?`, start, repo.Bucket(out.ada), out.ada)
	for i, bucket := range []uint16{3, 3, 900} {
		p.exec(`INSERT INTO task (bucket, id, kind, account_id, post_id, made_at, claimed_until, holder) VALUES (?,?,?,?,?,?,UNIX_TIMESTAMP() + ?,UNHEX('abcdef01abcdef01abcdef01abcdef01'))`,
			bucket, 1002-i, 1+i/2, bucket, 77, start+i, 600-1200*(i%2))
	}
	return out
}

// crowdOfPosts makes posts that no script of another account may read, in the bucket of
// their author.
func (p *plant) crowdOfPosts(store *posts.Store, author uint64) {
	id := event.First(time.Now().Add(-time.Hour)) | uint64(repo.Bucket(author))
	all := make([]*posts.Post, crowdPosts)
	for i := range all {
		all[i] = &posts.Post{Author: author, Content: posts.Content{Text: "one of many"}}
		all[i].ID = id + uint64(i)<<repo.BucketBits
	}
	must(p.t, "insert posts", db.WithTx(p.t.Context(), p.pool, func(tx *sqlx.Tx) error { return store.Insert(p.t.Context(), tx, all) }))
	for i := range uint64(crowdPosts) {
		p.exec(`INSERT INTO reply (bucket, post_id, reply_id, owner_id, author_id) VALUES (?,?,?,?,?)`, repo.Bucket(author), all[0].ID, all[i].ID+1, author, author+1)
	}
}

// reads runs a script and returns its last result and how many rows the server read for
// it, of tables and of results on the way.
func (p *plant) reads(t *testing.T, script string, vars map[string]string) (last table, rows int) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, script))
	must(t, "read", err)
	counted := filepath.Join(t.TempDir(), script)
	must(t, "write", os.WriteFile(counted, append(content, "SET SESSION sql_select_limit = DEFAULT;SHOW SESSION STATUS LIKE 'Handler_read%';"...), 0o600))
	out, err := byDriver(t.Context(), p.dsn, counted, vars)
	must(t, script, err)
	for _, row := range out[len(out)-1] {
		n, err := strconv.Atoi(row["Value"])
		must(t, "count", err)
		rows += n
	}
	return out[len(out)-2], rows
}

// bounded fails where a script reads more rows than it says.
func (p *plant) bounded(t *testing.T, script string, vars map[string]string, most int) table {
	t.Helper()
	out, n := p.reads(t, script, vars)
	if n > most {
		t.Errorf("%s with %v read %d rows, want %d at most", script, vars, n, most)
	}
	return out
}

// madeUTC is when a post was made, as scripts show it.
func madeUTC(id uint64) string { return event.Time(id).Format(time.DateTime) }

func (p *plant) newestPosts(t *testing.T) {
	w := p.written
	got := run(t, usual(), p.dsn, "newest_posts.sql", map[string]string{"account": text(w.bob)})[0]
	line := func(id uint64, kind, of, state string) map[string]string {
		return map[string]string{"id": text(id), "kind": kind, "of": of, "visibility": "public", "state": state, "replies": "0", "reposts": "0", "favourites": "0", "made_utc": madeUTC(id)}
	}
	shown(t, "newest_posts.sql", []table{got})
	same(t, "of bob", got, table{line(w.repost, "repost", text(w.first.ID), "live"), line(w.deleted.ID, "reply", text(w.second.ID), "deleted"), line(w.reply.ID, "reply", text(w.first.ID), "live")})
	got = run(t, usual(), p.dsn, "newest_posts.sql", map[string]string{"account": text(w.ada)})[0]
	same(t, "of ada", []string{got[0]["visibility"], got[0]["of"], got[1]["kind"], got[1]["replies"], got[1]["reposts"], got[1]["favourites"]}, []string{"unlisted", null, "post", "1", "1", "1"})
	got = p.bounded(t, "newest_posts.sql", map[string]string{"account": text(w.cleo), "top": "5"}, 30)
	next := p.bounded(t, "newest_posts.sql", map[string]string{"account": text(w.cleo), "top": "5", "before": got[4]["id"]}, 30)
	if len(got) != 5 || len(next) != 5 || got[4]["id"] <= next[0]["id"] {
		t.Errorf("got %v and then %v, want the newest five and the five before", column(got, "id"), column(next, "id"))
	}
}

func (p *plant) receivedReplies(t *testing.T) {
	w := p.written
	got := run(t, usual(), p.dsn, "received_replies.sql", map[string]string{"account": text(w.ada)})[0]
	shown(t, "received_replies.sql", []table{got})
	same(t, "to ada", got, table{
		{"reply_id": text(w.gone), "author_id": text(w.bob), "answers": text(w.first.ID), "state": "gone", "visibility": null, "made_utc": madeUTC(w.gone)},
		{"reply_id": text(w.reply.ID), "author_id": text(w.bob), "answers": text(w.first.ID), "state": "live", "visibility": "public", "made_utc": madeUTC(w.reply.ID)}})
	got = p.bounded(t, "received_replies.sql", map[string]string{"account": text(w.cleo), "top": "5"}, 40)
	next := p.bounded(t, "received_replies.sql", map[string]string{"account": text(w.cleo), "top": "5", "before": got[4]["reply_id"]}, 40)
	if len(got) != 5 || len(next) != 5 || got[4]["reply_id"] <= next[0]["reply_id"] {
		t.Errorf("got %v and then %v, want the newest five and the five before", column(got, "reply_id"), column(next, "reply_id"))
	}
}

func (p *plant) fanoutQueue(t *testing.T) {
	got := run(t, usual(), p.dsn, "fanout_queue.sql", nil)
	same(t, "kinds", got[0], table{
		{"kind": "push", "tasks": "2", "claim_run_out": "1", "processes": "1", "oldest_utc": "2023-11-14 22:13:20"},
		{"kind": "settle", "tasks": "1", "claim_run_out": "0", "processes": "1", "oldest_utc": "2023-11-14 22:13:22"}})
	same(t, "oldest", column(got[1], "id"), []string{"1002", "1001", "1000"})
	same(t, "run out", column(got[1], "run_out"), []string{"no", "yes", "no"})
	same(t, "process", got[1][0]["process"], "ABCDEF01")
	same(t, "one bucket", column(run(t, usual(), p.dsn, "fanout_queue.sql", map[string]string{"first": "900", "buckets": "1"})[1], "id"), []string{"1000"})
}

func (p *plant) bigAuthors(t *testing.T) {
	w := p.written
	got := run(t, usual(), p.dsn, "big_authors.sql", nil)[0]
	same(t, "authors", column(got, "account_id"), []string{text(w.ada), text(w.bob)})
	same(t, "statuses", column(got, "statuses"), []string{"2", "2"})
	same(t, "pulled", column(got, "pulled_since_utc"), []string{"2023-11-14 22:13:20", null})
	same(t, "last", column(got, "last_post_utc"), []string{madeUTC(w.second.ID), madeUTC(w.repost)})
	same(t, "only pulled", column(run(t, usual(), p.dsn, "big_authors.sql", map[string]string{"pulled": "1"})[0], "account_id"), []string{text(w.ada)})
}

func (p *plant) hotPosts(t *testing.T) {
	w := p.written
	vars := func(more ...string) map[string]string {
		v := map[string]string{"first": text(repo.Bucket(w.ada)), "buckets": "3"}
		for i := 0; i < len(more); i += 2 {
			v[more[i]] = more[i+1]
		}
		return v
	}
	got := run(t, usual(), p.dsn, "hot_posts.sql", vars())
	same(t, "hottest", column(got[1], "id"), []string{text(w.first.ID), text(w.second.ID)})
	same(t, "reactions", column(got[1], "reactions"), []string{"3", "1"})
	same(t, "sample", []string{got[0][0]["buckets_with_posts"], got[0][0]["posts_read"], got[0][0]["buckets_with_more"]}, []string{"3", text(5 + 500), "1"})
	if old := run(t, usual(), p.dsn, "hot_posts.sql", vars("hours", "0")); old[0][0]["posts_read"] != "0" || len(old[1]) != 0 {
		t.Errorf("of the last 0 hours: %v", old)
	}
	// Of cleo's 600 posts it reads as many as it is told, twice, and copies them twice.
	p.bounded(t, "hot_posts.sql", vars("posts", "20"), 250)
	sample := run(t, usual(), p.dsn, "hot_posts.sql", map[string]string{"first": text(int(repo.Bucket(w.ada)) - 64), "buckets": "1024"})[0][0]
	same(t, "the 64 buckets before ada's", sample["buckets_with_posts"], "0")
	shown(t, "hot_posts.sql", got)
}
