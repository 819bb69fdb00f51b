package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kith/config"
	"kith/repo/mysqld"
	"kith/repo/schema"
)

type devCmd struct {
	Dir      string          `default:".kith" placeholder:"FOLDER" help:"The folder of the private database and the token secret, .kith unless another is given. It is made if it is missing."`
	Demo     bool            `default:"true" negatable:"" help:"Put a dozen people who know each other into an empty database. Switch it off to begin with a graph of your own."`
	Settings config.Settings `embed:""`
}

// Help is the text above the settings.
func (devCmd) Help() string {
	return "Starts a private MariaDB or MySQL in a folder, migrates it, makes a small demo graph if it is empty, serves, and runs the maintenance jobs. " +
		"With --mysql it uses, and migrates, the database you name. Ctrl-C stops all of it; the data stay."
}

const (
	devDatabase  = "kith"
	startTimeout = 2 * time.Minute // a first start installs the database
	stopTimeout  = 30 * time.Second
	devTokenTTL  = 24 * time.Hour
)

// errDatabaseGone says that the private database ended while it was needed.
var errDatabaseGone = errors.New("the private database has ended by itself")

// Run is all of kith in one process.
func (d *devCmd) Run(ctx context.Context) error {
	if err := config.Check(d.Settings); err != nil {
		return err
	}
	// The port first: it may be taken, and starting a database takes seconds.
	l, err := listen("KITH_LISTEN", d.Settings.HTTP.Listen)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := d.ownSecret(); err != nil {
		return err
	}
	if d.Settings.MySQL.DSN.Reveal() != "" {
		return d.serve(ctx, l)
	}
	return d.withDatabase(ctx, func(ctx context.Context) error { return d.serve(ctx, l) })
}

// ownSecret uses the token secret of the folder where none is set, and makes it once.
func (d *devCmd) ownSecret() error {
	if err := mysqld.MakeOwn(d.Dir); err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	if d.Settings.Token.Secret.Reveal() != "" {
		return nil
	}
	path := filepath.Join(d.Dir, devSecretFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := makeSecret(path); err != nil {
			return fmt.Errorf("--dir: the folder %s cannot be written: %w", d.Dir, err)
		}
	}
	text, err := mysqld.ReadOwn(path)
	if err != nil {
		return fmt.Errorf("--dir: read the token secret: %w", err)
	}
	secret := strings.TrimSpace(string(text))
	d.Settings.Token.Secret = config.NewSecret(secret)
	if secret == "" || config.Check(d.Settings.Token) != nil {
		return fmt.Errorf("--dir: %s is not a token secret that `kith dev` made: remove it", path)
	}
	return nil
}

// makeSecret writes a new secret. The file gets its name when it is complete, and
// does not replace one that another process made meanwhile.
func makeSecret(path string) error {
	raw := make([]byte, 32)
	rand.Read(raw)
	part := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer os.Remove(part)
	if err := os.WriteFile(part, []byte(hex.EncodeToString(raw)+"\n"), 0o600); err != nil {
		return err
	}
	if err := os.Link(part, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// withDatabase starts the private database, runs fn, and stops the database.
// The context of fn ends when the database does.
func (d *devCmd) withDatabase(ctx context.Context, fn func(context.Context) error) (err error) {
	own, err := d.startDatabase(ctx)
	if err != nil {
		return startError(err)
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		err = errors.Join(err, own.Stop(stopping))
	}()
	if err := own.CreateDatabase(ctx, devDatabase); err != nil {
		return err
	}
	d.Settings.MySQL = config.MySQL{DSN: config.NewDSN(own.DSN(devDatabase)), Pool: d.Settings.MySQL.Pool} // a socket has no TLS
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-own.Done():
			cancel(errDatabaseGone)
		case <-ctx.Done():
		}
	}()
	err = fn(ctx)
	if errors.Is(context.Cause(ctx), errDatabaseGone) {
		err = fmt.Errorf("%w: see %s", errDatabaseGone, filepath.Join(d.Dir, "error.log"))
	}
	return err
}

// startDatabase starts the private database.
func (d *devCmd) startDatabase(ctx context.Context) (*mysqld.Server, error) {
	if _, err := os.Stat(filepath.Join(d.Dir, "data")); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "kith: installing a private database in %s, this takes some seconds once\n", d.Dir)
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return mysqld.Start(starting, mysqld.Options{Dir: d.Dir, Durable: true})
}

// startError says what can be done about a database that does not start.
func startError(err error) error {
	switch {
	case errors.Is(err, mysqld.ErrNoServer):
		return fmt.Errorf("%w, or give `kith dev` a database with --mysql", err)
	case errors.Is(err, mysqld.ErrFolder), errors.Is(err, mysqld.ErrForeign), errors.Is(err, mysqld.ErrBusy):
		return fmt.Errorf("--dir: %w", err)
	}
	return err
}

// serve migrates, makes the demo graph, says what to try, and serves.
func (d *devCmd) serve(ctx context.Context, l net.Listener) error {
	s := d.Settings
	log := newLog(os.Stderr, s.Log)
	done, err := writeSettings(d.Dir, s)
	if err != nil {
		return fmt.Errorf("--dir: write the settings: %w", err)
	}
	defer done()
	err = migrate(ctx, s.MySQL, func(m *schema.Schema) error {
		_, err := m.Up(ctx)
		return err
	})
	if err != nil {
		return err
	}
	tokens, err := openTokens(ctx, s.Token, func(err error) { log.Warn("token keys", "error", err) })
	if err != nil {
		return err
	}
	st, err := openStack(ctx, s, false, log)
	if err != nil {
		return err
	}
	page, err := st.welcome(ctx, d, l, tokens)
	if err != nil {
		return errors.Join(err, st.close(ctx))
	}
	st.startJobs(ctx, s.Cron, s.Relation.ListCap, log)
	fmt.Print(page)
	s.HTTP.Drain = 0 // no balancer has to notice
	return st.serve(ctx, l, s, tokens, log)
}
