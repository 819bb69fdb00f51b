package app

import "errors"

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
	Limit                     // one more than an account may have
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
