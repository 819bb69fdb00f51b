package audit

import (
	"fmt"
	"time"
)

// Kind says which rule a fault breaks.
type Kind string

// The kinds of faults, see the package doc.
const (
	Bytes    Kind = "bytes"
	Double   Kind = "double"
	Count    Kind = "count"
	Column   Kind = "column"
	Segment  Kind = "segment"
	Row      Kind = "row"
	Edge     Kind = "edge"
	Time     Kind = "time"
	Block    Kind = "block"
	Request  Kind = "request"
	Conflict Kind = "conflict"
	Unknown  Kind = "unknown"
	Name     Kind = "name"
)

// Fault is one rule that the rows break.
type Fault struct {
	Kind    Kind
	Account uint64 // whose row is wrong, or may be
	Other   uint64 // the other account, 0 if it is about one
	// Text says what is wrong, for somebody who knows the tables.
	Text     string
	Repaired bool
	Note     string // what a repair took or cost
	Err      error  // why it is not repaired
	// Rebuild is the account that kith audit --rebuild puts right, where that is what it
	// takes. Err says so too.
	Rebuild uint64

	silent uint64 // the account whose own row lacks what the other says it did
}

// String returns one line.
func (f Fault) String() string {
	s := fmt.Sprintf("%s: %s", f.Kind, f.Text)
	switch {
	case f.Err != nil:
		s += fmt.Sprintf(" (not repaired: %v)", f.Err)
	case f.Repaired:
		s += " (repaired)"
	}
	if f.Note != "" {
		s += "; " + f.Note
	}
	return s
}

func fault(k Kind, account uint64, format string, args ...any) Fault {
	return Fault{Kind: k, Account: account, Text: fmt.Sprintf("account %d: ", account) + fmt.Sprintf(format, args...)}
}

// between makes a fault about two accounts, which its text names.
func between(k Kind, account, other uint64, format string, args ...any) Fault {
	return Fault{Kind: k, Account: account, Other: other, Text: fmt.Sprintf(format, args...)}
}

// lostError says that a row has lost entries which the rows of others have.
type lostError uint64

func (id lostError) Error() string {
	return fmt.Sprintf("account %d has lost entries; kith audit --rebuild=%[1]d restores them from the rows of others", uint64(id))
}

// since writes the time of a follow.
func since(at uint32) string {
	if at == 0 {
		return "an unknown time"
	}
	return fmt.Sprintf("%d (%s)", at, time.Unix(int64(at), 0).UTC().Format(time.DateTime))
}
