package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"kith/app"
	"kith/app/intake"
	"kith/config"
	"kith/cron"
	"kith/repo"
	"kith/repo/mysqld"
	"kith/repo/schema"
)

// The exit codes. Scripts depend on them: a code never changes its meaning.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitDatabase    = 3
	exitFaults      = 4
	exitInput       = 5
	exitPartial     = 6
	exitBusy        = 7
	exitInterrupted = 130
)

// exits are the codes with what they mean, as `kith --help` lists them.
var exits = []struct {
	code  int
	means string
}{
	{exitDone, "done"},
	{exitFailed, "refused or failed for any other reason"},
	{exitUsage, "wrong usage: a command, a flag, a setting or a name in the environment"},
	{exitDatabase, "no database: it cannot be used, or lacks migrations"},
	{exitFaults, "faults: an audit leaves some"},
	{exitInput, "unusable input: nothing of the file was imported"},
	{exitPartial, "partial: some of it is done, the message says what is missing"},
	{exitBusy, "busy: another process has what is needed, try again later"},
	{exitInterrupted, "interrupted: a signal came before the work was done"},
}

// coded is an error with its exit code.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

// wrong makes an error of wrong usage.
func wrong(format string, args ...any) error { return coded{fmt.Errorf(format, args...), exitUsage} }

// exitCode returns the exit code for err. Any error after a signal is an interruption; else
// an import that is done in part is exitPartial, whatever stopped it.
func exitCode(ctx context.Context, err error) int {
	var own coded
	var parse *kong.ParseError
	var setting *config.Error
	var busy *cron.BusyError
	switch {
	case err == nil:
		return exitDone
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &parse), errors.As(err, &setting):
		return exitUsage
	case errors.As(err, new(*cron.FaultsError)):
		return exitFaults
	case errors.Is(err, intake.ErrRejects), errors.Is(err, intake.ErrUnreadable):
		return exitInput
	case errors.Is(err, intake.ErrPartial):
		return exitPartial
	case errors.As(err, &busy), errors.Is(err, mysqld.ErrBusy), errors.Is(err, schema.ErrLocked):
		return exitBusy
	case errors.Is(err, repo.ErrUnavailable), errors.Is(err, schema.ErrOld), errors.Is(err, errDatabaseGone):
		return exitDatabase
	case errors.Is(err, repo.ErrConflict) && app.KindOf(err) == app.Busy:
		return exitBusy
	}
	return exitFailed
}

// printHelp prints the help of kong and, for the program as a whole, the exit codes.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	err := kong.DefaultHelpPrinter(options, ctx)
	if err != nil || ctx.Selected() != nil {
		return err
	}
	var out strings.Builder
	out.WriteString("\nExit codes:\n")
	for _, e := range exits {
		fmt.Fprintf(&out, "  %-5d %s\n", e.code, e.means)
	}
	_, err = fmt.Fprint(ctx.Stdout, out.String())
	return err
}
