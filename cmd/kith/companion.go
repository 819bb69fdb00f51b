package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"kith/config"
	"kith/repo/mysqld"
	"kith/repo/schema"
)

// The files of a `kith dev` folder that this program writes.
const (
	devFolder       = ".kith"         // where `kith dev` keeps its data unless another folder is given
	devSettingsFile = "settings.json" // there while it runs: what companions take from it, secrets included
	devSecretFile   = "token_secret"  // made once
)

// database is what every command needs that works on the database and ends. Typed in a
// folder where a `kith dev` runs, it is a companion of that: what is not set for the
// command itself is as that `kith dev` has it. See run.
type database struct {
	MySQL config.MySQL `embed:"" group:"MySQL"`
}

// companion is a command that can take settings from a `kith dev`.
type companion interface {
	// lacks reports that a setting is missing without which the command cannot work.
	lacks() bool
}

func (d *database) lacks() bool { return d.MySQL.DSN.Reveal() == "" }

// devSettings returns the settings of the `kith dev` that runs in the folder of the
// working directory, nil where none does. They are used only where the folder and the
// file are the caller's alone, and name the server that runs there: anybody can put
// such a folder where an administrator types a command.
func devSettings() (map[string]string, error) {
	path := filepath.Join(devFolder, devSettingsFile)
	text, err := mysqld.ReadOwn(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var values map[string]string
	if err == nil {
		err = json.Unmarshal(text, &values)
	}
	if dsn, ok := values["KITH_MYSQL_DSN"]; ok && err == nil && !ownDatabase(devFolder, dsn) {
		err = errors.New("it does not name a database of `kith dev`")
	}
	if err == nil && !locked(path) {
		return nil, nil // left by one that was killed
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings of `kith dev` in %s: %w", path, err)
	}
	return values, nil
}

// ownDatabase reports whether a DSN names the database that a `kith dev` starts in a folder.
func ownDatabase(dir, dsn string) bool {
	own, err := mysqld.OwnDSN(dir, devDatabase)
	return err == nil && dsn == own
}

// writeSettings writes what devSettings reads: where the database is not in the folder
// itself, without it. The file is locked until done removes it, or the process ends: a
// folder has one `kith dev`, and what another left is known to be old.
func writeSettings(dir string, s config.Settings) (done func(), err error) {
	if !ownDatabase(dir, s.MySQL.DSN.Reveal()) {
		s.MySQL = config.MySQL{Pool: s.MySQL.Pool}
	}
	text, err := json.MarshalIndent(s.Shared(), "", "  ")
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, devSettingsFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	// The lock ends when this process closes the file, through whatever descriptor.
	lock := syscall.Flock_t{Type: syscall.F_WRLCK}
	err = syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &lock)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) || err == nil && !same(file.Name(), file) {
		err = coded{fmt.Errorf("another `kith dev` runs in %s: end it, or choose another folder", dir), exitBusy}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	done = func() {
		os.Remove(file.Name())
		file.Close()
	}
	if err = file.Truncate(0); err == nil {
		_, err = file.Write(append(text, '\n'))
	}
	if err != nil {
		done()
	}
	return done, err
}

// locked reports whether another process has locked a file.
func locked(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	lock := syscall.Flock_t{Type: syscall.F_WRLCK}
	return syscall.FcntlFlock(file.Fd(), syscall.F_GETLK, &lock) == nil && lock.Type != syscall.F_UNLCK
}

// check refuses a database that is missing, and settings that make no sense.
func (d *database) check(sections ...any) error {
	return cmp.Or(d.MySQL.Required(), config.Check(append(sections, d.MySQL)...))
}

// migrate runs fn on the migrations of the database.
func (d *database) migrate(ctx context.Context, fn func(*schema.Schema) error) error {
	if err := d.check(); err != nil {
		return err
	}
	return migrate(ctx, d.MySQL, fn)
}

// tool are the settings of commands that work on accounts and lists while servers run.
type tool struct {
	database
	Cache config.Cache `embed:"" group:"Cache"`
}

// with runs fn on the database. It writes no lists.
func (t *tool) with(ctx context.Context, fn func(*stack) error) error {
	if err := t.check(t.Cache); err != nil {
		return err
	}
	return withStack(ctx, config.Settings{MySQL: t.MySQL, Cache: t.Cache}, slog.New(slog.DiscardHandler), fn)
}

// late says when servers show what a command has changed, where no memcached tells them.
func (t *tool) late() {
	if len(t.Cache.Memcached) == 0 {
		fmt.Fprintf(os.Stderr, "kith: without memcached, servers may show what was before for up to %v (KITH_LOCAL_CACHE_EXPIRY)\n", t.Cache.LocalExpiry)
	}
}

// listTool is a tool that writes lists, and cuts them where a server would.
type listTool struct {
	tool
	Relation config.Relation `embed:"" group:"Relations"`
}

// with runs fn on the database.
func (t *listTool) with(ctx context.Context, fn func(*stack) error) error {
	if err := t.check(t.Cache, t.Relation); err != nil {
		return err
	}
	return withStack(ctx, config.Settings{MySQL: t.MySQL, Cache: t.Cache, Relation: t.Relation}, slog.New(slog.DiscardHandler), fn)
}

// toolClose bounds how long a command waits for its last commits.
const toolClose = 20 * time.Second

// withStack runs fn on the stack of a process that comes and goes.
func withStack(ctx context.Context, c config.Settings, log *slog.Logger, fn func(*stack) error) error {
	s, err := openStack(ctx, c, true, log)
	if err != nil {
		return err
	}
	err = fn(s)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), toolClose)
	defer cancel()
	return errors.Join(err, s.close(closing))
}
