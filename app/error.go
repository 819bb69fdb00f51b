// Package app is what the product decides: one sub-package for each subject. This package
// has what all of them share: the kinds of refusal, and pages by id.
package app

import (
	"context"
	"errors"

	"kith/repo"
)

// IDRange is a part of an order by ids: a page of posts.
type IDRange = repo.IDRange

// Kind is the kind of a refusal; app/api turns it into a status code.
type Kind int

// The kinds of refusal.
const (
	Internal      Kind = iota // a bug or a broken row: nothing the caller can do
	Invalid                   // the request makes no sense as it is
	Forbidden                 // not allowed between these accounts
	OwnAccount                // not allowed to one's own account
	NotFound                  // no such account, request or entry
	Unprocessable             // understood, and against a rule or limit
	Limit                     // more than an account may have
	Conflict                  // another was first: what the caller saw is no longer so
	Busy                      // full or away for the moment: the same call may succeed later
)

// Error is a refusal: a kind, a sentence for the caller and the cause for the log.
type Error struct {
	Kind     Kind
	Sentence string
	Cause    error
}

// Error returns the sentence and the cause, for logs.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Sentence
	}
	return e.Sentence + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Refuse makes a refusal without a cause.
func Refuse(k Kind, sentence string) *Error { return &Error{Kind: k, Sentence: sentence} }

// KindOf returns the kind of err, Internal where it has none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// From gives an error of a store its kind and sentence. An Error and nil stay as they
// are.
func From(err error) error {
	var own *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return err
	case errors.Is(err, repo.ErrNotFound):
		return &Error{Kind: NotFound, Sentence: "Record not found", Cause: err}
	case errors.Is(err, repo.ErrConflict), errors.Is(err, repo.ErrUnavailable),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{Kind: Busy, Sentence: "There was a temporary problem serving your request, please try again", Cause: err}
	case errors.Is(err, repo.ErrTooLarge):
		return &Error{Kind: Limit, Sentence: "This account's list is full", Cause: err}
	default:
		return &Error{Kind: Internal, Sentence: "Something went wrong on our side", Cause: err}
	}
}
