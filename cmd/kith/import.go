package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"kith/app/graph"
	"kith/app/intake"
	"kith/config"
)

type importCmd struct {
	listTool
	fileImport
}

// fileImport is what all imports of files have alike.
type fileImport struct {
	File       string      `arg:"" placeholder:"FILE|-" help:"The file, plain or gzip, or - for standard input."`
	Rejects    string      `placeholder:"FILE" help:"The file for rejected lines, with line number and reason. It is made when there is one; without this flag it is FILE.rejects in the working directory."`
	MaxRejects int         `default:"1000" help:"How many rejected lines a file may have. One with more changes nothing, nor does one with more rejected lines than usable ones. With --max-rejects=-1 it may have any number, as long as one line is usable."`
	DryRun     bool        `help:"Read the file, write the rejects and say what the file has, but change nothing in the database."`
	Memory     config.Size `default:"512MiB" help:"The most memory that the import takes, 32MiB to 1TiB; larger files are sorted on disk."`
	TempDir    string      `type:"existingdir" placeholder:"FOLDER" help:"The folder to sort in; without it the system's folder for temporary files."`
}

// Help is the text above the flags.
func (importCmd) Help() string {
	return "A line of the file is: follower followee [unixtime], separated by spaces, tabs or a comma; what follows a # is a comment. Sorting takes 40 bytes a line on disk. " +
		"Accounts that do not exist are made, but those that were erased are not: lines that name one are rejected. Follows that are there " +
		"already stay as they are, so importing a file again changes nothing. Servers may run meanwhile. The file is read to its end before anything " +
		"is changed: one with too many rejected lines, or a compressed one that breaks off, changes nothing and ends with exit code 5."
}

// Run imports the file.
func (c *importCmd) Run(ctx context.Context) error {
	return c.run(ctx, &c.tool, c.with, func(s *stack, in intake.Config) (fmt.Stringer, error) {
		return graph.Import(ctx, graph.ImportConfig{Config: in, Accounts: s.people, Rows: s.rows, Relations: s.relations, Now: time.Now})
	})
}

// run opens the file, has load import it into the database, and prints every number of what
// that did.
func (c *fileImport) run(ctx context.Context, t *tool, with func(context.Context, func(*stack) error) error, load func(*stack, intake.Config) (fmt.Stringer, error)) error {
	if err := c.checkMemory(); err != nil {
		return err
	}
	file, err := c.open()
	if err != nil {
		return err
	}
	defer file.Close()
	// Collect garbage sooner rather than take more memory than --memory says.
	debug.SetMemoryLimit(int64(c.Memory))
	return with(ctx, func(s *stack) error {
		rejects, err := c.rejects(file)
		if err != nil {
			return err
		}
		show := newProgress(os.Stderr, time.Now)
		sum, err := load(s, intake.Config{Reader: file, Rejects: rejects, MaxRejects: c.MaxRejects, DryRun: c.DryRun,
			Memory: int64(c.Memory), TempDir: c.TempDir, Progress: show.report})
		show.end()
		err = errors.Join(err, rejects.Close())
		fmt.Print(sum)
		rejects.say()
		if err == nil && !c.DryRun {
			t.late()
		}
		return err
	})
}

func (c *fileImport) checkMemory() error {
	if c.Memory < 32<<20 || c.Memory > 1<<40 {
		return wrong("--memory: %v is not within 32MiB to 1TiB", c.Memory)
	}
	return nil
}

func (c *fileImport) open() (*os.File, error) {
	if c.File == "-" {
		return os.Stdin, nil
	}
	file, err := os.Open(c.File)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		file.Close()
		return nil, fmt.Errorf("import: %s is a folder", c.File)
	}
	return file, nil
}

// rejects returns the file for rejected lines of another file.
func (c *fileImport) rejects(file *os.File) (*lazyFile, error) {
	name := filepath.Base(c.File)
	if c.File == "-" {
		name = "stdin"
	}
	rejects := &lazyFile{path: cmp.Or(c.Rejects, name+".rejects")}
	if same(rejects.path, file) {
		return nil, wrong("--rejects: %s is the file to be imported", rejects.path)
	}
	return rejects, nil
}

// say prints where the file is, if there is one.
func (f *lazyFile) say() {
	if f.file != nil {
		fmt.Printf("%-26s%s\n", "rejects are in", f.path)
	}
}

// same reports whether path is the path of an open file.
func same(path string, file *os.File) bool {
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	open, err := file.Stat()
	return err == nil && os.SameFile(there, open)
}

// lazyFile is a file that the first write makes.
type lazyFile struct {
	path string
	file *os.File
}

var _ io.WriteCloser = (*lazyFile)(nil)

// Write makes the file, or empties one from before, and writes to it.
func (f *lazyFile) Write(p []byte) (int, error) {
	if f.file == nil {
		var err error
		if f.file, err = os.Create(f.path); err != nil {
			return 0, err
		}
	}
	return f.file.Write(p)
}

// Close closes the file if there is one.
func (f *lazyFile) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
