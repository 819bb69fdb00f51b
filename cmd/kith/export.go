package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"kith/app/graph"
)

type exportCmd struct {
	tool
	File string `arg:"" optional:"" placeholder:"FILE" help:"The file to write, compressed if its name ends in .gz; without it, or with -, standard output. It appears when it is complete."`
}

// Help is the text above the flags.
func (exportCmd) Help() string {
	return "Writes a line for each follow: follower followee [unixtime]. Each account is read at a moment of its own, " +
		"so follows that change meanwhile may be there or not."
}

// Run writes the file and says on standard error how many follows it has.
func (c *exportCmd) Run(ctx context.Context) error {
	return c.with(ctx, func(s *stack) error {
		show := newProgress(os.Stderr, time.Now)
		edges := int64(0)
		err := c.write(func(w io.Writer) (err error) {
			edges, err = graph.Export(ctx, graph.ExportConfig{Rows: s.rows, Writer: w, Progress: show.report})
			return err
		})
		show.end()
		if err == nil {
			fmt.Fprintf(os.Stderr, "kith: exported %d follows\n", edges)
		}
		return err
	})
}

// write runs fill on standard output, or on a file that gets its name when it is
// complete.
func (c *exportCmd) write(fill func(io.Writer) error) error {
	if c.File == "" || c.File == "-" {
		return fill(os.Stdout)
	}
	if info, err := os.Stat(c.File); err == nil && !info.Mode().IsRegular() {
		return wrong("export: %s is no file that can be replaced: for standard output give -", c.File)
	}
	part := c.File + ".part"
	file, err := os.Create(part)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer os.Remove(part)
	if err := errors.Join(zipped(file, c.File, fill), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, c.File); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// zipped runs fill on w, through gzip if the name asks for it.
func zipped(w io.Writer, name string, fill func(io.Writer) error) error {
	if !strings.HasSuffix(name, ".gz") {
		return fill(w)
	}
	z := gzip.NewWriter(w)
	return errors.Join(fill(z), z.Close())
}
