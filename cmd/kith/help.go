package main

import (
	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
)

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
