package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kith/cmd/kithbench/feed"
	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
	"kith/cmd/kithbench/server"
	"kith/cmd/kithbench/work"
	"kith/repo/accepttest"
)

// runCmd measures.
type runCmd struct {
	Short  bool          `help:"A small graph, or the beginning of --graph, and short spans: two minutes in all. It shows that everything works and that answers agree; its figures mean nothing."`
	Graph  string        `help:"A file of 'follower followee' lines, gzip or plain. Without it, ego-twitter.txt.gz where make accept finds its data, else a graph of the same kind that is made here." type:"existingfile"`
	Rounds int           `help:"How often each peer has its turn." default:"5"`
	Span   time.Duration `help:"How long each turn is." default:"1s"`
	Memory time.Duration `help:"How long the memory of the server is measured under load." default:"5m"`
	Works  []string      `help:"Only these, comma separated: ${works}." placeholder:"WORK"`
	Peers  []string      `help:"Only these, comma separated: ${peers}." placeholder:"PEER"`
	Out    string        `help:"Where the table, the JSON and the plot go; nothing is written without it." type:"path"`
	Readme string        `help:"A file whose tables of a run are replaced by those of this one: a whole one, or one of --works=home, which has a table of its own." type:"existingfile"`
}

const (
	// made is how many follows the graph has that is made where there is no file,
	// and short the same for a short run.
	made  = 1_700_000
	short = 60_000
	// There are enough ids for the accounts that works make in so many rounds, and in so
	// long a span.
	mostRounds = 100
	mostSpan   = 10 * time.Second
)

// peerNames are those of all peers, of graphs and of homes.
var peerNames = append(slices.Clone(peer.Names), peer.HomeNames[1:]...)

func workNames() (names []string) {
	for _, w := range work.Works {
		names = append(names, w.Name)
	}
	return names
}

// Run measures and reports.
func (c *runCmd) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	say("reading the graph")
	g, err := c.readGraph(ctx)
	if err != nil {
		return err
	}
	r := &runner{cmd: c, started: time.Now(), file: g}
	r.bench = work.Bench{Rounds: c.Rounds, Span: c.Span, Memory: c.Memory, World: feed.Full, Wanted: c.hasPeer, Progress: r.progress}
	if c.Short {
		r.bench.World = feed.Small
	}
	defer r.close()
	return r.run(ctx)
}

// check refuses wrong flags before anything starts. It leaves out works without a peer, if no
// work is named.
func (c *runCmd) check() error {
	for _, named := range []struct {
		kind      string
		some, all []string
	}{{"work", c.Works, workNames()}, {"peer", c.Peers, peerNames}} {
		for _, s := range named.some {
			if !slices.Contains(named.all, s) {
				return fmt.Errorf("there is no %s %q, only %v", named.kind, s, named.all)
			}
		}
	}
	if c.Rounds < 1 || c.Rounds > mostRounds || c.Span <= 0 || c.Span > mostSpan || c.Memory <= 0 {
		return fmt.Errorf("--rounds must be from 1 to %d, --span above 0 and up to %v, and --memory above 0", mostRounds, mostSpan)
	}
	if c.Short {
		c.Rounds, c.Span, c.Memory = min(c.Rounds, 2), min(c.Span, 250*time.Millisecond), min(c.Memory, 4*time.Second)
	}
	if c.Readme != "" && (c.Short || len(c.Peers) > 0 || len(c.Works) > 0 && !slices.Equal(c.Works, []string{work.Home})) {
		return errors.New("--readme needs a whole run, since it replaces whole tables: leave out --short and --peers, and --works unless it is home")
	}
	all := len(c.Works) == 0
	for _, w := range work.Works {
		switch there := slices.ContainsFunc(w.Peers, c.hasPeer); {
		case all && there:
			c.Works = append(c.Works, w.Name)
		case all:
			say("left out: %s, which needs one of the peers %v", w.Name, w.Peers)
		case !there && c.wants(w.Name):
			return fmt.Errorf("the work %s needs one of the peers %v", w.Name, w.Peers)
		}
	}
	if c.Out == "" {
		return nil
	}
	if err := errors.Join(os.MkdirAll(c.Out, 0o755), replace(filepath.Join(c.Out, "try"), nil), os.Remove(filepath.Join(c.Out, "try"))); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

func (c *runCmd) wants(work string) bool { return slices.Contains(c.Works, work) }

// hasPeer reports whether a peer is measured: all are, if none is named.
func (c *runCmd) hasPeer(name string) bool {
	return len(c.Peers) == 0 || slices.Contains(c.Peers, name)
}

// readGraph reads the file or makes a graph.
func (c *runCmd) readGraph(ctx context.Context) (g *graph.Graph, err error) {
	path, follows := c.Graph, made
	if c.Short {
		follows = short
	} else if root, err := work.Repository(ctx); err == nil && path == "" {
		path = accepttest.Path(root, "ego-twitter.txt.gz")
		if _, err := os.Stat(path); err != nil {
			say("no real graph is there: one of the same kind is made")
			path = ""
		}
	}
	if path == "" {
		g = graph.Make(follows, 1)
	} else if g, err = graph.Read(path); err != nil {
		return nil, err
	}
	if c.Short {
		g.Cut(short)
	}
	return g, g.Check()
}

// runner is one run.
type runner struct {
	cmd     *runCmd
	started time.Time
	file    *graph.Graph // as it was read
	bench   work.Bench
}

func (r *runner) run(ctx context.Context) error {
	b := &r.bench
	if r.cmd.wants("space") {
		if err := r.bareSpace(ctx); err != nil {
			return err
		}
	}
	var err error
	if b.Servers, err = server.StartAll(ctx); err != nil {
		return err
	}
	b.Graph = r.file.Complete(work.Stars(b.Rounds))
	if slices.ContainsFunc(r.cmd.Works, func(name string) bool { return name != work.Home }) {
		if err := r.loadGraph(ctx); err != nil {
			return err
		}
	}
	for _, w := range work.Works {
		if !r.cmd.wants(w.Name) {
			continue
		}
		if err := w.Run(ctx, b); err != nil {
			return err
		}
	}
	return r.report(ctx)
}

// loadGraph loads the graph into its peers, and checks that they agree.
func (r *runner) loadGraph(ctx context.Context) error {
	b := &r.bench
	if err := r.open(ctx, b.Servers, append(slices.Clone(peer.Names), peer.FreshName)); err != nil {
		return err
	}
	if err := r.load(ctx, b.Graph, work.WithTimes); err != nil {
		return err
	}
	say("asking all %d peers %d questions", len(b.Peers), work.Questions)
	if err := b.Check(ctx); err != nil {
		return fmt.Errorf("peers do not agree: %w", err)
	}
	return nil
}

// bareSpace measures the graph as it was read, on servers of its own.
func (r *runner) bareSpace(ctx context.Context) error {
	s, err := server.StartAll(ctx)
	if err != nil {
		return err
	}
	defer s.Stop()
	defer r.closePeers()
	if err := r.open(ctx, s, []string{peer.KithName, peer.TwoTableName, peer.RedisName, peer.SyncedName}); err != nil {
		return err
	}
	if err := r.load(ctx, r.file, work.AsFile); err != nil {
		return err
	}
	return r.bench.Space(ctx, r.bench.Peers, work.AsFile, len(r.file.Edges))
}

// open opens peers, if they are wanted.
func (r *runner) open(ctx context.Context, s *server.Servers, names []string) error {
	for _, name := range names {
		if !r.cmd.hasPeer(name) && !(name == peer.FreshName && r.cmd.hasPeer(peer.KithName)) {
			continue
		}
		p, err := peer.Open(ctx, s, name)
		if err != nil {
			return fmt.Errorf("open %s: %w", name, err)
		}
		r.bench.Peers = append(r.bench.Peers, p)
	}
	return nil
}

func (r *runner) load(ctx context.Context, g *graph.Graph, name string) error {
	for _, p := range r.bench.Peers {
		if p.Name() == peer.FreshName {
			continue // it is on the data of kith
		}
		start := time.Now()
		if err := p.Load(ctx, g); err != nil {
			return fmt.Errorf("load %s: %w", p.Name(), err)
		}
		took := time.Since(start)
		r.bench.Weighed("load", name, "s", p.Name(), took.Seconds())
		say("%-14s loaded %d follows in %v", p.Name(), len(g.Edges), took.Round(10*time.Millisecond))
	}
	return nil
}

// progress says what is measured now, and how long the run has taken so far.
func (r *runner) progress(work, name, peer string, round int) {
	say("%5s  %-14s %-26s %-14s round %d of %d", time.Since(r.started).Round(time.Second), work, name, peer, round+1, r.cmd.Rounds)
}

// say writes a line for whoever waits.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (r *runner) close() {
	r.bench.Close()
	r.closePeers()
	if r.bench.Servers != nil {
		if err := r.bench.Servers.Stop(); err != nil {
			say("stop the servers: %v", err)
		}
	}
}

func (r *runner) closePeers() {
	for _, p := range r.bench.Peers {
		if err := p.Close(); err != nil {
			say("close %s: %v", p.Name(), err)
		}
	}
	r.bench.Peers = nil
}

// report writes the files and shows the table.
func (r *runner) report(ctx context.Context) error {
	b := &r.bench
	run := report.Run{Started: r.started, Took: time.Since(r.started), Machine: report.ReadMachine(b.Servers.Dir), Versions: b.Servers.Versions,
		Graph:  fmt.Sprintf("%s, %d follows, and %d of accounts made for the works", r.file.Name, len(r.file.Edges), len(b.Graph.Edges)-len(r.file.Edges)),
		Rounds: b.Rounds, Short: r.cmd.Short, Args: shownArgs(os.Args[1:]), Lines: b.Lines}
	run.Compare(targets)
	run.Commit, run.Dirty = commit(ctx)
	var errs []error
	if r.cmd.Out != "" {
		errs = append(errs, write(run, r.cmd.Out))
	}
	if r.cmd.Readme != "" {
		errs = append(errs, updateReadme(run, r.cmd.Readme))
	}
	return errors.Join(append(errs, run.WriteTable(os.Stdout))...)
}

// shownArgs leaves out the folders of files, which other machines do not have.
func shownArgs(args []string) (shown []string) {
	for _, a := range args {
		value := strings.Index(a, "=") + 1
		shown = append(shown, a[:value]+filepath.Base(a[value:]))
	}
	return shown
}
