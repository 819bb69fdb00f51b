package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
)

// note is what the columns mean.
const note = `Figures are medians of the rounds, spread is the lowest and the highest round,
p50 and p99 are milliseconds. "kith better by" is turned so that above 1 × kith
is the better one, whichever way the unit counts. Ratios are rounded to the
nearest; whether kith loses or a target is met goes by what they were before.`

// WriteTable writes the run as Markdown: what it ran on, a table for each work with a row for
// each peer of each case, and the targets.
func (r Run) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s\n\n%s\n", strings.Join(r.about(), "\n- "), note)
	groups := r.groups()
	for len(groups) > 0 {
		work := groups[0][0].Work
		t := table{{"case", "peer", "median", "p50", "p99", "spread", "kith better by", ""}}
		for ; len(groups) > 0 && groups[0][0].Work == work; groups = groups[1:] {
			t = append(t, groups[0].rows()...)
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s", work, t.markdown(2, 7))
	}
	if len(r.Targets) > 0 {
		t := table{{"target", "work", "case", "wanted", "got", ""}}
		for _, target := range r.Targets {
			t = append(t, target.row())
		}
		fmt.Fprintf(&b, "\n### targets\n\n%s", t.markdown(3, 5))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// about says what was run, when and on what.
func (r Run) about() []string {
	commit := "commit " + r.Commit
	if r.Dirty {
		commit += " with changes that are not committed"
	}
	m := r.Machine
	about := []string{
		fmt.Sprintf("%s, %s, took %s", commit, r.Started.UTC().Format("2006-01-02 15:04 UTC"), r.Took.Round(time.Second)),
		fmt.Sprintf("%s, %d cores, %s, %s, kernel %s, %s", m.CPU, m.Cores, humanize.IBytesN(uint64(m.MemoryBytes), 3), m.OS, m.Kernel, m.Filesystem),
		fmt.Sprintf("graph: %s; rounds: %d; arguments: %s", r.Graph, r.Rounds, strings.Join(r.Args, " ")),
	}
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		versions = append(versions, name+" "+r.Versions[name])
	}
	about = append(about, strings.Join(versions, ", "))
	if r.Short {
		about = append(about, "A SHORT RUN: its figures show that everything works, and nothing else.")
	}
	return about
}

// rows has a row for each line. Only the first names the case.
func (g group) rows() (rows table) {
	name := g[0].Case
	for _, l := range g {
		p50, p99 := l.Quantiles()
		row := []string{name, l.Peer, number(l.Median()) + " " + l.Unit, orNone(p50), orNone(p99), none, "", ""}
		if s := l.Samples(); len(s) > 1 {
			row[5] = number(slices.Min(s)) + "–" + number(slices.Max(s))
		}
		var remarks []string
		if ratio, ok := g.ratio(l); ok {
			row[6] = times(ratio)
			if ratio < 1 && !ours(l.Peer) {
				remarks = append(remarks, "**kith loses**")
			}
		} else if l.Peer != Kith {
			row[6] = none
		}
		if n := l.Failed(); n > 0 {
			remarks = append(remarks, number(float64(n))+" failed")
		}
		row[7] = strings.Join(remarks, ", ")
		rows, name = append(rows, row), ""
	}
	return rows
}

func (t TargetResult) row() []string {
	row := []string{t.Text, t.Work, t.Case, times(t.AtLeast), times(t.Ratio), "met"}
	switch {
	case !t.Measured:
		row[4], row[5] = none, "not measured"
	case !t.Met:
		row[5] = fmt.Sprintf("**missed** by %.1f %%", 100*(1-t.Ratio/t.AtLeast))
	}
	return row
}

// Row is a row of the summary: a case of a work, and its words.
type Row struct{ Text, Work, Case string }

// Column is a peer of the summary, and its words.
type Column struct{ Text, Peer string }

// Summary returns the table for a README, as Markdown: for each case and peer the median and
// how many times better kith is, in bold where kith loses.
func (r Run) Summary(columns []Column, rows []Row) string {
	b := "| |"
	for _, c := range columns {
		b += " " + c.Text + " |"
	}
	b += "\n| --- |" + strings.Repeat(" ---: |", len(columns)) + "\n"
	for _, row := range rows {
		b += "| " + row.Text + " |"
		for _, c := range columns {
			b += " " + compared(r.line(row.Work, row.Case, Kith), r.line(row.Work, row.Case, c.Peer)) + " |"
		}
		b += "\n"
	}
	return b
}

// compared is the median of a line, with the unit if it is a time, and how kith compares.
func compared(mine, l Line) string {
	if len(l.Samples()) == 0 {
		return none
	}
	text := number(l.Median())
	if l.Unit == "ms" {
		text += " ms"
	}
	ratio, ok := Ratio(mine, l)
	switch {
	case !ok, ours(l.Peer):
		return text
	case ratio < 1:
		return fmt.Sprintf("%s (**%s**)", text, times(ratio))
	default:
		return fmt.Sprintf("%s (%s)", text, times(ratio))
	}
}

// table is rows of as many cells, of which the first has the names of the columns.
type table [][]string

// markdown writes the table with columns of even width. Those from the index first to
// before end are shown on the right.
func (t table) markdown(first, end int) string {
	rule := slices.Repeat([]string{"---"}, len(t[0]))
	for i := first; i < end; i++ {
		rule[i] = "---:"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	for _, row := range slices.Insert(slices.Clone(t), 1, rule) {
		fmt.Fprintln(w, "| "+strings.Join(row, "\t| ")+"\t|")
	}
	w.Flush()
	return b.String()
}

// none stands where there is nothing to show.
const none = "–"

func orNone(v float64) string {
	if v == 0 {
		return none
	}
	return number(v)
}

// number shows three digits at least, and separates thousands: 0.042, 0.420, 4.20, 4,200.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || a == 0:
		return humanize.FormatFloat("#,###.", v)
	case a >= 10:
		return humanize.FormatFloat("#,###.#", v)
	case a >= 1:
		return humanize.FormatFloat("#,###.##", v)
	case a >= 0.1:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// times is a ratio, rounded to three digits.
func times(ratio float64) string {
	if ratio <= 0 {
		return "0 ×"
	}
	digits := math.Pow(10, 2-math.Floor(math.Log10(ratio)))
	return number(math.Round(ratio*digits)/digits) + " ×"
}
