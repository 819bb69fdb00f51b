package work

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
)

// Processes is how many processes follow one account at once, 256 clients in all.
var Processes = []int{1, 2, 4}

// contendClients is shared out over the processes.
const contendClients = 256

// Part is what one process of the work contend is told: the command that opens
// its peer is up to the caller.
type Part struct {
	Star, First uint64
	Clients     int
	Span        time.Duration
}

// Args are the part as flags of a command.
func (p Part) Args() []string {
	return []string{fmt.Sprintf("--star=%d", p.Star), fmt.Sprintf("--first=%d", p.First),
		fmt.Sprintf("--clients=%d", p.Clients), fmt.Sprintf("--span=%v", p.Span)}
}

// Contend lets several processes, each with a store and a committer of its own,
// add followers to one account with a full list. command makes the command of
// a part; such a command calls Serve.
func (b *Bench) Contend(ctx context.Context, name string, command func(context.Context, Part) *exec.Cmd) error {
	for i, n := range Processes {
		line := report.Line{Work: "contend", Case: processes(n), Unit: "follows/s", Better: report.Higher, Peer: name}
		for round := range b.Rounds {
			b.Progress(line.Work, line.Case, name, round)
			star := (len(hotClients)+i)*b.Rounds + round
			r, err := b.contendOnce(ctx, n, star, command)
			if err != nil {
				return fmt.Errorf("contend, %d processes: %w", n, err)
			}
			line.Rounds = append(line.Rounds, r)
		}
		b.Lines = append(b.Lines, line)
	}
	return nil
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

func (b *Bench) contendOnce(ctx context.Context, n, star int, command func(context.Context, Part) *exec.Cmd) (sum report.Round, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var children []*child
	for i := range n {
		c, err := startChild(command(ctx, Part{Star: graph.Star(star), First: graph.Fresh + uint64(star)*1_000_000 + uint64(i)*250_000,
			Clients: contendClients / n, Span: b.Span}))
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
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
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
	return &child{cmd: cmd, in: in, out: json.NewDecoder(out)}, cmd.Start()
}

func (c *child) ready() error {
	var word string
	if err := c.out.Decode(&word); err != nil || word != "ready" {
		return fmt.Errorf("a client process did not start: %q, %w", word, err)
	}
	return nil
}

func (c *child) result() (r report.Round, err error) {
	if err := c.out.Decode(&r); err != nil {
		return r, fmt.Errorf("a client process gave no figures: %w", err)
	}
	return r, c.cmd.Wait()
}

// Serve is the other end: it follows part.Star when it is told to.
func Serve(ctx context.Context, p peer.Peer, part Part, in io.Reader, out io.Writer) error {
	if _, err := p.Counts(ctx, []uint64{part.Star}); err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode("ready"); err != nil {
		return err
	}
	if _, err := fmt.Fscanln(in); err != nil && err.Error() != "unexpected newline" {
		return fmt.Errorf("wait for the start: %w", err)
	}
	r, err := drive(ctx, part.Clients, part.Span, part.First, followers(p, part.Star, part.First))
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}
