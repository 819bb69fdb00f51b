package work

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
	"kith/cmd/kithbench/server"
)

// Processes is how many processes follow one account at once, 256 clients in all.
var Processes = []int{1, 2, 4}

// contendClients is shared out over the processes.
const contendClients = 256

// Part is what one process of the work contend is told: the command that opens
// its peer is up to the caller.
type Part struct {
	Star, First uint64
	Warm        uint64 // the star that is followed before the clock runs
	Clients     int
	Span        time.Duration
}

// Args are the part as flags of a command.
func (p Part) Args() []string {
	return []string{fmt.Sprintf("--star=%d", p.Star), fmt.Sprintf("--first=%d", p.First), fmt.Sprintf("--warm=%d", p.Warm),
		fmt.Sprintf("--clients=%d", p.Clients), fmt.Sprintf("--span=%v", p.Span)}
}

// Contend lets several processes, each with a store and a committer of its own,
// add followers to one account with a full list. command makes the command of
// a part; such a command calls Serve. p is the same peer in this process.
func (b *Bench) Contend(ctx context.Context, p peer.Peer, command func(context.Context, Part) *exec.Cmd) error {
	lines := make([]report.Line, len(Processes))
	for round := range b.Rounds {
		for i, n := range Processes {
			line := &lines[i]
			*line = report.Line{Work: "contend", Case: processes(n), Unit: "follows/s", Better: report.Higher, Peer: p.Name(), Rounds: line.Rounds}
			b.Progress(line.Work, line.Case, line.Peer, round)
			r, err := b.contendOnce(ctx, p, n, (len(hotClients)+i)*b.Rounds+round, command)
			if err != nil {
				return fmt.Errorf("contend, %s: %w", line.Case, err)
			}
			line.Rounds = append(line.Rounds, r)
		}
	}
	b.Lines = append(b.Lines, lines...)
	return nil
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

func (b *Bench) contendOnce(ctx context.Context, p peer.Peer, n, star int, command func(context.Context, Part) *exec.Cmd) (sum report.Round, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var children []*child
	for i := range n {
		c, err := startChild(command(ctx, Part{Star: graph.Star(star), Warm: graph.Star(Stars(b.Rounds) - 1),
			First: firstFan(star) + uint64(i*graph.FreshEach/n), Clients: contendClients / n, Span: b.Span}))
		if err != nil {
			return sum, err
		}
		children = append(children, c)
	}
	for _, c := range children {
		if err := c.ready(); err != nil {
			return sum, err
		}
	}
	before, err := followersOf(ctx, p, graph.Star(star))
	if err != nil {
		return sum, err
	}
	if sum, err = together(children); err != nil {
		return sum, err
	}
	return sum, hasGained(ctx, p, graph.Star(star), before, sum)
}

// together starts the clock of processes that are ready and adds up what they
// did.
func together(children []*child) (sum report.Round, err error) {
	for _, c := range children {
		fmt.Fprintln(c.in)
	}
	for _, c := range children {
		r, err := c.result()
		if err != nil {
			return sum, err
		}
		sum.Ops, sum.Failed = sum.Ops+r.Ops, sum.Failed+r.Failed
		sum.Seconds, sum.P50, sum.P99 = max(sum.Seconds, r.Seconds), max(sum.P50, r.P50), max(sum.P99, r.P99)
	}
	return sum, nil
}

// child is a process that says when it is ready, waits for a line and answers
// with what it did.
type child struct {
	process *server.Process
	in      io.WriteCloser
	out     *json.Decoder
}

func startChild(cmd *exec.Cmd) (*child, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	p, err := server.StartProcess(cmd)
	return &child{process: p, in: in, out: json.NewDecoder(out)}, err
}

func (c *child) ready() error {
	var word string
	if err := c.out.Decode(&word); err != nil {
		return fmt.Errorf("a client process did not start: %w", err)
	}
	if word != "ready" {
		return fmt.Errorf("a client process says %q instead of ready", word)
	}
	return nil
}

func (c *child) result() (r report.Round, err error) {
	if err := c.out.Decode(&r); err != nil {
		return r, fmt.Errorf("a client process gave no figures: %w", err)
	}
	return r, c.process.Wait()
}

// ballast is what a process of kith keeps after a while: the near cache of long
// lists, which has this size by default. A process that has just started has four
// megabytes, and collects its garbage fifty times a second under this load, five
// times as often as one that has served for a while.
const ballast = 64 << 20

// warmUp is how long a process follows another account before it is ready: its
// connections are made then, as those of a process that serves.
const warmUp = 250 * time.Millisecond

// Serve is the other end: it follows part.Star when it is told to.
func Serve(ctx context.Context, p peer.Peer, part Part, in io.Reader, out io.Writer) error {
	held := make([]byte, ballast)
	defer runtime.KeepAlive(held)
	warm := newCrowd(p, part.Warm, part.First, part.Clients)
	if _, err := drive(ctx, part.Clients, warmUp, part.First, warm.follow); err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	if err := json.NewEncoder(out).Encode("ready"); err != nil {
		return err
	}
	if _, err := fmt.Fscanln(in); err != nil && err.Error() != "unexpected newline" {
		return fmt.Errorf("wait for the start: %w", err)
	}
	c := newCrowd(p, part.Star, part.First+graph.FreshEach/8, part.Clients)
	r, err := drive(ctx, part.Clients, part.Span, part.First, c.follow)
	if err != nil {
		return err
	}
	if err := eventually(ctx, c.fans); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}
