package audit

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"kith/repo/list"
	"kith/repo/relation"
)

// Show writes an account's row and archive for a person to read, as of one moment: the
// columns, every section with ids and times, the options, and the headers of the archive
// segments. It says what cannot be read.
func Show(ctx context.Context, to io.Writer, rows *relation.Store, id uint64) error {
	var w strings.Builder
	archived := false
	err := rows.Examine(ctx, id, false, func(r relation.Row) error {
		w.Reset()
		archived = false
		showRow(&w, r)
		return nil
	}, func(g relation.Segment) error {
		if !archived {
			w.WriteString("\narchive\n")
		}
		archived = true
		showSegment(&w, g)
		return nil
	})
	if err != nil {
		return fmt.Errorf("show account %d: %w", id, err)
	}
	_, err = io.WriteString(to, w.String())
	return err
}

func showRow(w *strings.Builder, r relation.Row) {
	if r.Ver == 0 {
		w.WriteString("row             none\n")
		return
	}
	fmt.Fprintf(w, "row             ver %d, list of %d bytes, updated %s\n", r.Ver, len(r.List), clock(r.UpdatedAt))
	fmt.Fprintf(w, "friends         %d\nfollowers       %d, kept %d\nfollowing       %d, kept %d\n",
		r.Friends, r.Followers, r.KeptFollowers, r.Following, r.KeptFollowing)
	fmt.Fprintf(w, "longest section %d blocks of %d\n", r.Blocks, relation.BlockEntries)
	showList(w, "list", r.List)
}

func showList(w *strings.Builder, what string, b []byte) {
	v, err := list.Parse(b)
	if err != nil {
		fmt.Fprintf(w, "the %s cannot be read: %v\n", what, err)
		return
	}
	if err := v.Check(); err != nil {
		fmt.Fprintf(w, "the %s is not as it must be: %v\n", what, err)
	}
	for s := list.Friends; s <= list.Options; s++ {
		if v.Len(s) > 0 {
			fmt.Fprintf(w, "\n%s, %d\n", s, v.Len(s))
		}
		err := v.Each(s, func(id uint64, mine, theirs uint32) bool {
			text := clock(max(mine, theirs))
			switch s {
			case list.Friends:
				text = "follows them " + clock(mine) + ", they follow " + clock(theirs)
			case list.Options:
				text = optionOf(v, id)
			}
			fmt.Fprintf(w, "  %-20d %s\n", id, text)
			return true
		})
		if err != nil {
			fmt.Fprintf(w, "  cannot be read on: %v\n", err)
		}
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
	if g.Own {
		showList(w, "list of what the account did itself", g.List)
		return
	}
	fmt.Fprintf(w, "  %-10s seq %-12d %6d entries, %s %d to %s %d, ver %d, %d bytes", g.Section, g.Seq, g.N,
		clock(g.NewestAt), g.NewestID, clock(g.OldestAt), g.OldestID, g.Ver, len(g.List))
	if !relation.Fits(g) {
		w.WriteString(", WRONG: its list is another than its header says")
	}
	w.WriteString("\n")
}

// clock writes a time as people read it.
func clock(at uint32) string {
	if at == 0 {
		return "unknown"
	}
	return time.Unix(int64(at), 0).UTC().Format(time.DateTime)
}
