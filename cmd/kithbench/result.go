package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"kith/cmd/kithbench/report"
)

// wanted are the targets whose work was run.
func wanted(lines []report.Line) (all []report.Target) {
	for _, t := range targets {
		if slices.ContainsFunc(lines, func(l report.Line) bool { return l.Work == t.Work }) {
			all = append(all, t)
		}
	}
	return all
}

// shownArgs leaves out where files are: results are for other machines.
func shownArgs(args []string) (shown []string) {
	for _, a := range args {
		if name, value, ok := strings.Cut(a, "="); ok && strings.Contains(value, "/") {
			a = name + "=" + filepath.Base(value)
		} else if strings.Contains(a, "/") {
			a = filepath.Base(a)
		}
		shown = append(shown, a)
	}
	return shown
}

// repository is the folder of the module kith, at or above this one.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module kith\n") {
			return dir, nil
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
			continue
		}
		return "", errors.New("kithbench builds kith, so run it inside the repository")
	}
}

// commit names what was measured; empty outside a git checkout.
func commit(ctx context.Context) (hash string, dirty bool) {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "", false
	}
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no").Output()
	return strings.TrimSpace(string(out)), err != nil || len(changes) > 0
}

// write puts the JSON, the table and the plot into a folder, what cannot be had
// again first. A run without anything to compare kith with has no plot: that of
// another run is removed.
func write(run report.Run, dir string) error {
	var errs []error
	for _, f := range []struct {
		name string
		to   func(io.Writer) error
	}{
		{"run.json", run.WriteJSON}, {"table.txt", run.WriteTable}, {"table.md", run.WriteMarkdown}, {"short.md", func(w io.Writer) error { return writeShort(run, w) }}, {"plot.svg", run.WritePlot},
	} {
		err := writeFile(filepath.Join(dir, f.name), f.to)
		if errors.Is(err, report.ErrNothing) {
			say("%s: %v", f.name, err)
			if err = os.Remove(filepath.Join(dir, f.name)); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("write %s: %w", f.name, err))
		}
	}
	return errors.Join(errs...)
}

// writeFile puts a whole file in the place of what was there, or leaves that.
func writeFile(path string, to func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".kithbench-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // finds nothing after the rename
	if err := errors.Join(to(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
