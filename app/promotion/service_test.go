package promotion

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/app"
	"kith/app/home"
	"kith/app/post"
	"kith/repo"
	"kith/repo/account"
	posts "kith/repo/post"
	"kith/repo/promotion"
)

// world is everything that a Service asks.
type world struct {
	now    time.Time
	open   []promotion.Promotion
	fail   error
	reads  int // of the store
	asked  [][]uint64
	unseen map[uint64]bool
	off    bool
	of     []posts.Post // an account's, newest first
	add    error
}

const (
	reader  = 7
	author  = 8
	damaged = 9 // an account whose posts cannot be read
)

func newWorld(open ...promotion.Promotion) (*world, *Service) {
	w := &world{now: time.Unix(1000, 0), open: open, unseen: map[uint64]bool{}}
	return w, New(Config{Store: w, Homes: w, Posts: postsOf{w}, Accounts: w, Now: func() time.Time { return w.now }})
}

func (w *world) Open(context.Context, uint32) ([]promotion.Promotion, error) {
	w.reads++
	return w.open, w.fail
}
func (w *world) Add(context.Context, promotion.Promotion, uint32) (uint64, error) { return 3, w.add }
func (w *world) Page(context.Context, uint64, int) ([]promotion.Promotion, error) { return nil, nil }
func (w *world) End(context.Context, uint64, uint32) error                        { return w.add }

func (w *world) Beside(_ context.Context, _ uint64, ids []uint64) (map[uint64]*posts.Post, error) {
	w.asked = append(w.asked, ids)
	out := map[uint64]*posts.Post{}
	for _, id := range ids {
		if !w.unseen[id] {
			out[id] = stored(id)
		}
	}
	return out, w.fail
}

func (w *world) Get(_ context.Context, ids []uint64) ([]account.Account, error) {
	ver := uint64(1)
	if ids[0] == 404 {
		ver = 0
	}
	return []account.Account{{ID: ids[0], Ver: ver, NoPromotions: w.off}}, nil
}

func stored(id uint64) *posts.Post {
	p := &posts.Post{Author: author}
	p.ID, p.Ver = id, 1
	return p
}

func promoted(id uint64, change func(*promotion.Promotion)) promotion.Promotion {
	p := promotion.Promotion{ID: id, Post: 100 + id, Begins: 900, Ends: 2000, Every: 5, Weight: 1}
	if change != nil {
		change(&p)
	}
	return p
}

// into returns what stands on a page: 0 for an entry, else the promoted post.
func (w *world) into(t *testing.T, s *Service, entries int) (out []uint64) {
	t.Helper()
	items := page(1000, entries)
	got := s.Into(t.Context(), reader, home.Items{Items: items, Next: 5})
	if got.Next != 5 {
		t.Errorf("the page goes on at %d", got.Next)
	}
	var kept []home.Item
	for _, i := range got.Items {
		if i.Promoted {
			out = append(out, i.Post.ID)
		} else {
			out, kept = append(out, 0), append(kept, i)
		}
	}
	if len(kept) != entries || !slices.EqualFunc(kept, items, func(a, b home.Item) bool { return a.Event == b.Event }) {
		t.Errorf("the entries are %v, want %v", kept, items)
	}
	return out
}

func TestService_Into(t *testing.T) {
	none := make([]uint64, 8)
	for _, c := range []struct {
		name string
		open []promotion.Promotion
		set  func(*world)
		want []uint64
	}{
		{"nothing is promoted", nil, nil, none},
		{"a post", []promotion.Promotion{promoted(1, nil)}, nil, []uint64{0, 0, 0, 0, 0, 101, 0, 0, 0}},
		{"not yet", []promotion.Promotion{promoted(1, func(p *promotion.Promotion) { p.Begins = 1001 })}, nil, none},
		{"no longer", []promotion.Promotion{promoted(1, func(p *promotion.Promotion) { p.Ends = 1000 })}, nil, none},
		{"the reader wants none", []promotion.Promotion{promoted(1, nil)}, func(w *world) { w.off = true }, none},
		{"not to be seen", []promotion.Promotion{promoted(1, nil)}, func(w *world) { w.unseen[101] = true }, none},
		{"another in its place", []promotion.Promotion{promoted(1, func(p *promotion.Promotion) { p.Weight = MaxWeight }), promoted(2, nil)},
			func(w *world) { w.unseen[101] = true }, []uint64{0, 0, 0, 0, 0, 102, 0, 0, 0}},
		{"on the page anyway", []promotion.Promotion{promoted(1, func(p *promotion.Promotion) { p.Post = 996 })}, nil, none},
		{"a post twice", []promotion.Promotion{promoted(1, func(p *promotion.Promotion) { p.Every = 2 }), promoted(2, func(p *promotion.Promotion) { p.Post, p.Every = 101, 2 })}, nil,
			[]uint64{0, 0, 101, 0, 0, 0, 0, 0, 0}},
		{"an account", []promotion.Promotion{promoted(1, func(p *promotion.Promotion) { p.Post, p.Account = 0, author })},
			func(w *world) {
				w.of = []posts.Post{*stored(52), *stored(51), *stored(50)}
				w.of[0].Visibility = posts.Unlisted
			}, []uint64{0, 0, 0, 0, 0, 51, 0, 0, 0}},
		{"an account without posts", []promotion.Promotion{promoted(1, func(p *promotion.Promotion) { p.Post, p.Account = 0, author })}, nil, none},
		{"an account that cannot be read", []promotion.Promotion{promoted(1, func(p *promotion.Promotion) { p.Post, p.Account = 0, damaged }), promoted(2, nil)}, nil,
			[]uint64{0, 0, 0, 0, 0, 102, 0, 0, 0}},
		{"a store that is away", []promotion.Promotion{promoted(1, nil)}, func(w *world) { w.fail = errors.New("away") }, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, s := newWorld(c.open...)
			if c.set != nil {
				c.set(w)
			}
			if got := w.into(t, s, 8); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// postsOf gives a world's posts the method that its accounts have, too.
type postsOf struct{ w *world }

func (p postsOf) Get(_ context.Context, _, id uint64) (post.View, error) {
	for i := range p.w.of {
		if p.w.of[i].ID == id {
			v := post.View{Post: p.w.of[i]}
			if v.Post.Origin != 0 {
				v.Origin = stored(v.Post.Origin)
			}
			return v, nil
		}
	}
	return post.View{}, app.Refuse(app.NotFound, "Record not found")
}

func (p postsOf) Of(_ context.Context, viewer, of uint64, f post.Filter, _ repo.IDRange) (page post.Page, err error) {
	if of == damaged {
		return page, errors.New("a bad row")
	}
	if viewer != 0 || !f.NoReplies || !f.NoReposts {
		return page, errors.New("more than anybody sees of the author's own posts")
	}
	for _, one := range p.w.of {
		page.Views = append(page.Views, post.View{Post: one})
	}
	return page, nil
}

// However many the reader may not see, a page asks three times at most.
func TestService_Into_Rounds(t *testing.T) {
	w, s := newWorld()
	for i := range uint64(promotion.MaxOpen) {
		w.open = append(w.open, promoted(i+1, nil))
		w.unseen[101+i] = true
	}
	w.into(t, s, 40)
	asked := 0
	for _, ids := range w.asked {
		asked += len(ids)
	}
	if len(w.asked) != rounds || asked > rounds*40/5 {
		t.Errorf("%d posts were asked for in %d rounds", asked, len(w.asked))
	}
}

// What is promoted is read again every Reread, by one request. An error leaves what was known.
func TestService_Reread(t *testing.T) {
	w, s := newWorld(promoted(1, nil))
	want := []uint64{0, 0, 0, 0, 0, 101, 0, 0, 0}
	check := func(reads int) {
		t.Helper()
		w.asked = nil
		if got := w.into(t, s, 8); !slices.Equal(got, want) || w.reads != reads {
			t.Errorf("got %v after %d reads, want %v after %d", got, w.reads, want, reads)
		}
	}
	check(1)
	w.open = nil
	w.now = w.now.Add(Reread - time.Second)
	check(1)
	w.now = w.now.Add(time.Second)
	s.reading.Lock() // another request reads
	check(1)
	s.reading.Unlock()
	want = make([]uint64, 8)
	check(2)
	w.open, w.now = []promotion.Promotion{promoted(1, nil)}, w.now.Add(-10*time.Minute) // a clock that was set back
	w.open[0].Begins = 0
	want = []uint64{0, 0, 0, 0, 0, 101, 0, 0, 0}
	check(3)
}

func TestService_Add(t *testing.T) {
	w, s := newWorld()
	w.of = []posts.Post{*stored(101), *stored(102)}
	w.of[1].Origin = 50
	for name, c := range map[string]struct {
		change func(*promotion.Promotion)
		kind   app.Kind
		why    string
	}{
		"both":              {func(p *promotion.Promotion) { p.Account = author }, app.Unprocessable, "of a post or of an account"},
		"neither":           {func(p *promotion.Promotion) { p.Post = 0 }, app.Unprocessable, "of a post or of an account"},
		"ends first":        {func(p *promotion.Promotion) { p.Begins = 2000 }, app.Unprocessable, "must end after it begins"},
		"ended":             {func(p *promotion.Promotion) { p.Ends = 1000 }, app.Unprocessable, "not in the past"},
		"every entry":       {func(p *promotion.Promotion) { p.Every = 1 }, app.Unprocessable, "after every 2 to 10000 entries"},
		"hardly ever":       {func(p *promotion.Promotion) { p.Every = MaxEvery + 1 }, app.Unprocessable, "after every 2 to 10000 entries"},
		"no weight":         {func(p *promotion.Promotion) { p.Weight = 0 }, app.Unprocessable, "1 to 1000"},
		"too much weight":   {func(p *promotion.Promotion) { p.Weight = MaxWeight + 1 }, app.Unprocessable, "1 to 1000"},
		"no such post":      {func(p *promotion.Promotion) { p.Post = 404 }, app.NotFound, "there is no post 404"},
		"a repost":          {func(p *promotion.Promotion) { p.Post = 102 }, app.Unprocessable, "promote post 50"},
		"no such account":   {func(p *promotion.Promotion) { p.Post, p.Account = 0, 404 }, app.NotFound, "there is no account 404"},
		"a post is good":    {func(*promotion.Promotion) {}, 0, ""},
		"an account, too":   {func(p *promotion.Promotion) { p.Post, p.Account = 0, author }, 0, ""},
		"later is good":     {func(p *promotion.Promotion) { p.Begins = 1999 }, 0, ""},
		"the bounds are in": {func(p *promotion.Promotion) { p.Every, p.Weight = MaxEvery, MaxWeight }, 0, ""},
	} {
		id, err := s.Add(t.Context(), promoted(1, c.change))
		if c.why == "" && (err != nil || id != 3) || c.why != "" && (app.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%s: got %d, %v, want %q", name, id, err, c.why)
		}
	}
	for cause, kind := range map[error]app.Kind{repo.ErrTooLarge: app.Limit, repo.ErrUnavailable: app.Busy} {
		w.add = cause
		if _, err := s.Add(t.Context(), promoted(1, nil)); app.KindOf(err) != kind {
			t.Errorf("got %v for %v", err, cause)
		}
	}
	for cause, kind := range map[error]app.Kind{repo.ErrNotFound: app.NotFound, promotion.ErrEnded: app.Unprocessable, repo.ErrUnavailable: app.Busy} {
		w.add = cause
		if err := s.End(t.Context(), 9); app.KindOf(err) != kind {
			t.Errorf("got %v for %v", err, cause)
		}
	}
}
