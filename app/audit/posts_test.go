package audit_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"kith/app/audit"
	"kith/app/post"
	"kith/app/post/posttest"
	"kith/repo"
	"kith/repo/cache/cachetest"
	"kith/repo/dbtest"
	"kith/repo/event"
	"kith/repo/feed"
	rows "kith/repo/post"
	"kith/repo/postcheck"
	"kith/repo/timeline"
)

// wall is some people with posts, in the database of this package, emptied.
type wall struct {
	*testing.T
	*posttest.World
	pool           *sqlx.DB
	ada, bob, cleo uint64
	first, second  rows.Post // by ada
	reply          rows.Post // by bob, to first
	repost         uint64    // by bob, of first
	undone         uint64    // a repost by cleo of second that was undone
}

func newWall(t *testing.T) *wall {
	t.Helper()
	pool := dbtest.DB(t)
	for _, table := range slices.Concat(tables, []string{`post`, `author_feed`, `reaction`, `reply`, `mark`, `mark_head`, `task`, `idempotency`, `timeline`}) {
		if _, err := pool.ExecContext(t.Context(), `DELETE FROM `+table); err != nil {
			t.Fatal(err)
		}
	}
	w := &wall{T: t, pool: pool, World: posttest.New(t, posttest.Config{DB: pool, Cache: cachetest.Local(t)})}
	people := w.People(3)
	w.ada, w.bob, w.cleo = people[0], people[1], people[2]
	w.first, w.second = w.World.Post(t, w.ada, "first"), w.World.Post(t, w.ada, "second")
	w.reply = w.Write(t, w.bob, post.Draft{Content: rows.Content{Text: "reply"}, ReplyTo: w.first.ID})
	gone := w.Write(t, w.bob, post.Draft{Content: rows.Content{Text: "gone"}, ReplyTo: w.second.ID})
	w.repost = w.must(w.Posts.Repost(t.Context(), w.bob, w.first.ID, rows.Public))
	w.undone = w.must(w.Posts.Repost(t.Context(), w.cleo, w.second.ID, rows.Public))
	w.must(w.Posts.Undo(t.Context(), w.cleo, w.second.ID))
	w.must(w.Posts.Favour(t.Context(), w.cleo, w.first.ID, true))
	w.must(w.Posts.Favour(t.Context(), w.bob, w.second.ID, true))
	w.must(w.Posts.Favour(t.Context(), w.bob, w.second.ID, false))
	w.must(w.Posts.Bookmark(t.Context(), w.bob, w.second.ID, true))
	w.must(w.Posts.Delete(t.Context(), w.bob, gone.ID))
	w.Runner.Close(t.Context()) // when what is done is deleted; takes no planted tasks
	return w
}

func (w *wall) must(v post.View, err error) uint64 {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
	return v.Post.ID
}

func (w *wall) exec(query string, args ...any) { w.Helper(); changes(w, w.pool, query, args...) }

func (w *wall) config() audit.Config {
	homes := timeline.NewStore(w.pool, w.Now, slog.New(slog.DiscardHandler))
	return audit.Config{Rows: w.Rows, Relations: w.World.Service, Now: w.Now, Slices: 64,
		Posts: &audit.Posts{Rows: postcheck.New(w.pool), Posts: w.Stored, Feeds: w.Feeds, Marks: w.Marks, Tasks: w.Tasks, Timelines: homes, Service: w.Posts}}
}

// audit runs an audit and returns the faults, a line each.
func (w *wall) audit(repair bool) (faults []string) { return w.auditOf(0, repair) }

// auditOf is audit of one account, 0 for all.
func (w *wall) auditOf(account uint64, repair bool) (faults []string) {
	w.Helper()
	cfg := w.config()
	cfg.Account, cfg.Repair = account, repair
	cfg.Report = func(f audit.Fault) {
		if f.Repaired != (repair && f.Err == nil) {
			w.Errorf("%v: repaired is %v", f, f.Repaired)
		}
		faults = append(faults, f.String())
	}
	if _, err := audit.Run(w.Context(), cfg); err != nil {
		w.Fatal(err)
	}
	return faults
}

// state is all that is stored of posts, but for vers and dates.
func (w *wall) state() (out []string) {
	w.Helper()
	for _, query := range []string{
		`SELECT CONCAT_WS(' ', 'post', bucket, id, author_id, origin_id, reply_to_id, state, replies, reposts, favourites, text) FROM post ORDER BY id`,
		`SELECT CONCAT_WS(' ', 'feed', bucket, account_id, HEX(list), statuses, last_id, newest_id, floor_id, pulled_since) FROM author_feed ORDER BY account_id`,
		`SELECT CONCAT_WS(' ', 'reaction', bucket, post_id, kind, account_id, id) FROM reaction ORDER BY post_id, kind, account_id`,
		`SELECT CONCAT_WS(' ', 'reply', bucket, post_id, reply_id, owner_id, author_id) FROM reply ORDER BY post_id, reply_id`,
		`SELECT CONCAT_WS(' ', 'mark', bucket, account_id, kind, post_id, id) FROM mark ORDER BY account_id, kind, post_id`,
		`SELECT CONCAT_WS(' ', 'head', bucket, account_id, HEX(list), floor_id) FROM mark_head ORDER BY account_id`,
		`SELECT CONCAT_WS(' ', 'task', bucket, id, kind) FROM task ORDER BY id, kind`,
		`SELECT CONCAT_WS(' ', 'key', bucket, account_id, HEX(hash), post_id) FROM idempotency ORDER BY account_id`,
		`SELECT CONCAT_WS(' ', 'timeline', bucket, account_id) FROM timeline ORDER BY account_id`,
	} {
		var lines []string
		if err := w.pool.SelectContext(w.Context(), &lines, query); err != nil {
			w.Fatal(err)
		}
		out = append(out, lines...)
	}
	return out
}

// planted are faults, and the words by which an audit reports them, in their order.
var planted = map[string]struct {
	plant func(w *wall)
	want  []string
}{
	"Clean":      {func(*wall) {}, nil},
	"FeedMisses": {func(w *wall) { w.feed(w.ada, w.second.Event()) }, []string{"feed: account $ada: the feed does not agree with its posts: it misses $first"}},
	"FeedNamesUnknown": {func(w *wall) {
		w.feed(w.ada, event.Event{ID: w.second.ID + repo.Buckets, Author: w.ada}, w.second.Event(), w.first.Event())
	}, []string{"which is not among the newest posts"}},
	"FeedOrigin":   {func(w *wall) { w.feed(w.bob, event.Event{ID: w.repost, Author: w.bob}) }, []string{"it misses $repost", "it names $repost"}},
	"FeedBytes":    {func(w *wall) { w.setFeed(w.ada, `list = 'bad'`) }, []string{"its bytes cannot be read"}},
	"FeedEmpty":    {func(w *wall) { w.setFeed(w.ada, `list = ''`) }, []string{"it misses $second"}},
	"FeedFloor":    {func(w *wall) { w.setFeed(w.ada, `floor_id = 17`) }, []string{"its floor is 17, not 0"}},
	"FeedStatuses": {func(w *wall) { w.setFeed(w.ada, `statuses = 7`) }, []string{"it counts 7 posts, there are 2"}},
	"FeedLast":     {func(w *wall) { w.setFeed(w.ada, `last_id = 1`) }, []string{"its last id is 1, but there is a post $second"}},
	"FeedNewest":   {func(w *wall) { w.setFeed(w.ada, `newest_id = 0`) }, []string{"its newest post that is not deleted is 0, not $second"}},
	"FeedGone": {func(w *wall) {
		w.exec(`DELETE FROM author_feed WHERE bucket = ? AND account_id = ?`, repo.Bucket(w.ada), w.ada)
	},
		[]string{"it misses $second", "it counts 0 posts", "its last id is 0", "its newest"}},
	"Counts": {func(w *wall) {
		w.exec(`UPDATE post SET replies = 5, reposts = 0, favourites = 2 WHERE bucket = ? AND id = ?`, repo.Bucket(w.ada), w.first.ID)
	}, []string{"post: account $ada: post $first counts 5 replies, 0 reposts, 2 favourites; there are 1, 1, 1"}},
	"ReplyMissing": {func(w *wall) {
		w.exec(`DELETE FROM reply WHERE bucket = ? AND post_id = ?`, repo.Bucket(w.ada), w.first.ID)
		w.exec(`UPDATE post SET replies = 0 WHERE bucket = ? AND id = ?`, repo.Bucket(w.ada), w.first.ID)
	}, []string{"reaction: account $bob: its reply $reply does not stand at post $first"}},
	"RepostMissing": {func(w *wall) {
		w.exec(`DELETE FROM reaction WHERE bucket = ? AND post_id = ? AND kind = 2`, repo.Bucket(w.ada), w.first.ID)
	},
		[]string{"post $first counts 1 replies, 1 reposts, 1 favourites; there are 1, 0, 1", "its repost $repost does not stand at post $first"}},
	"FavouriteMissing": {func(w *wall) {
		w.exec(`DELETE FROM reaction WHERE bucket = ? AND post_id = ? AND kind = 1`, repo.Bucket(w.ada), w.first.ID)
	},
		[]string{"there are 1, 1, 0", "reaction: account $cleo: its favourite"}},
	"ReplyExtra": {func(w *wall) {
		w.exec(`INSERT INTO reply (bucket, post_id, reply_id, owner_id, author_id) SELECT bucket, ?, ?, owner_id, author_id FROM reply WHERE bucket = ? AND post_id = ?`, w.second.ID, w.reply.ID, repo.Bucket(w.ada), w.first.ID)
		w.exec(`UPDATE post SET replies = 1 WHERE bucket = ? AND id = ?`, repo.Bucket(w.ada), w.second.ID)
	}, []string{"its reply $reply stands at post $second, but is gone, or was never there"}},
	"RepostExtra": {func(w *wall) {
		w.exec(`INSERT INTO reaction (bucket, post_id, kind, account_id, id) VALUES (?,?,2,?,?)`, repo.Bucket(w.ada), w.second.ID, w.cleo, w.undone)
	}, []string{"post $second counts 0 replies, 0 reposts, 0 favourites; there are 0, 1, 0", "its repost $undone stands at post $second"}},
	"FavouriteExtra": {func(w *wall) {
		w.exec(`INSERT INTO reaction (bucket, post_id, kind, account_id, id) VALUES (?,?,1,?,?)`, repo.Bucket(w.ada), w.second.ID, w.bob, 4711)
		w.exec(`UPDATE post SET favourites = 1 WHERE bucket = ? AND id = ?`, repo.Bucket(w.ada), w.second.ID)
	}, []string{"its favourite 4711 stands at post $second"}},
	"Orphans": {func(w *wall) {
		w.exec(`INSERT INTO reaction (bucket, post_id, kind, account_id, id) VALUES (5,1029,1,?,99)`, w.bob)
		w.exec(`INSERT INTO reply (bucket, post_id, reply_id, owner_id, author_id) VALUES (5,1029,?,5,?)`, w.reply.ID, w.bob)
	}, []string{"its reply $reply stands at post 1029, which does not exist", "its favourite 99 stands at post 1029, which does not exist"}},
	"RepostMarkMissing": {func(w *wall) {
		w.exec(`DELETE FROM mark WHERE bucket = ? AND account_id = ? AND kind = 2`, repo.Bucket(w.bob), w.bob)
	},
		[]string{"mark: account $bob: no mark says that $repost is its repost of $first"}},
	"RepostMarkWrong": {func(w *wall) {
		w.exec(`UPDATE mark SET id = 12 WHERE bucket = ? AND account_id = ? AND kind = 2`, repo.Bucket(w.bob), w.bob)
	},
		[]string{"a mark says that 12 is its repost of $first, which it is not"}},
	"RepostMarkLeft": {func(w *wall) {
		w.exec(`INSERT INTO mark (bucket, account_id, kind, post_id, id) VALUES (?,?,2,?,?)`, repo.Bucket(w.cleo), w.cleo, w.second.ID, w.undone)
	}, []string{"a mark says that $undone is its repost of $second, which it is not"}},
	"HeadBytes":  {func(w *wall) { w.setHead(w.cleo, `list = 'bad'`) }, []string{"mark: account $cleo: bad bytes of marks"}},
	"HeadMisses": {func(w *wall) { w.setHead(w.cleo, `list = ''`) }, []string{"mark: account $cleo: its head misses mark"}},
	"HeadHasMore": {func(w *wall) {
		w.setHead(w.bob, `list = CONCAT(CHAR(1), LEFT(SUBSTRING(list, 2), 7), CHAR(255), RIGHT(list, 8), list)`)
	},
		[]string{"mark: account $bob: its head has mark"}},
	"HeadGone": {func(w *wall) {
		w.exec(`DELETE FROM mark_head WHERE bucket = ? AND account_id = ?`, repo.Bucket(w.cleo), w.cleo)
	}, []string{"mark: account $cleo: there is no head"}},
	"Task": {func(w *wall) {
		w.exec(`INSERT INTO task (bucket, id, kind, account_id, post_id, made_at, claimed_until, holder) VALUES (?,?,2,?,?,UNIX_TIMESTAMP()-760,UNIX_TIMESTAMP()-700,'')`, repo.Bucket(w.bob), w.reply.ID, w.bob, w.reply.ID)
	}, []string{"task: account $bob: its task $reply, kind 2, about post $reply, is not done"}},
	"Timeline": {func(w *wall) {
		w.exec(`INSERT INTO timeline (bucket, account_id, ver, list, pulled, floor_id, follows, covered_until, updated_at) VALUES (?,?,1,'bad','',0,0,1,1)`, repo.Bucket(w.bob), w.bob)
	}, []string{"timeline: account $bob: its warm home timeline cannot be read"}},
	"ReplyOwner": {func(w *wall) {
		w.exec(`UPDATE reply SET owner_id = ? WHERE bucket = ? AND post_id = ?`, w.ada+repo.Buckets, repo.Bucket(w.ada), w.first.ID)
	}, []string{"reaction: account $ada: reply $reply to its post $first is among those to account"}},
	"Key": {func(w *wall) {
		w.exec(`INSERT INTO idempotency (bucket, account_id, hash, post_id, made_at) VALUES (?,?,'0123456789abcdef',?,1)`, repo.Bucket(w.bob), w.bob, w.first.ID)
	}, []string{"key: account $bob: an Idempotency-Key names $first, which is no post of it"}},
}

func TestRun_Posts(t *testing.T) {
	for name, c := range planted {
		t.Run(name, func(t *testing.T) {
			w := newWall(t)
			before := w.state()
			c.plant(w)
			planted := w.state()
			w.wants(w.audit(false), c.want)
			if after := w.state(); !slices.Equal(after, planted) {
				t.Errorf("an audit that does not repair changed\n%s\nto\n%s", strings.Join(planted, "\n"), strings.Join(after, "\n"))
			}
			w.wants(w.audit(true), c.want)
			w.wants(w.audit(false), nil)
			if after := w.state(); !slices.Equal(after, before) {
				t.Errorf("before the fault it was\n%s\nafter the repair it is\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
			}
		})
	}
}

// wants checks faults by their words.
func (w *wall) wants(got, want []string) {
	w.Helper()
	names := strings.NewReplacer("$ada", fmt.Sprint(w.ada), "$bob", fmt.Sprint(w.bob), "$cleo", fmt.Sprint(w.cleo), "$first", fmt.Sprint(w.first.ID), "$second", fmt.Sprint(w.second.ID),
		"$reply", fmt.Sprint(w.reply.ID), "$repost", fmt.Sprint(w.repost), "$undone", fmt.Sprint(w.undone))
	if len(got) != len(want) {
		w.Fatalf("%d faults, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.Contains(got[i], names.Replace(want[i])) {
			w.Errorf("fault %q, want one with %q", got[i], names.Replace(want[i]))
		}
	}
}

// live are the posts of an author, oldest first.
func (w *wall) live(author uint64) (ids []uint64) {
	w.Helper()
	found, err := postcheck.New(w.pool).Live(w.Context(), author, 0, 10_000)
	if err != nil {
		w.Fatal(err)
	}
	for _, p := range found {
		ids = append(ids, p.ID)
	}
	return ids
}

// feed writes the list of a feed.
func (w *wall) feed(author uint64, events ...event.Event) {
	w.Helper()
	list, err := event.AppendFeed(nil, author, events)
	if err != nil {
		w.Fatal(err)
	}
	w.exec(`UPDATE author_feed SET list = ? WHERE bucket = ? AND account_id = ?`, list, repo.Bucket(author), author)
}

func (w *wall) setHead(account uint64, set string) {
	w.Helper()
	w.exec(`UPDATE mark_head SET `+set+` WHERE bucket = ? AND account_id = ?`, repo.Bucket(account), account)
}

func (w *wall) setFeed(author uint64, set string) {
	w.Helper()
	w.exec(`UPDATE author_feed SET `+set+` WHERE bucket = ? AND account_id = ?`, repo.Bucket(author), author)
}

// A repost of a post that is deleted goes, if the task that should have deleted it was lost.
func TestRun_Posts_RepostOfDeleted(t *testing.T) {
	w := newWall(t)
	w.exec(`UPDATE post SET state = 2, ver = ver + 1 WHERE bucket = ? AND id = ?`, repo.Bucket(w.ada), w.first.ID)
	w.setFeed(w.ada, `statuses = 1, ver = ver + 1`)
	want := []string{"its repost $repost is of post $first, which is deleted"}
	w.wants(w.audit(false), want)
	w.wants(w.audit(true), want)
	w.wants(w.audit(false), nil)
	if p, err := w.Stored.Get(t.Context(), w.repost); err != nil || p.State != rows.Deleted {
		t.Errorf("the repost is in state %d, %v, want deleted", p.State, err)
	}
}

// What a task is still to settle is no fault.
func TestRun_Posts_Pending(t *testing.T) {
	w := newWall(t)
	w.exec(`DELETE FROM reaction WHERE bucket = ? AND post_id = ? AND kind = 2`, repo.Bucket(w.ada), w.first.ID)
	w.exec(`DELETE FROM reaction WHERE bucket = ? AND post_id = ? AND kind = 1`, repo.Bucket(w.ada), w.first.ID)
	w.exec(`DELETE FROM reply WHERE bucket = ? AND post_id = ?`, repo.Bucket(w.ada), w.first.ID)
	w.exec(`UPDATE post SET reposts = 0, favourites = 0, replies = 0 WHERE bucket = ? AND id = ?`, repo.Bucket(w.ada), w.first.ID)
	w.exec(`INSERT INTO reaction (bucket, post_id, kind, account_id, id) VALUES (?,?,2,?,?)`, repo.Bucket(w.ada), w.second.ID, w.cleo, w.undone)
	w.exec(`UPDATE post SET reposts = 1 WHERE bucket = ? AND id = ?`, repo.Bucket(w.ada), w.second.ID)
	for _, task := range []struct{ account, id, kind, post uint64 }{
		{w.bob, w.repost, 2, w.repost}, {w.bob, w.reply.ID, 2, w.reply.ID}, {w.cleo, w.undone, 2, w.undone}, {w.cleo, 99, 3, w.first.ID},
	} {
		w.exec(`INSERT INTO task (bucket, id, kind, account_id, post_id, made_at, claimed_until, holder) VALUES (?,?,?,?,?,UNIX_TIMESTAMP()-600,UNIX_TIMESTAMP()-500,'')`, repo.Bucket(task.account), task.id, task.kind, task.account, task.post)
	}
	w.wants(w.audit(true), nil)
	w.exec(`DELETE FROM task`)
	if n := len(w.audit(false)); n != 4 {
		t.Errorf("without the tasks there are %d faults, want 4", n)
	}
}

// Posts of an account that does not exist are deleted, unless so many do not that the table of
// accounts is the likelier cause.
func TestRun_Posts_UnknownAuthor(t *testing.T) {
	w := newWall(t)
	w.exec(`DELETE FROM account WHERE account_id = ?`, w.bob)
	w.exec(`DELETE FROM username WHERE account_id = ?`, w.bob)
	want := []string{"unknown: account $bob: there are 3 posts by it, but no such account"}
	w.wants(w.audit(false), want)
	w.wants(w.audit(true), want)
	w.wants(w.audit(false), nil)
	p, err := w.Stored.Get(t.Context(), w.first.ID)
	if err != nil || p.Replies != 0 || p.Reposts != 0 {
		t.Errorf("the post that it answered and reposted has %+v, %v; want no replies and reposts", p.Counts, err)
	}
	t.Run("Many", func(t *testing.T) {
		w := newWall(t)
		for _, id := range w.People(20) {
			w.World.Post(t, id, "one")
		}
		w.exec(`DELETE FROM account`)
		w.exec(`DELETE FROM username`)
		cfg := w.config()
		cfg.Repair = true
		sum, err := audit.Run(t.Context(), cfg)
		if err != nil || sum.Faults[audit.Unknown] != 22 || sum.Repaired != 0 {
			t.Errorf("got %+v, %v; want 22 unknown authors and no repair", sum, err)
		}
	})
}

// Nothing finds a post in a wrong bucket.
func TestRun_Posts_WrongBucket(t *testing.T) {
	w := newWall(t)
	w.exec(`UPDATE post SET bucket = ? WHERE bucket = ? AND id = ?`, (repo.Bucket(w.ada)+500)%repo.Buckets, repo.Bucket(w.ada), w.second.ID)
	found := false
	for _, f := range w.audit(false) {
		found = found || strings.Contains(f, fmt.Sprintf("post %d lies in bucket", w.second.ID)) && strings.Contains(f, "not repaired: set its bucket with SQL")
	}
	if !found {
		t.Errorf("it found %q", w.audit(false))
	}
}

// A feed that holds the newest only is right as it is, and made anew with the same floor.
func TestRun_Posts_LongFeed(t *testing.T) {
	w := newWall(t)
	for range feed.MaxEvents + 3 {
		w.World.Post(t, w.cleo, "one of many")
	}
	for i, p := range w.live(w.cleo)[:105] { // more than a head of marks holds
		w.Clock.Add(1)
		w.must(w.Posts.Favour(t.Context(), w.ada, p, true))
		w.Clock.Add(1)
		if i%3 == 0 {
			w.must(w.Posts.Bookmark(t.Context(), w.ada, p, true))
		}
	}
	w.wants(w.audit(false), nil)
	before := w.state()
	w.setHead(w.ada, `list = '', floor_id = 0`)
	w.setFeed(w.cleo, `list = '', floor_id = 0`)
	if faults := w.audit(true); len(faults) == 0 {
		t.Error("an empty feed is no fault")
	}
	w.wants(w.audit(false), nil)
	if after := w.state(); !slices.Equal(after, before) {
		t.Error("the feed is not as it was")
	}
	w.setFeed(w.cleo, `statuses = 9`)
	cfg := w.config()
	cfg.Account, cfg.Repair = w.cleo, true
	if sum, err := audit.Run(t.Context(), cfg); err != nil || sum.Repaired != 1 {
		t.Errorf("an audit of the account repaired %d, %v; want its feed", sum.Repaired, err)
	}
}

// While people post, reply, repost, favour and delete, an audit finds nothing, and repairs
// nothing away.
func TestRun_Posts_Traffic(t *testing.T) {
	w := newWall(t)
	live := posttest.New(t, posttest.Config{DB: w.pool, Cache: cachetest.Local(t)})
	stop, done := make(chan struct{}), make(chan error)
	for i, who := range []uint64{w.ada, w.bob, w.cleo} {
		go func() { done <- act(t.Context(), live, who, w.second.ID, rand.New(rand.NewPCG(7, uint64(i))), stop) }()
	}
	for range 5 {
		w.wants(w.audit(true), nil)
	}
	close(stop)
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	live.Runner.Close(t.Context())
	w.wants(w.audit(false), nil)
}

// act does this and that until it is told to stop.
func act(ctx context.Context, w *posttest.World, who, about uint64, rng *rand.Rand, stop <-chan struct{}) error {
	var own []uint64
	for i := 0; ; i++ {
		select {
		case <-stop:
			if i < 50 {
				break
			}
			return nil
		default:
		}
		var err error
		switch w.Clock.Add(1); rng.IntN(6) {
		case 0, 1:
			var v post.View
			v, err = w.Posts.Create(ctx, who, post.Draft{Content: rows.Content{Text: "x"}, ReplyTo: about * uint64(rng.IntN(2))})
			own = append(own, v.Post.ID)
		case 2:
			_, err = w.Posts.Repost(ctx, who, about, rows.Public)
		case 3:
			_, err = w.Posts.Undo(ctx, who, about)
		case 4:
			_, err = w.Posts.Favour(ctx, who, about, rng.IntN(2) == 0)
		case 5:
			if len(own) > 0 {
				_, err = w.Posts.Delete(ctx, who, own[0])
				own = own[1:]
			}
		}
		if err != nil {
			return err
		}
	}
}
