package mark_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"kith/repo"
	"kith/repo/cache/cachetest"
	"kith/repo/dbtest"
	"kith/repo/mark"
	"kith/repo/task"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func newStore(t *testing.T) *mark.Store {
	t.Helper()
	pool := dbtest.DB(t)
	return mark.New(pool, cachetest.Local(t), task.New(pool), time.Now)
}

// has returns the posts that an account has a mark of a kind on.
func has(t *testing.T, s *mark.Store, account uint64, k mark.Kind, posts ...uint64) (out []uint64) {
	t.Helper()
	found, err := s.On(t.Context(), account, posts)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range found {
		if m.Kind == k {
			out = append(out, m.Post)
		}
	}
	slices.Sort(out)
	return out
}

func set(t *testing.T, s *mark.Store, account uint64, k mark.Kind, post, id uint64, want bool) {
	t.Helper()
	if changed, err := s.Set(t.Context(), account, k, post, id); err != nil || changed != want {
		t.Errorf("set %d of %d to %d: %v, %v; want %v", k, post, id, changed, err, want)
	}
}

func TestStore_Set(t *testing.T) {
	s, a := newStore(t), dbtest.IDs(t, 1)[0]
	set(t, s, a, mark.Favourite, 10, 11, true)
	set(t, s, a, mark.Favourite, 10, 12, false)
	set(t, s, a, mark.Bookmark, 10, 13, true)
	set(t, s, a, mark.Pin, 20, 0, false)
	if got := has(t, s, a, mark.Favourite, 10, 20); !slices.Equal(got, []uint64{10}) {
		t.Errorf("favourites %v, want 10", got)
	}
	if id, err := s.Fresh(t.Context(), a, mark.Favourite, 10); err != nil || id != 11 {
		t.Errorf("id %d, %v; want 11", id, err)
	}
	set(t, s, a, mark.Favourite, 10, 0, true)
	set(t, s, a, mark.Favourite, 10, 0, false)
	if got := has(t, s, a, mark.Favourite, 10); len(got) > 0 {
		t.Errorf("favourites %v, want none", got)
	}
	if got := has(t, s, a, mark.Bookmark, 10); !slices.Equal(got, []uint64{10}) {
		t.Errorf("bookmarks %v, want 10", got)
	}
}

// Marks that the head no longer holds are found in the table.
func TestStore_On_PastHead(t *testing.T) {
	s, a := newStore(t), dbtest.IDs(t, 1)[0]
	var posts []uint64
	for i := range uint64(130) {
		posts = append(posts, 10*i+10)
		set(t, s, a, mark.Favourite, 10*i+10, 10*i+11, true)
	}
	if got := has(t, s, a, mark.Favourite, posts...); !slices.Equal(got, posts) {
		t.Errorf("%d favourites, want %d", len(got), len(posts))
	}
	set(t, s, a, mark.Favourite, 10, 0, true)
	set(t, s, a, mark.Favourite, 1300, 0, true)
	if got := has(t, s, a, mark.Favourite, posts...); !slices.Equal(got, posts[1:129]) {
		t.Errorf("%d favourites, want %d", len(got), 128)
	}
	// A late mark on an old post.
	set(t, s, a, mark.Favourite, 10, 5000, true)
	if got := has(t, s, a, mark.Favourite, 10, 20, 15); !slices.Equal(got, []uint64{10, 20}) {
		t.Errorf("favourites %v, want 10 and 20", got)
	}
	page, err := s.Page(t.Context(), a, mark.Favourite, repo.IDRange{Limit: 2})
	if err != nil || len(page) != 2 || page[0].Post != 10 {
		t.Errorf("page %v, %v", page, err)
	}
}

// Marks of one moment, or of a clock that stepped back, stand in the order in which they came,
// and pages skip none of them.
func TestStore_Page_SameMoment(t *testing.T) {
	s, a := newStore(t), dbtest.IDs(t, 1)[0]
	const moment = 77 << 30
	for i, id := range []uint64{moment, moment, moment - 5<<10, moment} {
		set(t, s, a, mark.Favourite, uint64(i+1), id, true)
	}
	var got []uint64
	for r := (repo.IDRange{Limit: 1}); ; {
		page, err := s.Page(t.Context(), a, mark.Favourite, r)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		got, r.Before = append(got, page[0].Post), page[0].ID
	}
	if !slices.Equal(got, []uint64{4, 3, 2, 1}) {
		t.Errorf("the pages have the marks on %v, want 4, 3, 2, 1", got)
	}
}

// Many at once leave what the last one wrote, in the head and in the table.
func TestStore_Set_Race(t *testing.T) {
	s, a := newStore(t), dbtest.IDs(t, 1)[0]
	other := newStore(t)
	var wg sync.WaitGroup
	for i := range uint64(16) {
		wg.Go(func() {
			of := []*mark.Store{s, other}[i%2]
			_, err := of.Set(context.Background(), a, mark.Favourite, 100+i%4, 200+i)
			if err == nil && i%4 == 0 {
				_, err = of.Set(context.Background(), a, mark.Favourite, 100, 0)
			}
			if err != nil && !errors.Is(err, repo.ErrConflict) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	third := newStore(t)
	for post := uint64(100); post < 104; post++ {
		id, err := third.Fresh(t.Context(), a, mark.Favourite, post)
		if head := len(has(t, third, a, mark.Favourite, post)) == 1; err != nil || head != (id != 0) {
			t.Errorf("post %d: the head has it: %v, the table: %d, %v", post, head, id, err)
		}
	}
}
