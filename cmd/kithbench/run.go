package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"time"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
	"kith/cmd/kithbench/server"
	"kith/cmd/kithbench/work"
	"kith/repo/accepttest"
)

// runCmd measures.
type runCmd struct {
	Short   bool          `help:"A small graph, or the beginning of --graph, and short spans, two minutes in all: shows that everything works and answers agree, its figures are worth nothing."`
	Graph   string        `help:"A file of 'follower followee' lines, gzip or plain. Without it, ego-twitter.txt.gz where make accept finds its data, else a graph of the same kind that is made here." type:"existingfile"`
	Rounds  int           `help:"How often each peer has its turn." default:"5"`
	Span    time.Duration `help:"How long each turn is." default:"1s"`
	Memory  time.Duration `help:"How long the server is weighed under load." default:"5m"`
	Works   []string      `help:"Only these, comma separated: ${works}." placeholder:"WORK"`
	Peers   []string      `help:"Only these, comma separated: ${peers}." placeholder:"PEER"`
	Profile string        `help:"A file for the processor profile of what is timed." type:"path"`
	Out     string        `help:"Where the table, the JSON and the plot go; nothing is written without it." type:"path"`
}

// The graphs that are loaded: as it was read, and with the accounts that works
// need and a time for each follow.
const (
	asFile   = "as the file is"
	withTime = "each follow at a time of its own"
)

// names of the works, in the order in which they run.
var works = []string{"space", "hot", "spread", "one", "states", "page", "mixed", "contend", "http", "memory"}

// made is how many follows the graph has that is made where there is no file,
// and short the same for a short run.
const (
	made  = 1_700_000
	short = 60_000
)

// Run measures and reports.
func (c *runCmd) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	r := &runner{cmd: c, started: time.Now()}
	if err := r.readGraph(); err != nil {
		return err
	}
	var err error
	if r.dir, err = os.MkdirTemp("", "kithbench-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.dir)
	err = r.run(ctx)
	return errors.Join(err, r.close())
}

// wants says whether a work is run: all are where none is named.
func (c *runCmd) wants(work string) bool { return len(c.Works) == 0 || slices.Contains(c.Works, work) }

func (c *runCmd) peers() []string {
	if len(c.Peers) == 0 {
		return peer.Names
	}
	return c.Peers
}

// runner is one run.
type runner struct {
	cmd     *runCmd
	dir     string
	started time.Time
	servers *server.Servers
	bench   work.Bench
	program string // kith, once it is built
	site    *site
	plain   *graph.Graph // as the file is
}

func (r *runner) run(ctx context.Context) error {
	r.bench = work.Bench{Rounds: r.cmd.Rounds, Span: r.cmd.Span, Progress: r.progress}
	if r.cmd.wants("space") {
		if err := r.bareSpace(ctx); err != nil {
			return err
		}
	}
	if err := r.open(ctx); err != nil {
		return err
	}
	say("asking all %d peers %d questions", len(r.bench.Peers)+len(r.bench.Variants), work.Questions)
	if err := r.bench.Check(ctx); err != nil {
		return fmt.Errorf("peers do not agree: %w", err)
	}
	if err := r.profiled(ctx, r.measure); err != nil {
		return err
	}
	return r.report(ctx)
}

// profiled runs what is timed under a profile, where one is wanted.
func (r *runner) profiled(ctx context.Context, measure func(context.Context) error) error {
	if r.cmd.Profile == "" {
		return measure(ctx)
	}
	f, err := os.Create(r.cmd.Profile)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return errors.Join(err, f.Close())
	}
	err = measure(ctx)
	pprof.StopCPUProfile()
	return errors.Join(err, f.Close())
}

// readGraph reads the file or makes a graph.
func (r *runner) readGraph() (err error) {
	say("reading the graph")
	path := r.cmd.Graph
	if path == "" && !r.cmd.Short {
		path = realGraph()
	}
	switch {
	case path != "":
		if r.plain, err = graph.Read(path, filepath.Base(path)); err != nil {
			return err
		}
	case r.cmd.Short:
		r.plain = graph.Make(short, 1)
	default:
		say("no real graph is there: one of the same kind is made")
		r.plain = graph.Make(made, 1)
	}
	if r.cmd.Short {
		r.plain.Cut(short)
	}
	return r.plain.Check()
}

// realGraph is the file of the Twitter graph; empty where it is not.
func realGraph() string {
	root, err := repository()
	if err != nil {
		return ""
	}
	path := accepttest.Path(root, "ego-twitter.txt.gz")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// full is the graph with the accounts that works need, and a time for each follow.
func (r *runner) full() *graph.Graph {
	g := &graph.Graph{Name: r.plain.Name, Edges: slices.Clone(r.plain.Edges), Own: r.plain.Own}
	g.AddStars(work.Stars(r.cmd.Rounds))
	g.AddLong()
	g.AddViewers(work.ViewerSizes...)
	g.Date(1)
	return g
}

// bareSpace measures the graph as the file has it, on servers of its own.
func (r *runner) bareSpace(ctx context.Context) error {
	s, err := server.Start(ctx, filepath.Join(r.dir, "bare"))
	if err != nil {
		return err
	}
	defer s.Stop()
	names := slices.DeleteFunc([]string{peer.KithName, peer.TwoTableName, peer.RedisName, peer.SyncedName},
		func(name string) bool { return !slices.Contains(r.cmd.peers(), name) })
	peers, err := openPeers(ctx, s, names...)
	if err != nil {
		return err
	}
	defer closePeers(peers)
	if err := r.load(ctx, peers, r.plain, asFile); err != nil {
		return err
	}
	return r.bench.Space(ctx, peers, asFile, len(r.plain.Edges), residentOf(s))
}

// open starts the servers and loads every peer.
func (r *runner) open(ctx context.Context) (err error) {
	if r.servers, err = server.Start(ctx, filepath.Join(r.dir, "servers")); err != nil {
		return err
	}
	r.bench.Graph = r.full()
	r.bench.Prepare()
	r.bench.Peers, err = openPeers(ctx, r.servers, r.cmd.peers()...)
	if err != nil {
		return err
	}
	if r.cmd.wants("mixed") && r.bench.Peer(peer.KithName) != nil {
		fresh, err := openFresh(ctx, r.servers)
		if err != nil {
			return fmt.Errorf("open %s: %w", peer.FreshName, err)
		}
		r.bench.Variants = []peer.Peer{fresh}
	}
	return r.load(ctx, r.bench.Peers, r.bench.Graph, withTime)
}

func (r *runner) load(ctx context.Context, peers []peer.Peer, g *graph.Graph, name string) error {
	for _, p := range peers {
		start := time.Now()
		if err := p.Load(ctx, g); err != nil {
			return fmt.Errorf("load %s: %w", p.Name(), err)
		}
		took := time.Since(start)
		r.bench.Loaded(p.Name(), name, took)
		say("%-14s loaded %d follows in %v", p.Name(), len(g.Edges), took.Round(10*time.Millisecond))
	}
	return nil
}

// measure runs the works that are wanted, one after the other.
func (r *runner) measure(ctx context.Context) error {
	b := &r.bench
	all := map[string]func(context.Context) error{
		"space": func(ctx context.Context) error {
			return b.Space(ctx, b.Peers, withTime, len(b.Graph.Edges), residentOf(r.servers))
		},
		"hot":    b.Hot,
		"spread": b.Spread,
		"one":    b.One,
		"states": b.States,
		"page":   b.Pages,
		"mixed":  b.Mixed,
		"contend": func(ctx context.Context) error {
			return b.Contend(ctx, b.Peer(peer.KithName), r.clientProcess)
		},
		"http":   func(ctx context.Context) error { return r.http(ctx) },
		"memory": func(ctx context.Context) error { return r.memory(ctx) },
	}
	for _, name := range works {
		if !r.cmd.wants(name) {
			continue
		}
		if err := all[name](ctx); err != nil {
			return err
		}
	}
	return nil
}

// clientProcess is this program as one process of the work contend.
func (r *runner) clientProcess(ctx context.Context, p work.Part) *exec.Cmd {
	args := append([]string{"client", "--dsn=" + r.servers.MySQLDSN(databaseOf(peer.KithName)), "--memcached=" + r.servers.Memcached()}, p.Args()...)
	return exec.CommandContext(ctx, os.Args[0], args...)
}

func (r *runner) http(ctx context.Context) error {
	if err := r.openSite(ctx); err != nil {
		return err
	}
	alone, err := startSite(ctx, r.program, peer.AloneName, r.servers.MySQLDSN(databaseOf(peer.AloneName)), "")
	if err != nil {
		return err
	}
	err = r.bench.HTTP(ctx, []work.Site{r.site.Site, alone.Site}, startFixed)
	return errors.Join(err, alone.stop())
}

func (r *runner) memory(ctx context.Context) error {
	if err := r.openSite(ctx); err != nil {
		return err
	}
	return r.bench.Memory(ctx, r.site.Site, r.cmd.Memory, r.site.weigh)
}

// openSite builds kith and serves the peer kith with it.
func (r *runner) openSite(ctx context.Context) error {
	if r.site != nil {
		return nil
	}
	root, err := repository()
	if err != nil {
		return err
	}
	if r.program, err = buildKith(ctx, root, r.dir); err != nil {
		return err
	}
	r.site, err = startSite(ctx, r.program, peer.KithName, r.servers.MySQLDSN(databaseOf(peer.KithName)), r.servers.Memcached())
	return err
}

func (r *runner) close() (err error) {
	if r.site != nil {
		err = r.site.stop()
	}
	closePeers(slices.Concat(r.bench.Peers, r.bench.Variants))
	if r.servers != nil {
		err = errors.Join(err, r.servers.Stop())
	}
	return err
}

// report writes the files and shows the table.
func (r *runner) report(ctx context.Context) error {
	run := report.Run{Started: r.started, Took: time.Since(r.started), Machine: report.ReadMachine(r.dir),
		Graph:  fmt.Sprintf("%s, %d follows, and %d of accounts made for the works", r.plain.Name, len(r.plain.Edges), len(r.bench.Graph.Edges)-len(r.plain.Edges)),
		Rounds: r.cmd.Rounds, Short: r.cmd.Short, Args: shownArgs(os.Args[1:]), Lines: r.bench.Lines}
	run.Targets = report.Judge(run.Lines, wanted(run.Lines))
	run.Commit, run.Dirty = commit(ctx)
	var err error
	if run.Versions, err = r.servers.Versions(ctx); err != nil {
		return err
	}
	if r.cmd.Out != "" {
		err = write(run, r.cmd.Out)
	}
	return errors.Join(err, run.WriteTable(os.Stdout))
}
