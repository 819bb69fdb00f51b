package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
	"kith/cmd/kithbench/work"
)

// targets are what kith is meant to reach.
var targets = []report.Target{
	{Work: "hot", Case: "256 clients", Against: peer.NaiveName, AgainstCase: "64 clients", AtLeast: 200, Text: "a full list, read-swap loops of 64 clients"},
	{Work: "hot", Case: "256 clients", Against: peer.TwoTableName, AtLeast: 4},
	{Work: "contend", Case: "4 processes", AgainstCase: "1 process", AtLeast: 0.5},
	{Work: "spread", Case: "64 clients", Against: peer.TwoTableName, AtLeast: 2},
	{Work: "spread", Case: "256 clients", Against: peer.TwoTableName, AtLeast: 2},
	{Work: "one follow", Case: "1 client", Against: peer.TwoTableName, AtLeast: 1 / 1.2, Text: "at most 1.2 times as long"},
	{Work: "one follow", Case: "1 client", Peer: peer.AloneName, Against: peer.TwoTableName, AtLeast: 1 / 1.2, Text: "the same, cache in the process"},
	{Work: "states of 100", Case: "viewer with 200 edges", Against: peer.RedisName, AtLeast: 2},
	{Work: "states of 100", Case: "viewer with 2000 edges", Against: peer.RedisName, AtLeast: 2},
	{Work: "states of 100", Case: "viewer with 20000 edges", Against: peer.RedisName, AtLeast: 0.7},
	{Work: "states of 100", Case: "viewer with 200 edges", Against: peer.TwoTableName, AtLeast: 15},
	{Work: "states of 100", Case: "viewer with 2000 edges", Against: peer.TwoTableName, AtLeast: 15},
	{Work: "page of 40", Case: "first", Against: peer.TwoTableName, AtLeast: 1.5},
	{Work: "page of 40", Case: "first", Against: peer.RedisName, AtLeast: 1},
	{Work: "page of 40", Case: "200th by key", Against: peer.TwoTableName, AtLeast: 1},
	{Work: "space", Case: "on disk, pages in use, " + work.AsFile, Against: peer.TwoTableName, AtLeast: 12, Text: "pages of the tables"},
	{Work: "space", Case: "on disk, files, " + work.AsFile, Against: peer.TwoTableName, AtLeast: 12, Text: "files of the tables"},
	{Work: "space", Case: "in memory, " + work.AsFile, Against: peer.RedisName, AtLeast: 8},
	{Work: "memory", Case: work.MemoryCase, Against: work.Earlier, AtLeast: 0.95, Text: "flat"},
	{Work: work.Home, Case: "first page, hot, 10 authors", Against: peer.PushName, AtLeast: 2},
	{Work: work.Home, Case: "first page, hot, 100 authors", Against: peer.PushName, AtLeast: 2},
	{Work: work.Home, Case: "first page, hot, 1000 authors", Against: peer.PushName, AtLeast: 2},
	{Work: work.Home, Case: "first page, hot, 10 authors", Against: peer.RedisPushName, AtLeast: 1},
	{Work: work.Home, Case: "first page, hot, 100 authors", Against: peer.RedisPushName, AtLeast: 1},
	{Work: work.Home, Case: "first page, hot, 1000 authors", Against: peer.RedisPushName, AtLeast: 1},
	{Work: work.Home, Case: "first page, cold, 100 authors", Against: peer.PullName, AtLeast: 10},
	{Work: work.Home, Case: "first page, cold, 1000 authors", Against: peer.PullName, AtLeast: 40},
	{Work: work.Home, Case: "first page, cold, 1000 authors", Against: peer.DeferredName, AtLeast: 40, Text: "posts read after ids are sorted"},
	{Work: work.Home, Case: "one post to 10,000 followers", Against: peer.PushName, AtLeast: 3},
	{Work: work.Home, Case: "one post to 10,000 followers", Against: peer.RedisPushName, AtLeast: 1.5},
	{Work: work.Home, Case: "over HTTP, first page, 100 authors", Against: "echo, fixed body", AtLeast: 0.5},
	{Work: work.Home, Case: "on disk", Against: peer.PushName, AtLeast: 10, Text: "pages of the tables"},
	{Work: work.Home, Case: "in memory", Against: peer.RedisPushName, AtLeast: 10},
	{Work: "http", Case: "relationships of 40", Against: "echo, fixed body", AtLeast: 0.6},
	{Work: "http", Case: "followers page", Against: "echo, fixed body", AtLeast: 0.6},
	{Work: "http", Case: "relationships of 40", Peer: peer.AloneName, Against: "echo, fixed body", AtLeast: 0.6, Text: "the same, cache in the process"},
	{Work: "http", Case: "followers page", Peer: peer.AloneName, Against: "echo, fixed body", AtLeast: 0.6, Text: "the same, cache in the process"},
}

// summary is a table in kith's README.
type summary struct {
	columns []report.Column
	rows    []report.Row
}

var graphs = summary{
	columns: []report.Column{
		{Text: "kith", Peer: report.Kith}, {Text: "kith, one process", Peer: peer.AloneName},
		{Text: "two tables", Peer: peer.TwoTableName}, {Text: "packed", Peer: peer.PackedName},
		{Text: "Redis", Peer: peer.RedisName}, {Text: "Redis, synced", Peer: peer.SyncedName},
		{Text: "fixed bytes", Peer: "echo, fixed body"},
	},
	rows: []report.Row{
		{Text: "256 clients follow one account with 10,000 followers", Work: "hot", Case: "256 clients"},
		{Text: "256 clients follow and unfollow all over the graph", Work: "spread", Case: "256 clients"},
		{Text: "64 clients do", Work: "spread", Case: "64 clients"},
		{Text: "one follow, one client", Work: "one follow", Case: "1 client"},
		{Text: "states of 100, viewer with 200 edges", Work: "states of 100", Case: "viewer with 200 edges"},
		{Text: "states of 100, viewer with 2,000 edges", Work: "states of 100", Case: "viewer with 2000 edges"},
		{Text: "states of 100, viewer with 20,000 edges", Work: "states of 100", Case: "viewer with 20000 edges"},
		{Text: "first page of 40 followers", Work: "page of 40", Case: "first"},
		{Text: "200th page, by cursor", Work: "page of 40", Case: "200th by key"},
		{Text: "LinkBench's mix", Work: "mixed", Case: "LinkBench"},
		{Text: "TAO's mix", Work: "mixed", Case: "TAO"},
		{Text: "over HTTP, relationships of 40", Work: "http", Case: "relationships of 40"},
		{Text: "over HTTP, page of 40 followers", Work: "http", Case: "followers page"},
		{Text: "seconds to load the graph", Work: "load", Case: work.AsFile},
		{Text: "on disk, bytes an edge, pages of the tables", Work: "space", Case: "on disk, pages in use, " + work.AsFile},
		{Text: "on disk, bytes an edge, files", Work: "space", Case: "on disk, files, " + work.AsFile},
		{Text: "in memory, bytes an edge, as the cache counts", Work: "space", Case: "in memory, " + work.AsFile},
		{Text: "in memory, bytes an edge, the whole cache server", Work: "space", Case: "resident, " + work.AsFile},
	},
}

var homes = summary{
	columns: []report.Column{
		{Text: "kith", Peer: report.Kith}, {Text: "SQL push", Peer: peer.PushName}, {Text: "Redis push", Peer: peer.RedisPushName},
		{Text: "SQL pull", Peer: peer.PullName}, {Text: "SQL pull, ids first", Peer: peer.DeferredName}, {Text: "fixed bytes", Peer: "echo, fixed body"},
	},
	rows: []report.Row{
		{Text: "first page, hot, who follows 10", Work: work.Home, Case: "first page, hot, 10 authors"},
		{Text: "first page, hot, who follows 100", Work: work.Home, Case: "first page, hot, 100 authors"},
		{Text: "first page, hot, who follows 1,000", Work: work.Home, Case: "first page, hot, 1000 authors"},
		{Text: "first page, cold, who follows 100", Work: work.Home, Case: "first page, cold, 100 authors"},
		{Text: "first page, cold, who follows 1,000", Work: work.Home, Case: "first page, cold, 1000 authors"},
		{Text: "one post to 10,000 followers", Work: work.Home, Case: "one post to 10,000 followers"},
		{Text: "1 post to 100 reads", Work: work.Home, Case: "1 post to 100 reads"},
		{Text: "over HTTP, first page, who follows 100", Work: work.Home, Case: "over HTTP, first page, 100 authors"},
		{Text: "on disk, bytes an entry of a home", Work: work.Home, Case: "on disk"},
		{Text: "in memory, bytes an entry of a home", Work: work.Home, Case: "in memory"},
	},
}

func (s summary) of(run report.Run) string { return run.Summary(s.columns, s.rows) }

// head is the line that the table begins with.
func (s summary) head() string {
	head, _, _ := strings.Cut(s.of(report.Run{}), "\n")
	return head + "\n"
}

// in reports whether the run has what the table shows first.
func (s summary) in(run report.Run) bool {
	return slices.ContainsFunc(run.Lines, func(l report.Line) bool { return l.Work == s.rows[0].Work })
}

// updateReadme replaces the tables in a README of what was run. One that it lacks is left out.
func updateReadme(run report.Run, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page, found := string(text), false
	for _, s := range []summary{graphs, homes} {
		before, rest, there := strings.Cut(page, s.head())
		if !there || !s.in(run) {
			continue
		}
		_, after, _ := strings.Cut(rest, "\n\n")
		page, found = before+s.of(run)+"\n"+after, true
	}
	if !found {
		return fmt.Errorf("%s has no table that begins with %s", path, graphs.head())
	}
	return replace(path, []byte(page))
}

// commit returns the commit that was measured; empty outside a git checkout.
func commit(ctx context.Context) (hash string, dirty bool) {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "", false
	}
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no").Output()
	return strings.TrimSpace(string(out)), err != nil || len(changes) > 0
}

// write writes the JSON, the table and the plot into a folder. A run that compares nothing
// with kith has no plot: that of another run is removed.
func write(run report.Run, dir string) error {
	var json, table, plot bytes.Buffer
	err := errors.Join(run.WriteJSON(&json), run.WriteTable(&table), run.WritePlot(&plot))
	err = errors.Join(err, replace(filepath.Join(dir, "run.json"), json.Bytes()), replace(filepath.Join(dir, "table.md"), table.Bytes()))
	if plot.Len() > 0 {
		return errors.Join(err, replace(filepath.Join(dir, "plot.svg"), plot.Bytes()))
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(dir, "plot.svg")))
}

// replace writes a whole file, or leaves the one that is there.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".kithbench-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // finds nothing after the rename
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
