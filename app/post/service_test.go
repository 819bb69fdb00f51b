package post_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/app"
	"kith/app/post"
	"kith/app/post/posttest"
	apptask "kith/app/task"
	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/feed"
	posts "kith/repo/post"
	"kith/repo/task"
	"kith/repo/waittest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

type world struct {
	*posttest.World
	t *testing.T
}

func newWorld(t *testing.T) *world { return with(t, posttest.Config{}) }

func with(t *testing.T, c posttest.Config) *world {
	t.Helper()
	if c.DB == nil {
		c.DB = dbtest.Open(t, db.Config{DSN: dbtest.DSN(t), MaxOpen: 64})
	}
	if c.Cache == nil {
		c.Cache = cache.NewNone()
	}
	return &world{posttest.New(t, c), t}
}

// want compares the counts of a post and what its author has.
func (w *world) wantCounts(id uint64, want posts.Counts) {
	w.t.Helper()
	p, err := w.Stored.Fresh(w.t.Context(), []uint64{id})
	if err != nil || p[id].Counts != want {
		w.t.Errorf("counts of %d: %+v, %v; want %+v", id, p[id].Counts, err, want)
	}
}

func (w *world) wantStatuses(account uint64, want uint32) {
	w.t.Helper()
	c, err := w.Posts.Counts(w.t.Context(), []uint64{account})
	if err != nil || c[0].Statuses != want {
		w.t.Errorf("statuses of %d: %+v, %v; want %d", account, c, err, want)
	}
}

func (w *world) wantPage(viewer, author uint64, f post.Filter, want ...uint64) {
	w.t.Helper()
	page, err := w.Posts.Of(w.t.Context(), viewer, author, f, repo.IDRange{Limit: 20})
	if got := ids(page.Views); err != nil || !slices.Equal(got, want) {
		w.t.Errorf("posts of %d for %d: %v, %v; want %v", author, viewer, got, err, want)
	}
}

func (w *world) wantTasks(want int) {
	w.t.Helper()
	n, _, err := w.Tasks.Backlog(w.t.Context(), 1000)
	if err != nil || n != want {
		w.t.Errorf("%d tasks, %v; want %d", n, err, want)
	}
}

func ids(views []post.View) (out []uint64) {
	for i := range views {
		out = append(out, views[i].Post.ID)
	}
	return out
}

func wantKind(t *testing.T, err error, k app.Kind) {
	t.Helper()
	if app.KindOf(err) != k || err == nil {
		t.Errorf("got %v, want kind %d", err, k)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestService_Create(t *testing.T) {
	w := newWorld(t)
	people := w.People(3)
	a, b, c := people[0], people[1], people[2]
	name := must[string](t)(w.nameOf(b))
	first := w.Post(t, a, "hello @"+name+" #go")
	if !slices.Equal(first.Mentions, []uint64{b}) || repo.Bucket(first.ID) != repo.Bucket(a) {
		t.Errorf("got %+v, want a mention of %d and the bucket of %d", first, b, a)
	}
	w.Clock.Add(-3600) // a clock that steps back
	second := w.Write(t, a, post.Draft{Content: posts.Content{Text: "again"}, Visibility: posts.Followers})
	if second.ID <= first.ID {
		t.Errorf("id %d after %d", second.ID, first.ID)
	}
	direct := w.Write(t, a, post.Draft{Content: posts.Content{Text: "for @" + name}, Visibility: posts.Direct})
	w.wantPage(a, a, post.Filter{}, direct.ID, second.ID, first.ID)
	w.wantPage(b, a, post.Filter{}, direct.ID, first.ID)
	w.wantPage(0, a, post.Filter{}, first.ID)
	w.wantPage(0, a, post.Filter{Tag: "GO"}, first.ID)
	w.wantPage(0, a, post.Filter{Tag: "gone"})
	w.Follows(c, a)
	w.wantPage(c, a, post.Filter{}, second.ID, first.ID)
	w.wantStatuses(a, 2) // the direct one is not counted
	if _, err := w.Block(t.Context(), a, c); err != nil {
		t.Fatal(err)
	}
	w.wantPage(c, a, post.Filter{})
	_, err := w.Posts.Get(t.Context(), c, first.ID)
	wantKind(t, err, app.NotFound)
	_, err = w.Posts.Create(t.Context(), c, post.Draft{Content: posts.Content{Text: "no"}, ReplyTo: first.ID})
	wantKind(t, err, app.NotFound)
	_, err = w.Posts.Create(t.Context(), a, post.Draft{})
	wantKind(t, err, app.Unprocessable)
	w.settled(0)
}

func (w *world) nameOf(id uint64) (string, error) {
	a, err := w.Accounts.Get(w.t.Context(), id)
	return a.Username, err
}

func TestService_Reply(t *testing.T) {
	w := newWorld(t)
	p := w.People(3)
	root := w.Post(t, p[0], "root")
	one := w.Write(t, p[1], post.Draft{Content: posts.Content{Text: "one"}, ReplyTo: root.ID})
	two := w.Write(t, p[2], post.Draft{Content: posts.Content{Text: "two"}, ReplyTo: one.ID})
	own := w.Write(t, p[0], post.Draft{Content: posts.Content{Text: "own"}, ReplyTo: root.ID})
	w.wantCounts(root.ID, posts.Counts{Replies: 2})
	up, down, err := w.Posts.Thread(t.Context(), 0, one.ID)
	if err != nil || !slices.Equal(ids(up), []uint64{root.ID}) || !slices.Equal(ids(down), []uint64{two.ID}) {
		t.Errorf("thread of one: %v, %v, %v", ids(up), ids(down), err)
	}
	_, down, err = w.Posts.Thread(t.Context(), p[1], root.ID)
	if err != nil || !slices.Equal(ids(down), []uint64{one.ID, two.ID, own.ID}) && !slices.Equal(ids(down), []uint64{own.ID, one.ID, two.ID}) {
		t.Errorf("thread of root: %v, %v", ids(down), err)
	}
	w.wantPage(p[1], p[0], post.Filter{NoReplies: true}, own.ID, root.ID) // self-replies stay
	w.wantPage(p[0], p[1], post.Filter{NoReplies: true})
	got, err := w.Posts.Received(t.Context(), p[0], repo.IDRange{Limit: 20})
	if want := []uint64{max(one.ID, own.ID), min(one.ID, own.ID)}; err != nil || !slices.Equal(ids(got.Views), want) {
		t.Errorf("received: %v, %v; want %v", ids(got.Views), err, want)
	}
	if _, err := w.Posts.Delete(t.Context(), p[1], one.ID); err != nil {
		t.Fatal(err)
	}
	w.wantCounts(root.ID, posts.Counts{Replies: 1})
	w.wantStatuses(p[1], 0)
	_, err = w.Posts.Delete(t.Context(), p[1], one.ID)
	wantKind(t, err, app.NotFound)
	_, err = w.Posts.Delete(t.Context(), p[1], root.ID)
	wantKind(t, err, app.NotFound)
	w.settled(0)
}

func TestService_Repost(t *testing.T) {
	w := newWorld(t)
	p := w.People(3)
	root := w.Post(t, p[0], "root")
	first := must[post.View](t)(w.Posts.Repost(t.Context(), p[1], root.ID, 0))
	again := must[post.View](t)(w.Posts.Repost(t.Context(), p[1], first.Post.ID, 0)) // of the repost
	if again.Post.ID != first.Post.ID || first.Origin == nil || first.Origin.ID != root.ID {
		t.Errorf("got %+v and %+v, want one repost", first, again)
	}
	w.wantCounts(root.ID, posts.Counts{Reposts: 1})
	w.wantStatuses(p[1], 1)
	must[post.View](t)(w.Posts.Undo(t.Context(), p[1], root.ID))
	must[post.View](t)(w.Posts.Undo(t.Context(), p[1], root.ID))
	w.wantCounts(root.ID, posts.Counts{})
	w.wantStatuses(p[1], 0)
	next := must[post.View](t)(w.Posts.Repost(t.Context(), p[1], root.ID, 0))
	if next.Post.ID == first.Post.ID {
		t.Error("a deleted repost came back")
	}
	must[post.View](t)(w.Posts.Repost(t.Context(), p[2], root.ID, 0))
	who, err := w.Posts.Reposters(t.Context(), 0, root.ID, repo.IDRange{Limit: 10})
	if err != nil || len(who.Accounts) != 2 {
		t.Errorf("reposters: %v, %v", who, err)
	}
	private := w.Write(t, p[0], post.Draft{Content: posts.Content{Text: "mine"}, Visibility: posts.Followers})
	w.Follows(p[1], p[0])
	_, err = w.Posts.Repost(t.Context(), p[1], private.ID, 0)
	wantKind(t, err, app.Unprocessable)
	must[post.View](t)(w.Posts.Repost(t.Context(), p[0], private.ID, 0))
	w.wantStatuses(p[0], 3)
	// A deleted post takes its reposts with it.
	if _, err := w.Posts.Delete(t.Context(), p[0], root.ID); err != nil {
		t.Fatal(err)
	}
	w.wantStatuses(p[0], 2)
	w.wantStatuses(p[1], 0)
	w.wantStatuses(p[2], 0)
	w.wantCounts(root.ID, posts.Counts{})
	w.settled(0)
}

func TestService_Marks(t *testing.T) {
	w := newWorld(t)
	p := w.People(3)
	root := w.Post(t, p[0], "root")
	for range 2 {
		must[post.View](t)(w.Posts.Favour(t.Context(), p[1], root.ID, true))
		must[post.View](t)(w.Posts.Favour(t.Context(), p[2], root.ID, true))
	}
	w.wantCounts(root.ID, posts.Counts{Favourites: 2})
	must[post.View](t)(w.Posts.Favour(t.Context(), p[2], root.ID, false))
	w.wantCounts(root.ID, posts.Counts{Favourites: 1})
	must[post.View](t)(w.Posts.Bookmark(t.Context(), p[2], root.ID, true))
	must[post.View](t)(w.Posts.Pin(t.Context(), p[0], root.ID, true))
	_, err := w.Posts.Pin(t.Context(), p[1], root.ID, true)
	wantKind(t, err, app.Unprocessable)
	w.wantPage(p[1], p[0], post.Filter{Pinned: true}, root.ID)
	w.settled(0)
}

// An account pins five posts, also in a race. A pin that is there can be set again, and
// deleted posts take no room.
func TestService_Pin_Many(t *testing.T) {
	w := newWorld(t)
	a := w.People(1)[0]
	var posted []uint64
	for range 8 {
		posted = append(posted, w.Post(t, a, "pin me").ID)
	}
	var wg sync.WaitGroup
	refused := make(chan error, len(posted))
	for _, id := range posted {
		wg.Go(func() {
			if _, err := w.Posts.Pin(context.Background(), a, id, true); err != nil {
				refused <- err
			}
		})
	}
	wg.Wait()
	close(refused)
	for err := range refused {
		wantKind(t, err, app.Limit)
	}
	page := must[post.Page](t)(w.Posts.Of(t.Context(), 0, a, post.Filter{Pinned: true}, repo.IDRange{}))
	if n := len(page.Views); n != 5 {
		t.Fatalf("%d posts are pinned, want 5", n)
	}
	pinned := ids(page.Views)
	must[post.View](t)(w.Posts.Pin(t.Context(), a, pinned[0], true))
	for _, id := range pinned[:2] {
		must[post.View](t)(w.Posts.Delete(t.Context(), a, id))
	}
	next := w.Post(t, a, "the next")
	must[post.View](t)(w.Posts.Pin(t.Context(), a, next.ID, true))
	w.wantPage(a, a, post.Filter{Pinned: true}, append([]uint64{next.ID}, pinned[2:]...)...)
}

// Who reposted and who favours a post is told only to those who may know: a repost for followers
// is no secret to these, and who blocks, or is blocked, is named to nobody of the two.
func TestService_Reactors(t *testing.T) {
	w := newWorld(t)
	p := w.People(5)
	root, follower, hidden, blocker := w.Post(t, p[0], "root").ID, p[1], p[2], p[3]
	w.Follows(follower, hidden)
	must[post.View](t)(w.Posts.Repost(t.Context(), p[4], root, posts.Public))
	w.Clock.Add(1)
	must[post.View](t)(w.Posts.Repost(t.Context(), hidden, root, posts.Followers))
	w.Clock.Add(1)
	must[post.View](t)(w.Posts.Repost(t.Context(), blocker, root, posts.Public))
	for _, who := range p[2:] {
		w.Clock.Add(1)
		must[post.View](t)(w.Posts.Favour(t.Context(), who, root, true))
	}
	if _, err := w.Block(t.Context(), blocker, follower); err != nil {
		t.Fatal(err)
	}
	want := func(viewer uint64, of func(context.Context, uint64, uint64, post.Range) (post.People, error), accounts ...uint64) {
		t.Helper()
		var got []uint64
		for r := (post.Range{Limit: 1}); ; { // what a page leaves out does not end the list
			page, err := of(t.Context(), viewer, root, r)
			if err != nil {
				t.Fatal(err)
			}
			if got, r.Before = append(got, page.Accounts...), page.Last; !page.Full {
				break
			}
		}
		if !slices.Equal(got, accounts) {
			t.Errorf("%d is told of %v, want %v", viewer, got, accounts)
		}
	}
	want(0, w.Posts.Reposters, blocker, p[4])
	want(p[0], w.Posts.Reposters, blocker, p[4])
	want(hidden, w.Posts.Reposters, blocker, hidden, p[4])
	want(follower, w.Posts.Reposters, hidden, p[4])
	want(0, w.Posts.Favourers, p[4], blocker, hidden)
	want(follower, w.Posts.Favourers, p[4], hidden)
	want(blocker, w.Posts.Favourers, p[4], blocker, hidden)
}

// One Idempotency-Key makes one post, also in a race of two processes.
func TestService_Create_Key(t *testing.T) {
	w := newWorld(t)
	other := with(t, posttest.Config{DB: dbtest.Open(t, db.Config{DSN: dbtest.DSN(t), MaxOpen: 16})})
	a := w.People(1)[0]
	d := post.Draft{Content: posts.Content{Text: "once"}, Key: "k"}
	made := make([]uint64, 16)
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() {
			v, err := []*world{w, other}[i%2].Posts.Create(context.Background(), a, d)
			if err != nil {
				t.Error(err)
			}
			made[i] = v.Post.ID
		})
	}
	wg.Wait()
	if len(slices.Compact(made)) != 1 {
		t.Errorf("got posts %v, want one", made)
	}
	w.wantStatuses(a, 1)
	d.Key = "l"
	w.Write(t, a, d)
	w.wantStatuses(a, 2)
}

// Counts are true after many changes at once.
func TestService_Race(t *testing.T) {
	w := newWorld(t)
	p := w.People(12)
	root := w.Post(t, p[0], "root")
	var wg sync.WaitGroup
	for i, by := range p[1:] {
		wg.Go(func() {
			ctx := context.Background()
			for n := range 6 {
				_, err := w.Posts.Favour(ctx, by, root.ID, n%2 == 0 || i%2 == 0)
				if n%2 == 0 {
					_, again := w.Posts.Repost(ctx, by, root.ID, 0)
					err = errors.Join(err, again)
				} else if i%3 == 0 {
					_, again := w.Posts.Undo(ctx, by, root.ID)
					err = errors.Join(err, again)
				}
				_, again := w.Posts.Create(ctx, by, post.Draft{Content: posts.Content{Text: "r"}, ReplyTo: root.ID})
				if err = errors.Join(err, again); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	w.wantCounts(root.ID, posts.Counts{Replies: 66, Reposts: 7, Favourites: 6})
	w.settled(0)
}

// stuck is a runner whose process ends before it carries anything out.
type stuck struct{ post.Runner }

func (stuck) Do(context.Context, task.Task) error { return nil }

// A crash between the two sides of a change leaves a task, which another process carries
// out.
func TestService_Crash(t *testing.T) {
	w := newWorld(t)
	pool := dbtest.Open(t, db.Config{DSN: dbtest.DSN(t), MaxOpen: 16})
	dying := with(t, posttest.Config{DB: pool, Tasks: func(r *apptask.Runner) post.Runner { return stuck{r} }})
	p := w.People(3)
	root := w.Post(t, p[0], "root")
	dying.Write(t, p[1], post.Draft{Content: posts.Content{Text: "reply"}, ReplyTo: root.ID})
	must[post.View](t)(dying.Posts.Repost(t.Context(), p[1], root.ID, 0))
	must[post.View](t)(dying.Posts.Favour(t.Context(), p[1], root.ID, true))
	w.wantCounts(root.ID, posts.Counts{})
	w.wantTasks(3)
	if _, err := pool.ExecContext(t.Context(), `UPDATE task SET claimed_until = 1`); err != nil {
		t.Fatal(err)
	}
	w.settled(0)
	w.wantCounts(root.ID, posts.Counts{Replies: 1, Reposts: 1, Favourites: 1})
}

// A task ends, though its account is erased or unknown, and its post deleted or never there.
func TestService_Tasks_OfNobody(t *testing.T) {
	w := newWorld(t)
	p := w.People(2)
	gone := w.Post(t, p[0], "gone")
	must[post.View](t)(w.Posts.Delete(t.Context(), p[0], gone.ID))
	answer := w.Write(t, p[1], post.Draft{Content: posts.Content{Text: "of somebody erased"}, ReplyTo: w.Post(t, p[0], "root").ID})
	if err := w.Accounts.Bury(t.Context(), p[1], 1); err != nil {
		t.Fatal(err)
	}
	const nobody, never = 1<<40 + 5, 1<<50 + 5
	for _, one := range []task.Task{
		{ID: never, Kind: task.Settle, Account: nobody, Post: never},
		{ID: gone.ID, Kind: task.Settle, Account: p[0], Post: gone.ID},
		{ID: answer.ID, Kind: task.Settle, Account: p[1], Post: answer.ID},
		{ID: never, Kind: task.Favourite, Account: nobody, Post: never},
		{ID: gone.ID, Kind: task.Favourite, Account: p[1], Post: gone.ID},
		{ID: answer.ID, Kind: task.Favourite, Account: nobody, Post: answer.ID},
	} {
		if err := db.WithTx(t.Context(), dbtest.DB(t), func(tx *sqlx.Tx) error { return w.Tasks.Add(t.Context(), tx, []task.Task{one}) }); err != nil {
			t.Fatal(err)
		}
		w.Runner.Go(one)
	}
	w.settled(0)
}

// settled waits until so many tasks are left.
func (w *world) settled(want int) {
	w.t.Helper()
	waittest.Until(w.t, patience, "the tasks are done", func() bool {
		n, _, err := w.Tasks.Backlog(w.t.Context(), 1000)
		return err == nil && n == want
	})
}

const patience = 30 * time.Second

// together carries out so many edits in one commit, under the locks of their rows, as a
// committer does with rows that other processes change, too.
type together struct {
	feeds *feed.Store
	n     int
	done  chan struct{}

	mu    sync.Mutex
	ids   []uint64
	edits []func(map[uint64]*feed.Draft) error
	err   error
}

func (c *together) Do(_ context.Context, ids []uint64, apply func(map[uint64]*feed.Draft) error) error {
	c.mu.Lock()
	c.ids, c.edits = append(c.ids, ids...), append(c.edits, apply)
	if len(c.edits) == c.n {
		c.err = c.commit()
		close(c.done)
	}
	c.mu.Unlock()
	<-c.done
	return c.err
}

func (c *together) commit() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	runs := 0
	_, err := c.feeds.Locked(ctx, c.ids, nil, func(feeds map[uint64]*feed.Draft) (rows []feed.Row, err error) {
		if runs++; runs > len(c.edits) {
			return nil, errors.New("the edits run again and again")
		}
		for _, apply := range c.edits {
			if err := apply(feeds); err != nil && err != feed.ErrRecall {
				return nil, err
			}
		}
		for _, d := range feeds {
			if d.Changed() {
				r, err := c.feeds.Pack(d)
				if err != nil {
					return nil, err
				}
				rows = append(rows, r)
			}
		}
		return rows, nil
	})
	return err
}

// Posts and reposts in one commit: a repost reads what the author reposts, and a post need
// not read anything. They do not wait for each other.
func TestService_Create_Together(t *testing.T) {
	w := newWorld(t)
	p := w.People(3)
	of := w.Post(t, p[0], "reposted")
	s := post.New(post.Config{Posts: w.Stored, Feeds: w.Feeds, Marks: w.Marks, Tasks: w.Runner, Relations: w.Rows, Accounts: w.Accounts, Now: w.Now,
		Edits: &together{feeds: w.Feeds, n: 3, done: make(chan struct{})}})
	var wg sync.WaitGroup
	for _, do := range []func() (post.View, error){
		func() (post.View, error) { return s.Repost(t.Context(), p[2], of.ID, 0) },
		func() (post.View, error) {
			return s.Create(t.Context(), p[1], post.Draft{Content: posts.Content{Text: "one"}})
		},
		func() (post.View, error) {
			return s.Create(t.Context(), p[1], post.Draft{Content: posts.Content{Text: "two"}})
		},
	} {
		wg.Go(func() {
			if _, err := do(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	w.wantStatuses(p[1], 2)
	w.wantStatuses(p[2], 1)
	w.wantCounts(of.ID, posts.Counts{Reposts: 1})
}

// Authors of one bucket who post in one millisecond, through two processes, get ids of their
// own: a duplicate makes a new one.
func TestService_Create_SameMillisecond(t *testing.T) {
	w := newWorld(t)
	other := with(t, posttest.Config{DB: dbtest.Open(t, db.Config{DSN: dbtest.DSN(t), MaxOpen: 16})})
	authors := make([]uint64, 24)
	first := dbtest.IDs(t, 1)[0]
	for i := range authors {
		authors[i] = first + uint64(i+1)*repo.Buckets<<20
	}
	w.Make(authors...)
	var mu sync.Mutex
	made := map[uint64]uint64{}
	var wg sync.WaitGroup
	for i, by := range authors {
		wg.Go(func() {
			for range 4 {
				v, err := []*world{w, other}[i%2].Posts.Create(context.Background(), by, post.Draft{Content: posts.Content{Text: "now"}})
				mu.Lock()
				if was, taken := made[v.Post.ID]; taken || err != nil || v.Post.Author != by {
					t.Errorf("%d posts %d, %v, which %d has", by, v.Post.ID, err, was)
				}
				made[v.Post.ID] = by
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(made) != 4*len(authors) {
		t.Errorf("%d posts, want %d", len(made), 4*len(authors))
	}
	for _, by := range authors {
		w.wantStatuses(by, 4)
	}
}
