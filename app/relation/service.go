package relation

import (
	"context"
	"fmt"
	"time"

	"kith/app"
	"kith/repo/account"
	"kith/repo/list"
	"kith/repo/relation"
)

// Rows answers questions about relation rows.
type Rows interface {
	Row(ctx context.Context, id uint64) (relation.Row, error)
	Rows(ctx context.Context, ids []uint64) ([]relation.Row, error)
	Rels(ctx context.Context, row relation.Row, ids []uint64, of list.Rel) ([]list.Rel, relation.Options, error)
	Page(ctx context.Context, row relation.Row, o list.Order, r list.Range) ([]list.Entry, error)
	Counts(ctx context.Context, ids []uint64) ([]relation.Counts, error)
	Notes(ctx context.Context, id uint64, others []uint64) (map[uint64]string, error)
}

// Committer carries out edits, and what follows from each once it is committed.
type Committer interface {
	DoThen(ctx context.Context, ids []uint64, apply func(rows map[uint64]*relation.Draft) error, then func()) error
}

// Accounts tells which accounts exist: Load for changes, Show for questions, to
// which an account that another process made may be unknown for a second.
type Accounts interface {
	Load(ctx context.Context, ids []uint64) (map[uint64]account.Account, error)
	Show(ctx context.Context, ids []uint64) ([]account.Account, error)
}

// Config is what a Service works with.
type Config struct {
	Rows      Rows
	Committer Committer
	Accounts  Accounts
	Now       func() time.Time
	// FollowingLimit is how many accounts one may follow, 0 for any number.
	FollowingLimit int
	// Listeners are given each Change once it is committed; see the package doc.
	Listeners []func(Change)
}

// Service decides about relations. It is safe for concurrent use.
type Service struct{ cfg Config }

// New makes a Service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// The refusals.
var (
	errOwnFollow = app.Refuse(app.OwnAccount, "Following your own account is not allowed")
	errOwn       = app.Refuse(app.OwnAccount, "You cannot do this to your own account")
	errBlocked   = app.Refuse(app.Forbidden, "This action is not allowed")
	errNobody    = app.Refuse(app.NotFound, "Record not found")
	errNoRequest = app.Refuse(app.NotFound, "Record not found")
)

func (s *Service) errLimit() error {
	return app.Refuse(app.Limit, fmt.Sprintf("You cannot follow more than %d people", s.cfg.FollowingLimit))
}

// commit runs edit on rows, and gives the listeners what it changed.
func (s *Service) commit(ctx context.Context, act Act, by uint64, ids []uint64, edit func(rows map[uint64]*relation.Draft, done *changes) error) error {
	var done changes
	return app.From(s.cfg.Committer.DoThen(ctx, ids, func(rows map[uint64]*relation.Draft) error {
		done = changes{act: act, by: by} // what an earlier try noted did not happen
		return edit(rows, &done)
	}, func() {
		for _, c := range done.list {
			for _, give := range s.cfg.Listeners {
				give(c)
			}
		}
	}))
}

// pair is the two rows that an edit works on.
type pair struct {
	me, them *relation.Draft
	now      uint32
	done     *changes
}

// change runs edit on the rows of actor and target, who must both exist, and
// returns what target then is to actor.
func (s *Service) change(ctx context.Context, act Act, actor, target uint64, edit func(p pair) error) (Relationship, error) {
	if _, err := s.exist(ctx, actor, target); err != nil {
		return Relationship{}, err
	}
	return s.edit(ctx, act, actor, target, edit)
}

// edit is change for accounts that are known to exist.
func (s *Service) edit(ctx context.Context, act Act, actor, target uint64, edit func(p pair) error) (Relationship, error) {
	var r Relationship
	var noted bool
	err := s.commit(ctx, act, actor, []uint64{actor, target}, func(rows map[uint64]*relation.Draft, done *changes) error {
		p := pair{me: rows[actor], them: rows[target], now: s.now(), done: done}
		if err := edit(p); err != nil {
			return err
		}
		o := p.me.Option(target)
		r, noted = describe(target, p.me.Rel(target), o, p.now), o.Note
		return nil
	})
	if err != nil {
		return Relationship{}, err
	}
	return s.annotate(ctx, actor, r, noted)
}

// annotate adds the note to what somebody is to the actor, if there is one.
func (s *Service) annotate(ctx context.Context, actor uint64, r Relationship, noted bool) (Relationship, error) {
	if !noted {
		return r, nil
	}
	notes, err := s.cfg.Rows.Notes(ctx, actor, []uint64{r.ID})
	if err != nil {
		return Relationship{}, app.From(err)
	}
	r.Note = notes[r.ID]
	return r, nil
}

// settled runs edit as change does, once both rows say all there is about the
// two: what stands in an archive is recalled first.
func (s *Service) settled(ctx context.Context, act Act, actor, target uint64, edit func(p pair) error) (Relationship, error) {
	return s.change(ctx, act, actor, target, func(p pair) error {
		if !relation.Settle(p.me, p.them) {
			return relation.ErrRecall
		}
		return edit(p)
	})
}

// own runs edit on the actor's row alone.
func (s *Service) own(ctx context.Context, act Act, actor, target uint64, edit func(me *relation.Draft, now uint32, done *changes) error) (Relationship, error) {
	if _, err := s.exist(ctx, actor, target); err != nil {
		return Relationship{}, err
	}
	var r Relationship
	var complete, noted bool
	err := s.commit(ctx, act, actor, []uint64{actor}, func(rows map[uint64]*relation.Draft, done *changes) error {
		me, now := rows[actor], s.now()
		if !me.Own(target) {
			return relation.ErrRecall
		}
		if err := edit(me, now, done); err != nil {
			return err
		}
		o := me.Option(target)
		complete, noted = me.Knows(target), o.Note
		r = describe(target, me.Rel(target), o, now)
		return nil
	})
	if err != nil {
		return Relationship{}, err
	}
	if !complete { // whether they follow the actor may stand in the archive
		return s.one(ctx, actor, target)
	}
	return s.annotate(ctx, actor, r, noted)
}

// one tells what an account that is known to exist is to the viewer. Who exists is not
// asked again: what pages show of accounts may be older than what edits read.
func (s *Service) one(ctx context.Context, viewer, id uint64) (Relationship, error) {
	exists := func(context.Context, []uint64, []list.Rel) ([]bool, error) { return []bool{true}, nil }
	rels, err := s.relationships(ctx, viewer, []uint64{id}, exists)
	if err != nil {
		return Relationship{}, err
	}
	return rels[0], nil
}

// exist returns both accounts or a refusal.
func (s *Service) exist(ctx context.Context, actor, target uint64) (map[uint64]account.Account, error) {
	have, err := s.cfg.Accounts.Load(ctx, []uint64{actor, target})
	if err != nil {
		return nil, app.From(err)
	}
	for _, id := range []uint64{actor, target} {
		if _, ok := have[id]; !ok {
			return nil, errNobody
		}
	}
	return have, nil
}

func (s *Service) now() uint32 { return uint32(s.cfg.Now().Unix()) }

// Relationship is what one account (ID) is to the account that asks.
type Relationship struct {
	ID                                uint64
	Following, ShowingReposts, Notify bool
	Languages                         []string
	FollowedBy, Blocking, BlockedBy   bool
	Muting, MutingNotifications       bool
	MutedUntil                        uint32 // unix seconds, 0: no end
	Requested, RequestedBy            bool
	Note                              string
}

func describe(id uint64, rel list.Rel, o list.Option, now uint32) Relationship {
	following := rel&list.IsFollowing != 0
	asked := rel&list.IsRequested != 0
	muting := rel&list.IsMuting != 0 && (o.MuteUntil == 0 || o.MuteUntil > now)
	r := Relationship{
		ID: id, Following: following, FollowedBy: rel&list.IsFollower != 0,
		Blocking: rel&list.IsBlocking != 0, BlockedBy: rel&list.IsBlockedBy != 0,
		Requested: asked, RequestedBy: rel&list.HasRequest != 0,
		Muting: muting,
	}
	if following || asked {
		r.ShowingReposts, r.Notify, r.Languages = !o.HideReposts, o.Notify, o.Languages
	}
	if muting {
		r.MutingNotifications, r.MutedUntil = o.HideNotifications, o.MuteUntil
	}
	return r
}
