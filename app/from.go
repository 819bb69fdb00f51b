package app

import (
	"context"
	"errors"

	"kith/repo"
)

// Sentences that several subjects use.
const (
	sentenceNotFound = "Record not found"
	sentenceBusy     = "There was a temporary problem serving your request, please try again"
)

// From gives an error of a store its kind and sentence. An Error stays as it
// is; nil stays nil.
func From(err error) error {
	var own *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return err
	case errors.Is(err, repo.ErrNotFound):
		return &Error{Kind: NotFound, Sentence: sentenceNotFound, Cause: err}
	case errors.Is(err, repo.ErrConflict), errors.Is(err, repo.ErrUnavailable),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{Kind: Busy, Sentence: sentenceBusy, Cause: err}
	case errors.Is(err, repo.ErrTooLarge):
		return &Error{Kind: Limit, Sentence: "This account's list is full", Cause: err}
	default:
		return &Error{Kind: Internal, Sentence: "Something went wrong on our side", Cause: err}
	}
}
