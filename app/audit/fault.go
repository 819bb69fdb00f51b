package audit

import (
	"fmt"
	"time"
)

// Kind says which rule a fault breaks.
type Kind string

// The kinds of faults, see the package doc.
const (
	Bytes   Kind = "bytes"
	Double  Kind = "double"
	Count   Kind = "count"
	Column  Kind = "column"
	Segment Kind = "segment"
	Row     Kind = "row"
	Edge    Kind = "edge"
	Time    Kind = "time"
	Block   Kind = "block"
	Request Kind = "request"
	Beside  Kind = "beside"
	Nobody  Kind = "nobody"
)

// Fault is one thing that does not hold.
type Fault struct {
	Kind    Kind
	Account uint64 // whose row is wrong, or may be
	Other   uint64 // the other account, 0 if it is about one
	// Words say what is wrong, for somebody who knows the tables.
	Words string
	// Mended says that it was put right, Note what that took or cost.
	Mended bool
	Note   string
	// Err is why it could not be mended.
	Err error

	silent uint64 // who does not know what the other says it did
}

// String returns one line.
func (f Fault) String() string {
	s := fmt.Sprintf("%s: %s", f.Kind, f.Words)
	switch {
	case f.Err != nil:
		s += fmt.Sprintf(" (not mended: %v)", f.Err)
	case f.Mended:
		s += " (mended)"
	}
	if f.Note != "" {
		s += "; " + f.Note
	}
	return s
}

func fault(k Kind, account uint64, format string, args ...any) Fault {
	return Fault{Kind: k, Account: account, Words: fmt.Sprintf("account %d: ", account) + fmt.Sprintf(format, args...)}
}

// between makes a fault about two accounts, which the words name.
func between(k Kind, account, other uint64, format string, args ...any) Fault {
	return Fault{Kind: k, Account: account, Other: other, Words: fmt.Sprintf(format, args...)}
}

// by notes who does not know of it.
func (f Fault) by(silent uint64) Fault {
	f.silent = silent
	return f
}

// namesNobody is the fault of a row that names who does not exist.
func namesNobody(owner, id uint64) Fault {
	return between(Nobody, owner, id, "the row of account %d names %d, but there is no such account", owner, id)
}

// since says when in words.
func since(at uint32) string {
	if at == 0 {
		return "an unknown time"
	}
	return fmt.Sprintf("%d (%s)", at, time.Unix(int64(at), 0).UTC().Format(time.DateTime))
}
