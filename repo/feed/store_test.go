package feed_test

import (
	"errors"
	"testing"
	"time"

	"kith/repo/cache/cachetest"
	"kith/repo/committer"
	"kith/repo/dbtest"
	"kith/repo/feed"
	"kith/repo/post"
	"kith/repo/task"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// author is an author whose feed a test edits.
type author struct {
	t     *testing.T
	id    uint64
	feeds *feed.Store
	posts *post.Store
	edits *committer.Committer[*feed.Draft, feed.Row]
}

func newAuthor(t *testing.T) *author {
	t.Helper()
	pool, c := dbtest.DB(t), cachetest.Local(t)
	a := &author{t: t, id: dbtest.IDs(t, 1)[0], posts: post.New(pool, c, time.Now)}
	a.feeds = feed.New(pool, c, a.posts, task.New(pool), time.Now)
	a.edits = committer.New(a.feeds, committer.Config{})
	t.Cleanup(func() {
		if err := a.edits.Close(t.Context()); err != nil && !errors.Is(err, t.Context().Err()) {
			t.Error(err)
		}
	})
	return a
}

// edit commits edits together, as the committer does with those that wait.
func (a *author) edit(edits ...func(d *feed.Draft) error) {
	a.t.Helper()
	err := a.edits.Do(a.t.Context(), []uint64{a.id}, func(feeds map[uint64]*feed.Draft) error {
		var all error
		for _, e := range edits {
			all = errors.Join(all, e(feeds[a.id]))
		}
		return all
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// add adds a post and notes its id.
func (a *author) add(id *uint64) func(d *feed.Draft) error {
	return func(d *feed.Draft) error {
		p := &post.Post{Author: a.id, Content: post.Content{Text: "text"}}
		p.ID = d.NextID(time.Now(), 0, 0, false)
		*id = p.ID
		d.Add(p, nil)
		return nil
	}
}

// remove deletes a post.
func (a *author) remove(id *uint64) func(d *feed.Draft) error {
	return func(d *feed.Draft) error {
		p, err := d.Post(*id)
		if err == nil && p.Ver == 0 {
			err = errors.New("there is no such post")
		}
		if err != nil {
			return err
		}
		return d.SetState(p, post.Deleted)
	}
}

// want compares the feed with what it should be, and with the posts.
func (a *author) want(statuses uint32, newest uint64) {
	a.t.Helper()
	row, err := a.feeds.Row(a.t.Context(), a.id)
	if err != nil || row.Statuses != statuses || row.Newest != newest {
		a.t.Errorf("%d posts, the newest %d, %v; want %d, %d", row.Statuses, row.Newest, err, statuses, newest)
	}
	if wrong, err := a.feeds.Examine(a.t.Context(), a.id, false); err != nil || len(wrong) > 0 {
		a.t.Errorf("the feed: %v, %v", wrong, err)
	}
}

// Posts deleted in one commit, in any order, leave the newest of the others.
func TestStore_Remove_Together(t *testing.T) {
	for name, order := range map[string][2]int{"OlderFirst": {1, 2}, "NewerFirst": {2, 1}} {
		t.Run(name, func(t *testing.T) {
			a := newAuthor(t)
			var ids [3]uint64
			for i := range ids {
				a.edit(a.add(&ids[i]))
			}
			a.edit(a.remove(&ids[order[0]]), a.remove(&ids[order[1]]))
			a.want(1, ids[0])
		})
	}
}

// A post can be deleted by the commit that adds it.
func TestStore_Add_Removed(t *testing.T) {
	a := newAuthor(t)
	var first, second, third uint64
	a.edit(a.add(&first))
	a.edit(a.add(&second), a.add(&third), a.remove(&third))
	a.want(2, second)
	p, err := a.posts.Row(t.Context(), third)
	if err != nil || p.State != post.Deleted || p.Text != "" {
		t.Errorf("got %+v, %v; want a deleted post", p, err)
	}
}
