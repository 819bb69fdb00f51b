// Command kith is the relationship service: the server, its database's
// migrations, the maintenance jobs, import and export, and `kith dev`, which is all of it in one
// process.
//
// One file holds one command. stack.go puts the parts together: database, cache,
// stores, committer, services. Settings come from package config.
//
// Whatever is refused ends the program with one sentence on standard error and an
// exit code of exit.go. SIGINT and SIGTERM end it in order; a second one, 0.2 seconds
// later or more, at once, or where a server drains it ends the drain.
// Standard output has the results, standard error the log and the progress.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"kith/app"
	"kith/config"
)

// commands is what can be typed.
type commands struct {
	Config config.File `name:"config" env:"KITH_CONFIG" placeholder:"FILE" help:"A settings file: NAME=value lines, with the same names as in the environment, which overrides it."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`

	Serve   serveCmd   `cmd:"" help:"Answer clients over HTTP."`
	Migrate migrateCmd `cmd:"" help:"Bring the database to the tables this program needs."`
	Cron    cronCmd    `cmd:"" help:"Run the maintenance jobs: all on their schedules, or one now."`
	Audit   auditCmd   `cmd:"" help:"Check that all rows agree, and repair those that do not."`
	Import  importCmd  `cmd:"" help:"Read follows from a file into the database."`
	Export  exportCmd  `cmd:"" help:"Write all follows of the database to a file."`
	Cache   cacheCmd   `cmd:"" help:"Renew what is cached, after a failover or a restore."`
	Account accountCmd `cmd:"" help:"Make, show and list accounts."`
	Token   tokenCmd   `cmd:"" help:"Print a token with which a client acts as an account."`
	Dev     devCmd     `cmd:"" help:"Run everything in one process, with a private database in a folder."`
	Health  healthCmd  `cmd:"" help:"Ask the server on this machine, or kith cron, if it is alive."`
	Version versionCmd `cmd:"" help:"Print the version."`
	Help    helpCmd    `cmd:"" help:"Explain a command; the same as its --help."`

	Completion completionCmd `cmd:"" help:"Say what to type so that bash, zsh or fish completes commands and flags."`
}

func main() {
	ctx := onSignals()
	if err := run(ctx, os.Args[1:]); err != nil {
		refuse(os.Stderr, err)
		os.Exit(exitCode(ctx, err))
	}
}

// run parses the command line and runs its command. Where that turns out to
// belong to a `kith dev`, it is parsed once more over the settings of that.
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
	if b, ok := parsed.Selected().Target.Addr().Interface().(besider); ok && b.astray() {
		settings, err := devSettings()
		if err != nil {
			return err
		}
		if parsed, err = parse(ctx, args, settings); err != nil {
			return err
		}
	}
	return parsed.Run()
}

// parse parses the command line; shelf has values for settings that are set
// nowhere.
func parse(ctx context.Context, args []string, shelf map[string]string) (*kong.Context, error) {
	var c commands
	parser, err := kong.New(&c, kong.Name("kith"),
		kong.Description("kith keeps who follows whom, in MySQL and memcached."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}), kong.Help(printHelp),
		kong.Vars{"version": versionLine()},
		kong.BindTo(ctx, (*context.Context)(nil)), config.Shelf(shelf))
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

// usage says where an error of the command line is explained.
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

// refuse writes err as one line. What the product refuses has a sentence of its
// own, which says it all.
func refuse(w io.Writer, err error) {
	var refusal *app.Error
	if errors.As(err, &refusal) && refusal.Kind != app.Internal && refusal.Kind != app.Busy {
		err = errors.New(refusal.Sentence)
	}
	fmt.Fprintln(w, "kith: "+strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}
