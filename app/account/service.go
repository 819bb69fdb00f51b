// Package account decides who may have an account and under which name.
package account

import (
	"context"
	"errors"
	"regexp"
	"time"
	"unicode/utf8"

	"kith/app"
	"kith/repo/account"
	"kith/repo/list"
)

// maxDisplayName is the length of a display name in characters.
const maxDisplayName = 100

// names matches a username: as in Mastodon, letters, digits and underscores, with dots
// and dashes inside.
var names = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,58}[A-Za-z0-9_])?$`)

// Store keeps accounts. It is an interface because tests put their own in.
type Store interface {
	Show(ctx context.Context, ids []uint64) ([]account.Account, error)
	ByName(ctx context.Context, name string) (account.Account, error)
	Create(ctx context.Context, a account.Account) (account.Account, error)
	SetLocked(ctx context.Context, id uint64, locked bool) (account.Account, error)
	SetNoPromotions(ctx context.Context, id uint64, none bool) (account.Account, error)
	Walk(ctx context.Context, after uint64, limit int) ([]account.Account, error)
}

// Service decides about accounts. It is safe for concurrent use.
type Service struct {
	store Store
	now   func() time.Time
}

// New makes a Service.
func New(store Store, now func() time.Time) *Service { return &Service{store: store, now: now} }

// Fresh is a new account. With ID 0 kith makes an id; an empty DisplayName means the
// username.
type Fresh struct {
	ID          uint64
	Username    string
	DisplayName string
	Locked      bool
}

// Add makes an account.
func (s *Service) Add(ctx context.Context, f Fresh) (account.Account, error) {
	if err := f.check(); err != nil {
		return account.Account{}, err
	}
	if f.DisplayName == "" {
		f.DisplayName = f.Username
	}
	a, err := s.store.Create(ctx, account.Account{
		ID: f.ID, Username: f.Username, DisplayName: f.DisplayName, Locked: f.Locked,
		CreatedAt: uint64(s.now().UnixMilli()),
	})
	switch {
	case errors.Is(err, account.ErrTaken):
		return a, &app.Error{Kind: app.Unprocessable, Sentence: "Validation failed: this name or id is taken", Cause: err}
	case errors.Is(err, account.ErrErased):
		return a, &app.Error{Kind: app.Unprocessable, Sentence: "Validation failed: the account with this id was erased", Cause: err}
	}
	return a, app.From(err)
}

func (f Fresh) check() error {
	switch {
	case !names.MatchString(f.Username):
		return app.Refuse(app.Unprocessable, "Validation failed: Username must be 1 to 60 letters, digits and underscores, with dots and dashes inside")
	case !utf8.ValidString(f.DisplayName) || utf8.RuneCountInString(f.DisplayName) > maxDisplayName:
		return app.Refuse(app.Unprocessable, "Validation failed: Display name is too long (maximum is 100 characters)")
	case f.ID > list.MaxID:
		return app.Refuse(app.Unprocessable, "Validation failed: id is too large")
	}
	return nil
}

// Get returns the account of each id, in their order, with Ver 0 where there is none. A
// change by another process may show a second later.
func (s *Service) Get(ctx context.Context, ids []uint64) ([]account.Account, error) {
	found, err := s.store.Show(ctx, ids)
	return found, app.From(err)
}

// One returns the account of id or a refusal.
func (s *Service) One(ctx context.Context, id uint64) (account.Account, error) {
	found, err := s.Get(ctx, []uint64{id})
	if err != nil {
		return account.Account{}, err
	}
	if found[0].Ver == 0 {
		return account.Account{}, app.Refuse(app.NotFound, "Record not found")
	}
	return found[0], nil
}

// ByName returns the account with the name, in any case, or a refusal.
func (s *Service) ByName(ctx context.Context, name string) (account.Account, error) {
	if !names.MatchString(name) {
		return account.Account{}, app.Refuse(app.NotFound, "Record not found")
	}
	a, err := s.store.ByName(ctx, name)
	return a, app.From(err)
}

// SetLocked decides whether people must ask before they follow id.
func (s *Service) SetLocked(ctx context.Context, id uint64, locked bool) (account.Account, error) {
	a, err := s.store.SetLocked(ctx, id, locked)
	return a, app.From(err)
}

// SetNoPromotions decides whether the home of id shows promotions.
func (s *Service) SetNoPromotions(ctx context.Context, id uint64, none bool) (account.Account, error) {
	a, err := s.store.SetNoPromotions(ctx, id, none)
	return a, app.From(err)
}

// Walk returns up to limit accounts after the given one in key order; 0: from the first.
func (s *Service) Walk(ctx context.Context, after uint64, limit int) ([]account.Account, error) {
	page, err := s.store.Walk(ctx, after, limit)
	return page, app.From(err)
}
