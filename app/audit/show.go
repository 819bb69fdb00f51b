package audit

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"kith/repo/list"
	"kith/repo/relation"
)

// Show writes what stands in an account's row and archive, all as of one moment,
// for a person to read: the columns, every section with ids and times, the
// options, the archive segments by their headers. What cannot be read it says.
func Show(ctx context.Context, to io.Writer, rows Rows, id uint64) error {
	var text strings.Builder
	err := rows.Examine(ctx, id, false, func(r relation.Stored) error {
		text.Reset()
		showRow(&text, r)
		return nil
	}, func(g relation.Segment) error {
		showSegment(&text, g)
		return nil
	})
	if err != nil {
		return fmt.Errorf("show account %d: %w", id, err)
	}
	w := bufio.NewWriter(to)
	w.WriteString(text.String())
	return w.Flush()
}

func showRow(w *strings.Builder, r relation.Stored) {
	if r.Ver == 0 {
		w.WriteString("row             none\n")
		return
	}
	fmt.Fprintf(w, "row             ver %d, list of %d bytes, updated %s\n", r.Ver, len(r.List), clock(r.UpdatedAt))
	fmt.Fprintf(w, "friends         %d\nfollowers       %d, kept %d\nfollowing       %d, kept %d\n",
		r.Friends, r.Followers, r.KeptFollowers, r.Following, r.KeptFollowing)
	fmt.Fprintf(w, "longest section %d blocks of %d\n", r.Blocks, relation.BlockEntries)
	v, err := list.Parse(r.List)
	if err != nil {
		fmt.Fprintf(w, "the list cannot be read: %v\n", err)
		return
	}
	if err := v.Check(); err != nil {
		fmt.Fprintf(w, "the list is not as it must be: %v\n", err)
	}
	for s := list.Friends; s <= list.Options; s++ {
		showSection(w, v, s)
	}
}

func showSection(w *strings.Builder, v list.View, s list.Section) {
	if v.Len(s) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s, %d\n", s, v.Len(s))
	err := v.Each(s, func(id uint64, mine, theirs uint32) bool {
		switch s {
		case list.Friends:
			fmt.Fprintf(w, "  %-20d follows them %s, they follow %s\n", id, clock(mine), clock(theirs))
		case list.Options:
			fmt.Fprintf(w, "  %-20d %s\n", id, optionOf(v, id))
		default:
			fmt.Fprintf(w, "  %-20d %s\n", id, clock(max(mine, theirs)))
		}
		return true
	})
	if err != nil {
		fmt.Fprintf(w, "  cannot be read on: %v\n", err)
	}
}

func optionOf(v list.View, id uint64) string {
	o, _, err := v.Option(id)
	if err != nil {
		return err.Error()
	}
	var words []string
	for _, f := range []struct {
		set  bool
		word string
	}{
		{o.HideReposts, "hides reposts"}, {o.Notify, "notify"}, {o.HideNotifications, "hides notifications"},
		{o.MuteUntil != 0, "muted until " + clock(o.MuteUntil)}, {len(o.Languages) > 0, "languages " + strings.Join(o.Languages, ",")},
		{o.Note, "a note"},
	} {
		if f.set {
			words = append(words, f.word)
		}
	}
	return strings.Join(words, ", ")
}

func showSegment(w *strings.Builder, g relation.Segment) {
	if !strings.Contains(w.String(), archiveTitle) {
		w.WriteString(archiveTitle)
	}
	if g.Own {
		showOwn(w, g)
		return
	}
	fmt.Fprintf(w, "  %-10s seq %-12d %6d entries, %s %d to %s %d, ver %d, %d bytes", g.Section, g.Seq, g.N,
		clock(g.NewestAt), g.NewestID, clock(g.OldestAt), g.OldestID, g.Ver, len(g.List))
	if !relation.Fits(g) {
		w.WriteString(", WRONG: its list is another than its header says")
	}
	w.WriteString("\n")
}

// showOwn writes the archived entries of what the account did itself.
func showOwn(w *strings.Builder, g relation.Segment) {
	v, err := list.Parse(g.List)
	if err != nil {
		fmt.Fprintf(w, "  what the account did itself cannot be read: %v\n", err)
		return
	}
	for s := list.Friends; s <= list.Options; s++ {
		showSection(w, v, s)
	}
}

const archiveTitle = "\narchive\n"

// clock writes a time as people read it.
func clock(at uint32) string {
	if at == 0 {
		return "unknown"
	}
	return time.Unix(int64(at), 0).UTC().Format(time.DateTime)
}
