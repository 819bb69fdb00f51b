package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// note is what the columns mean.
const note = `Figures are medians of the rounds, spread is the lowest and the highest round,
p50 and p99 are milliseconds. "kith better by" is turned so that above 1 × kith
is the better one, whichever way the unit counts. Ratios are rounded to the
nearest; whether kith loses or a target is met goes by what they were before.`

// WriteTable writes the run for people: what it ran on, a table for each work
// with a row for each peer of each case, and what became of the targets.
func (r Run) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", strings.Join(r.about(), "\n"), note)
	for _, s := range r.sections(marks{"KITH LOSES", "MISSED by"}) {
		fmt.Fprintf(&b, "\n%s\n%s\n", s.title, s.rows.Render())
	}
	return write(w, b.String())
}

// WriteMarkdown writes what WriteTable writes, as Markdown.
func (r Run) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s\n\n%s\n", strings.Join(r.about(), "\n- "), note)
	for _, s := range r.sections(marks{"**kith loses**", "**missed** by"}) {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", s.title, s.rows.RenderMarkdown())
	}
	return write(w, b.String())
}

func write(w io.Writer, s string) error {
	if _, err := io.WriteString(w, s); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// marks are the words that must not be overlooked.
type marks struct{ loses, missed string }

// section is a table and what stands over it.
type section struct {
	title string
	rows  table.Writer
}

// sections are one for each work, and the targets.
func (r Run) sections(m marks) []section {
	var ss []section
	for _, g := range groups(r.Lines) {
		if len(ss) == 0 || ss[len(ss)-1].title != g.work {
			ss = append(ss, section{g.work, newWork()})
		}
		g.appendTo(ss[len(ss)-1].rows, m)
	}
	if len(r.Targets) > 0 {
		ss = append(ss, section{"targets", targetTable(r.Targets, m)})
	}
	return ss
}

// newTable is an empty table whose columns with these numbers, from 1, are set
// to the right.
func newTable(header table.Row, right ...int) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	var columns []table.ColumnConfig
	for _, n := range right {
		columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	return t
}

func newWork() table.Writer {
	return newTable(table.Row{"case", "peer", "median", "p50", "p99", "spread", "kith better by", ""}, 3, 4, 5, 6, 7)
}

// appendTo adds a row for each line. Only the first names the case.
func (g group) appendTo(t table.Writer, m marks) {
	name := g.kase
	for _, l := range g.lines {
		ratio, ok := g.ratio(l)
		t.AppendRow(table.Row{name, l.Peer, withUnit(l.Median(), l.Unit), millis(l.P50()), millis(l.P99()),
			spread(l), ratioText(l, ratio, ok), remark(l, ok && ratio < 1 && !own(l.Peer), m)})
		name = ""
	}
	t.AppendSeparator()
}

func ratioText(l Line, ratio float64, ok bool) string {
	switch {
	case ok:
		return times(ratio)
	case l.Peer == Kith:
		return ""
	}
	return none
}

// own says that a peer is kith in another form, to which kith cannot lose.
func own(peer string) bool { return strings.HasPrefix(peer, Kith) }

// remark is what a reader must know of a line.
func remark(l Line, loses bool, m marks) string {
	var words []string
	if loses {
		words = append(words, m.loses)
	}
	if n := l.Failed(); n > 0 {
		words = append(words, number(float64(n))+" failed")
	}
	return strings.Join(words, ", ")
}

func targetTable(results []TargetResult, m marks) table.Writer {
	t := newTable(table.Row{"target", "work", "case", "wanted", "got", ""}, 4, 5)
	for _, r := range results {
		got := none
		if r.Measured {
			got = times(r.Ratio)
		}
		t.AppendRow(table.Row{r.Text, r.Work, r.Case, times(r.AtLeast), got, outcome(r, m)})
	}
	return t
}

func outcome(r TargetResult, m marks) string {
	switch {
	case r.Met:
		return "met"
	case !r.Measured:
		return "not measured"
	}
	return fmt.Sprintf("%s %.1f %%", m.missed, 100*r.MissedBy())
}
