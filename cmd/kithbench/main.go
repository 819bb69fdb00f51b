// Command kithbench measures kith next to what people would use instead: two
// tables on the same MySQL, Redis, and kith's own rows without a committer.
//
// It starts every server itself, loads the same graph into each, and checks that all answer
// alike before it times anything. README.md in this folder says what each work does, and
// results/ has a full run.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"kith/cmd/kithbench/work"
)

type cli struct {
	Run    runCmd      `cmd:"" default:"withargs" help:"Measure everything."`
	Client work.Client `cmd:"" hidden:"" help:"One process of the work contend."`
	Fixed  work.Fixed  `cmd:"" hidden:"" help:"A handler that always sends what it read from standard input."`
}

func main() {
	var c cli
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	k := kong.Parse(&c, kong.Name("kithbench"), kong.Description("Measures kith next to what people would use instead."),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Vars{"works": strings.Join(workNames(), ", "), "peers": strings.Join(peerNames, ", ")})
	if err := k.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "kithbench:", err)
		os.Exit(1)
	}
}
