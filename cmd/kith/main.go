// Command kith is the relationship service: the server, the migrations of its database,
// the maintenance jobs, import and export, and `kith dev`, which is all of it in one process.
//
// One file holds one command. stack.go puts the parts together: database, cache,
// stores, committer, services. Settings come from package config.
//
// An error ends the program with one sentence on standard error and an exit code of
// exit.go. SIGINT and SIGTERM end it in order. A second signal, 0.2 seconds later or more,
// ends the drain of a server, and any other program at once.
// Standard output has the results, standard error the log and the progress.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"kith/app"
	"kith/config"
)

// commands is the command line.
type commands struct {
	Config config.File `name:"config" env:"KITH_CONFIG" placeholder:"FILE" help:"A settings file: NAME=value lines, with the same names as in the environment, which overrides it."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`

	Serve     serveCmd     `cmd:"" help:"Answer clients over HTTP."`
	Migrate   migrateCmd   `cmd:"" help:"Bring the database to the tables this program needs."`
	Cron      cronCmd      `cmd:"" help:"Run the maintenance jobs: all on their schedules, or one now."`
	Audit     auditCmd     `cmd:"" help:"Check that all rows agree, and repair those that do not."`
	Import    importCmd    `cmd:"" help:"Read follows from a file into the database."`
	Export    exportCmd    `cmd:"" help:"Write all follows of the database to a file."`
	Cache     cacheCmd     `cmd:"" help:"Renew what is cached, after a failover or a restore."`
	Account   accountCmd   `cmd:"" help:"Add, show, list, lock and erase accounts."`
	Post      postCmd      `cmd:"" help:"Show, hide, delete and import posts."`
	Timeline  timelineCmd  `cmd:"" help:"Show, clear and explain home timelines."`
	Promotion promotionCmd `cmd:"" help:"Show posts and accounts in homes between what people follow."`
	Token     tokenCmd     `cmd:"" help:"Print a token with which a client acts as an account."`
	Dev       devCmd       `cmd:"" help:"Run everything in one process, with a private database in a folder."`
	Health    healthCmd    `cmd:"" help:"Check that the server on this machine, or kith cron, is alive."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
	Help      helpCmd      `cmd:"" help:"Explain a command; the same as its --help."`

	Completion completionCmd `cmd:"" help:"Print the line that makes bash, zsh or fish complete commands and flags."`
}

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command, such as: account list."`
}

// Run prints the help of a command, or of the program, and exits.
func (h *helpCmd) Run(c *kong.Context) error {
	_, err := c.Kong.Parse(append(h.Command, "--help"))
	return usage(err)
}

type completionCmd struct{ kongcompletion.Completion }

// Help is the text above the flags.
func (completionCmd) Help() string {
	return "Prints the line that switches completion on in this terminal, for the shell given or the one you log in with. " +
		"Put that line into the shell's init file to have it in every terminal."
}

func main() {
	ctx := onSignals()
	if err := run(ctx, os.Args[1:]); err != nil {
		refuse(os.Stderr, err)
		os.Exit(exitCode(ctx, err))
	}
}

// run parses the command line and runs its command. A companion of a `kith dev` is
// parsed once more, with the settings of that as defaults.
func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parse(ctx, args, nil)
	if err != nil {
		return err
	}
	if err := config.CheckNames(os.Environ()); err != nil {
		return err
	}
	if c, ok := parsed.Selected().Target.Addr().Interface().(companion); ok && c.lacks() {
		settings, err := devSettings()
		if err != nil {
			return err
		}
		if settings != nil {
			return accompany(ctx, args, settings)
		}
	}
	return parsed.Run()
}

// accompany runs a command with the settings of a `kith dev`, and says so.
func accompany(ctx context.Context, args []string, settings map[string]string) error {
	parsed, err := parse(ctx, args, settings)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "kith: using the settings of the `kith dev` in %s, where no others are set\n", devFolder)
	return parsed.Run()
}

// parse parses the command line; settings has, by name, the values of what is set nowhere
// else.
func parse(ctx context.Context, args []string, settings map[string]string) (*kong.Context, error) {
	var c commands
	parser, err := kong.New(&c, kong.Name("kith"),
		kong.Description("kith keeps who follows whom, in MySQL and memcached."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}), kong.Help(printHelp),
		kong.Vars{"version": versionLine()},
		kong.BindTo(ctx, (*context.Context)(nil)), config.Defaults(settings))
	if err != nil {
		return nil, fmt.Errorf("define the commands: %w", err)
	}
	if os.Getenv("COMP_LINE") != "" { // a shell asks how a line goes on
		kongcompletion.Register(parser)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return nil, usage(err)
	}
	return parsed, nil
}

// usage adds to an error of the command line which --help explains it.
func usage(err error) error {
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) || wrong.Context == nil {
		return err
	}
	command := "kith"
	if node := wrong.Context.Selected(); node != nil {
		command = node.FullPath()
	}
	return fmt.Errorf("%w (`%s --help` explains)", err, command)
}

// refuse writes err as one line. A refusal of the product is its sentence alone.
func refuse(w io.Writer, err error) {
	var refusal *app.Error
	if errors.As(err, &refusal) && refusal.Kind != app.Internal && refusal.Kind != app.Busy {
		err = errors.New(refusal.Sentence)
	}
	fmt.Fprintln(w, "kith: "+strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}

var errSecondSignal = errors.New("a second signal: work under way is cut off")

// echo is how soon after a signal another counts as the same: timeout(1) and others send
// one to the process and to its group.
const echo = 200 * time.Millisecond

// again delivers a second signal to a server that drains, which ends its drain. If
// nothing receives it, the program ends at once.
var again = make(chan struct{})

// onSignals returns a context that ends at SIGINT or SIGTERM.
func onSignals() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		for last := time.Now(); ; {
			if <-signals; time.Since(last) < echo {
				continue
			}
			last = time.Now()
			select {
			case again <- struct{}{}:
			default:
				refuse(os.Stderr, errSecondSignal)
				os.Exit(exitInterrupted)
			}
		}
	}()
	return ctx
}

// newLog makes the log.
func newLog(w io.Writer, c config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // the tag enum lets only levels through that slog knows
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
