package relation

import (
	"cmp"
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"kith/app"
	"kith/repo/account"
	"kith/repo/list"
	"kith/repo/relation"
)

// Rows answers questions about relation rows. It, Committer and Accounts are
// interfaces because tests put faults in.
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

// Accounts knows which accounts exist: Load for changes, Show for questions, which may
// miss for a second an account that another process made.
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
	// Listeners get each Change once it is committed; see the package doc.
	Listeners []func(Change)
	// Log gets the panics of listeners; nil: none.
	Log *slog.Logger
}

// Service decides about relations. It is safe for concurrent use.
type Service struct{ cfg Config }

// New makes a Service.
func New(cfg Config) *Service {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Service{cfg: cfg}
}

// The refusals.
var (
	errOwnFollow = app.Refuse(app.OwnAccount, "Following your own account is not allowed")
	errOwn       = app.Refuse(app.OwnAccount, "You cannot do this to your own account")
	errBlocked   = app.Refuse(app.Forbidden, "This action is not allowed")
	errUnknown   = app.Refuse(app.NotFound, "Record not found")
)

// commit runs edit on rows, and gives the listeners what it changed. Where ctx ends first
// edit may still run: what it writes may be read only where the error is nil.
func (s *Service) commit(ctx context.Context, act Act, by uint64, ids []uint64, edit func(rows map[uint64]*relation.Draft, done *changes) error) error {
	var done changes
	return app.From(s.cfg.Committer.DoThen(ctx, ids, func(rows map[uint64]*relation.Draft) error {
		done = changes{act: act, by: by, at: uint32(s.cfg.Now().Unix())} // what an earlier try noted did not happen
		return edit(rows, &done)
	}, func() {
		for _, c := range done.list {
			for _, listener := range s.cfg.Listeners {
				s.give(listener, c)
			}
		}
	}))
}

// give gives a listener a change. One that panics ends neither the process nor the commit.
func (s *Service) give(listener func(Change), c Change) {
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Log.Error("a listener panicked", "change", c.Kind, "actor", c.Actor, "target", c.Target, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	listener(c)
}

// edit runs an edit of a pair, on the row of its actor or on both, and returns what the
// target then is to the actor. It refuses with self where the two are one.
func (s *Service) edit(ctx context.Context, act Act, actor, target uint64, self error, both bool, edit func(p pair) error) (Relationship, error) {
	if actor == target {
		return Relationship{}, self
	}
	ids := []uint64{actor, target}
	have, err := s.cfg.Accounts.Load(ctx, ids)
	if err == nil && len(have) < 2 {
		err = errUnknown
	}
	if err != nil {
		return Relationship{}, app.From(err)
	}
	if !both {
		ids = ids[:1]
	}
	var r Relationship // no named result: where ctx ends first, the edit may still write it
	var noted, complete bool
	err = s.commit(ctx, act, actor, ids, func(rows map[uint64]*relation.Draft, done *changes) error {
		p := pair{me: rows[actor], them: rows[target], from: actor, to: target, locked: have[target].Locked, done: done}
		if err := edit(p); err != nil {
			return err
		}
		o := p.me.Option(target)
		r, noted = describe(target, p.me.Rel(target), o, done.at), o.Note
		complete = both || p.me.Knows(target)
		return nil
	})
	if err != nil {
		return Relationship{}, err
	}
	if !complete { // whether they follow the actor may be in the archive
		rels, err := s.relationships(ctx, actor, []uint64{target}, true)
		if err != nil {
			return Relationship{}, err
		}
		return rels[0], nil
	}
	if noted {
		notes, err := s.cfg.Rows.Notes(ctx, actor, []uint64{target})
		if err != nil {
			return Relationship{}, app.From(err)
		}
		r.Note = notes[target]
	}
	return r, nil
}

// editBoth edits both rows once they hold all there is about the two: what is in an
// archive is recalled first.
func (s *Service) editBoth(ctx context.Context, act Act, actor, target uint64, self error, edit func(p pair) error) (Relationship, error) {
	return s.edit(ctx, act, actor, target, self, true, func(p pair) error {
		if !relation.Settle(p.me, p.them) {
			return relation.ErrRecall
		}
		return edit(p)
	})
}

// editOwn edits the actor's row alone, once it holds what the actor did to target.
func (s *Service) editOwn(ctx context.Context, act Act, actor, target uint64, edit func(p pair) error) (Relationship, error) {
	return s.edit(ctx, act, actor, target, errOwn, false, func(p pair) error {
		if !p.me.Own(target) {
			return relation.ErrRecall
		}
		return edit(p)
	})
}

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
	r := Relationship{
		ID: id, Following: rel&list.IsFollowing != 0, FollowedBy: rel&list.IsFollower != 0,
		Blocking: rel&list.IsBlocking != 0, BlockedBy: rel&list.IsBlockedBy != 0,
		Requested: rel&list.IsRequested != 0, RequestedBy: rel&list.HasRequest != 0,
		Muting: rel&list.IsMuting != 0 && !over(o, now),
	}
	if r.Following || r.Requested {
		r.ShowingReposts, r.Notify, r.Languages = !o.HideReposts, o.Notify, o.Languages
	}
	if r.Muting {
		r.MutingNotifications, r.MutedUntil = o.HideNotifications, o.MuteUntil
	}
	return r
}

// over reports that a mute with these options has ended.
func over(o list.Option, now uint32) bool { return o.MuteUntil != 0 && o.MuteUntil <= now }
