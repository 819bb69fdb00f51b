package report

import (
	"fmt"
	"io"
	"strings"
)

// Shown is a row of the short table: a case of a work, in words for people who
// have not read what the works are.
type Shown struct{ Text, Work, Case string }

// Column is a peer of the short table, and its words.
type Column struct{ Text, Peer string }

// WriteShort writes the table that a README shows, as Markdown: a row for each
// case, and for each peer its median and how many times better kith is, in bold
// where kith loses.
func (r Run) WriteShort(w io.Writer, columns []Column, rows []Shown) error {
	var b strings.Builder
	b.WriteString("| |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.Text)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(columns)) + "\n")
	for _, row := range rows {
		ours, _ := find(r.Lines, row.Work, row.Case, Kith)
		fmt.Fprintf(&b, "| %s |", row.Text)
		for _, c := range columns {
			line, ok := find(r.Lines, row.Work, row.Case, c.Peer)
			if !ok {
				fmt.Fprintf(&b, " %s |", none)
				continue
			}
			fmt.Fprintf(&b, " %s |", shown(ours, line))
		}
		b.WriteByte('\n')
	}
	return write(w, b.String())
}

// shown is the median of a line, with its unit only where it is a time, and how
// it compares.
func shown(ours, l Line) string {
	text := number(l.Median())
	if l.Unit == "ms" {
		text += " ms"
	}
	ratio, ok := Ratio(ours, l)
	switch {
	case !ok, own(l.Peer):
		return text
	case ratio < 1:
		return fmt.Sprintf("%s (**%s**)", text, times(ratio))
	default:
		return fmt.Sprintf("%s (%s)", text, times(ratio))
	}
}
