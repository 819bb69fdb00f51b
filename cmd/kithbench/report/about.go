package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// about is what was run, when and on what, a sentence each.
func (r Run) about() []string {
	commit := "commit " + r.Commit
	if r.Dirty {
		commit += " with changes that are not committed"
	}
	about := []string{
		fmt.Sprintf("%s, %s, took %s", commit, r.Started.UTC().Format("2006-01-02 15:04 UTC"), r.Took.Round(time.Second)),
		r.Machine.String(),
		fmt.Sprintf("graph: %s; rounds: %d; arguments: %s", r.Graph, r.Rounds, strings.Join(r.Args, " ")),
	}
	if len(r.Versions) > 0 {
		about = append(about, r.versions())
	}
	if r.Short {
		about = append(about, "A SHORT RUN: its figures show that everything works, and nothing else.")
	}
	return about
}

func (r Run) versions() string {
	var vs []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		vs = append(vs, name+" "+r.Versions[name])
	}
	return strings.Join(vs, ", ")
}

// String is the machine on one line.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s, %s, kernel %s, %s",
		m.CPU, m.Cores, humanize.IBytesN(uint64(m.MemoryBytes), 3), m.OS, m.Kernel, m.Filesystem)
}
