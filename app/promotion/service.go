// Package promotion shows promotions in homes: posts that stand between entries although
// nobody brings them whom the reader follows, marked as promoted. A promoted account is
// shown by its newest public post.
//
// They are put in when a page of the home is answered. They are no entries: no page is
// shorter or longer by them, none begins or ends with one, so that cursors are those of
// entries, and a refresh has none. See place for where they stand.
//
// A promotion is left out where the reader may not see its post, where a rule of homes
// speaks against it (home.Service.Beside), where the post stands on the page anyway, where
// it is the reader's own, and for accounts that want none.
//
// Each process holds what is live, and reads it again every 10 seconds: 100 promotions at
// most, and for each account 20 posts. A page looks at the posts that it shows, and in
// three rounds at others in place of those that the reader may not see. Where the database
// is away, homes are shown without promotions.
package promotion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"kith/app"
	"kith/app/home"
	"kith/app/post"
	"kith/repo"
	"kith/repo/account"
	posts "kith/repo/post"
	"kith/repo/promotion"
)

// Store keeps promotions. It is an interface because tests put faults in.
type Store interface {
	Add(ctx context.Context, p promotion.Promotion, now uint32) (uint64, error)
	Open(ctx context.Context, now uint32) ([]promotion.Promotion, error)
	Page(ctx context.Context, before uint64, limit int) ([]promotion.Promotion, error)
	End(ctx context.Context, id uint64, now uint32) error
}

// Homes says which posts may be shown to a reader.
type Homes interface {
	Beside(ctx context.Context, reader uint64, ids []uint64) (map[uint64]*posts.Post, error)
}

// Posts finds posts as anybody sees them.
type Posts interface {
	Get(ctx context.Context, viewer, id uint64) (post.View, error)
	Of(ctx context.Context, viewer, author uint64, f post.Filter, r repo.IDRange) (post.Page, error)
}

// Accounts knows what accounts chose.
type Accounts interface {
	Get(ctx context.Context, ids []uint64) ([]account.Account, error)
}

// Config is what a Service works with.
type Config struct {
	Store    Store
	Homes    Homes
	Posts    Posts
	Accounts Accounts
	Now      func() time.Time
	Log      *slog.Logger
}

// Service adds, ends and shows promotions. It is safe for concurrent use.
type Service struct {
	cfg     Config
	held    atomic.Pointer[held]
	reading sync.Mutex
}

// New makes a Service.
func New(cfg Config) *Service {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Service{cfg: cfg}
}

// held is what a process knows of promotions.
type held struct {
	at  time.Time
	all []resolved
}

type resolved struct {
	promotion.Promotion
	post uint64 // that is shown
}

const (
	// Reread is how old what a process knows of promotions becomes.
	Reread = 10 * time.Second
	// rounds is how often a page is filled anew in place of what its reader may not see.
	rounds = 3
	// newest is in how many posts of an account a public one is looked for.
	newest = 20
)

// Into returns a page of a reader's home with promotions between its entries.
func (s *Service) Into(ctx context.Context, reader uint64, page home.Items) home.Items {
	all := s.live(ctx, page.Items)
	if len(all) == 0 || len(page.Items) < 2 {
		return page
	}
	slots, shown, err := s.choose(ctx, reader, page.Items, all)
	if err != nil {
		s.cfg.Log.Warn("a home is shown without promotions", "account", reader, "error", err)
		return page
	}
	items := make([]home.Item, 0, len(page.Items)+len(slots))
	for i, item := range page.Items {
		if len(slots) > 0 && slots[0].after == i {
			p := shown[slots[0].post]
			items = append(items, home.Item{Entry: home.Entry{Event: p.Event()}, Post: p, Promoted: true})
			slots = slots[1:]
		}
		items = append(items, item)
	}
	page.Items = items
	return page
}

// choose returns the promotions of a page, with posts that the reader may see.
func (s *Service) choose(ctx context.Context, reader uint64, items []home.Item, all []live) (slots []slot, shown map[uint64]*posts.Post, err error) {
	me, err := s.cfg.Accounts.Get(ctx, []uint64{reader})
	if err != nil || me[0].NoPromotions {
		return nil, nil, err
	}
	shown, asked := map[uint64]*posts.Post{}, map[uint64]bool{}
	for range rounds {
		slots = place(all, reader, items)
		var ids []uint64
		for _, one := range slots {
			if !asked[one.post] {
				ids, asked[one.post] = append(ids, one.post), true
			}
		}
		if len(ids) == 0 {
			return slots, shown, nil
		}
		found, err := s.cfg.Homes.Beside(ctx, reader, ids)
		if err != nil {
			return nil, nil, err
		}
		for id, p := range found {
			shown[id] = p
		}
		all = filter(all, func(p live) bool { return !asked[p.post] || shown[p.post] != nil })
	}
	return filter(slots, func(one slot) bool { return shown[one.post] != nil }), shown, nil
}

func filter[T any](all []T, keep func(T) bool) (out []T) {
	for _, one := range all {
		if keep(one) {
			out = append(out, one)
		}
	}
	return out
}

// live returns the promotions that are shown now, but for posts that stand on the page. Of
// two of one post it is the first.
func (s *Service) live(ctx context.Context, items []home.Item) (out []live) {
	all := s.hold(ctx)
	if len(all) == 0 {
		return nil
	}
	now, on := uint32(s.cfg.Now().Unix()), map[uint64]bool{}
	for _, i := range items {
		on[i.Event.Post()] = true
	}
	for _, p := range all {
		if p.Begins <= now && now < p.Ends && !on[p.post] {
			on[p.post] = true
			out = append(out, live{p.ID, p.post, int(p.Every), int(p.Weight)})
		}
	}
	return out
}

// hold returns what the process knows, and reads it again where that is old. One reads;
// others take what there is.
func (s *Service) hold(ctx context.Context) []resolved {
	h, now := s.held.Load(), s.cfg.Now()
	if h == nil {
		h = &held{}
	}
	if age := now.Sub(h.at); age >= 0 && age < Reread || !s.reading.TryLock() {
		return h.all
	}
	defer s.reading.Unlock()
	all, err := s.read(ctx, uint32(now.Unix()))
	if err != nil {
		s.cfg.Log.Warn("promotions are not read", "error", err)
		all = h.all
	}
	s.held.Store(&held{now, all})
	return all
}

// read reads what has not ended, and finds the post of each account.
func (s *Service) read(ctx context.Context, now uint32) (out []resolved, err error) {
	open, err := s.cfg.Store.Open(ctx, now)
	if err != nil {
		return nil, err
	}
	for _, p := range open {
		r := resolved{p, p.Post}
		if p.Account != 0 && p.Begins <= now+uint32(Reread/time.Second) {
			if r.post, err = s.newest(ctx, p.Account); err != nil { // the others are shown
				s.cfg.Log.Warn("a promoted account is not shown", "account", p.Account, "error", err)
			}
		}
		if r.post != 0 && r.Every > 0 && r.Weight > 0 {
			out = append(out, r)
		}
	}
	return out, nil
}

// newest returns the newest public post of an account, 0 where it has none.
func (s *Service) newest(ctx context.Context, author uint64) (uint64, error) {
	page, err := s.cfg.Posts.Of(ctx, 0, author, post.Filter{NoReplies: true, NoReposts: true}, repo.IDRange{Limit: newest})
	if err != nil {
		return 0, err
	}
	for i := range page.Views {
		if p := &page.Views[i].Post; p.Visibility == posts.Public {
			return p.ID, nil
		}
	}
	return 0, nil
}

// The bounds of a promotion.
const (
	MinEvery  = 2
	MaxEvery  = 10_000
	MaxWeight = 1000
)

// Add adds a promotion and returns its id.
func (s *Service) Add(ctx context.Context, p promotion.Promotion) (uint64, error) {
	now := uint32(s.cfg.Now().Unix())
	switch {
	case (p.Post == 0) == (p.Account == 0):
		return 0, unprocessable("a promotion is of a post or of an account")
	case p.Ends <= p.Begins || p.Ends <= now:
		return 0, unprocessable("a promotion must end after it begins, and not in the past")
	case p.Every < MinEvery || p.Every > MaxEvery:
		return 0, unprocessable(fmt.Sprintf("a promotion is shown after every %d to %d entries", MinEvery, MaxEvery))
	case p.Weight < 1 || p.Weight > MaxWeight:
		return 0, unprocessable(fmt.Sprintf("the weight of a promotion is 1 to %d", MaxWeight))
	}
	if err := s.check(ctx, p); err != nil {
		return 0, err
	}
	id, err := s.cfg.Store.Add(ctx, p, now)
	if errors.Is(err, repo.ErrTooLarge) {
		return 0, app.Refuse(app.Limit, fmt.Sprintf("there are %d promotions that have not ended: end one first", promotion.MaxOpen))
	}
	return id, app.From(err)
}

// check refuses what could not be shown.
func (s *Service) check(ctx context.Context, p promotion.Promotion) error {
	if p.Account != 0 {
		found, err := s.cfg.Accounts.Get(ctx, []uint64{p.Account})
		if err == nil && found[0].Ver == 0 {
			err = app.Refuse(app.NotFound, fmt.Sprintf("there is no account %d", p.Account))
		}
		return err
	}
	v, err := s.cfg.Posts.Get(ctx, 0, p.Post)
	switch {
	case app.KindOf(err) == app.NotFound && err != nil:
		return app.Refuse(app.NotFound, fmt.Sprintf("there is no post %d that everybody may see", p.Post))
	case err != nil:
		return err
	case v.Origin != nil:
		return unprocessable(fmt.Sprintf("post %d is a repost: promote post %d", p.Post, v.Origin.ID))
	}
	return nil
}

func unprocessable(sentence string) error { return app.Refuse(app.Unprocessable, sentence) }

// End ends a promotion now.
func (s *Service) End(ctx context.Context, id uint64) error {
	err := s.cfg.Store.End(ctx, id, uint32(s.cfg.Now().Unix()))
	switch {
	case errors.Is(err, promotion.ErrEnded):
		return unprocessable(fmt.Sprintf("promotion %d has ended already", id))
	case errors.Is(err, repo.ErrNotFound):
		return app.Refuse(app.NotFound, fmt.Sprintf("there is no promotion %d", id))
	}
	return app.From(err)
}

// Open returns the promotions that have not ended.
func (s *Service) Open(ctx context.Context) ([]promotion.Promotion, error) {
	all, err := s.cfg.Store.Open(ctx, uint32(s.cfg.Now().Unix()))
	return all, app.From(err)
}

// Page returns promotions below an id, the newest first; 0: from the newest.
func (s *Service) Page(ctx context.Context, before uint64, limit int) ([]promotion.Promotion, error) {
	all, err := s.cfg.Store.Page(ctx, before, limit)
	return all, app.From(err)
}
