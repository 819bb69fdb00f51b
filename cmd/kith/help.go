package main

import "github.com/alecthomas/kong"

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command, such as: account list."`
}

// Run prints the help of a command, or of the program, and exits.
func (h *helpCmd) Run(c *kong.Context) error {
	_, err := c.Kong.Parse(append(h.Command, "--help"))
	return usage(err)
}
