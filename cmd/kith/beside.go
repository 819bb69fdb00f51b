package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kith/config"
	"kith/repo/db"
)

// The files of a `kith dev` folder that concern other commands.
const (
	devFolder       = ".kith"         // where `kith dev` keeps its data unless told otherwise
	devDSNFile      = "dsn"           // there while the private database runs
	devSettingsFile = "settings.json" // as long as the former
	devSecretFile   = "token_secret"  // made once
)

// besider is a command that belongs to a `kith dev` where nothing says to
// which server it does.
type besider interface{ astray() bool }

var _, _, _, _ besider = (*tool)(nil), (*cronOn)(nil), (*migrateOn)(nil), (*tokenCmd)(nil)

// devSettings returns the settings of the `kith dev` that runs on the folder in
// the working directory, nil where there is none.
func devSettings() (map[string]string, error) {
	if _, err := os.Stat(filepath.Join(devFolder, devDSNFile)); err != nil {
		return nil, nil
	}
	path := filepath.Join(devFolder, devSettingsFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var values map[string]string
	if err == nil {
		err = json.Unmarshal(text, &values)
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings of `kith dev` in %s: %w", path, err)
	}
	return values, nil
}

// noteSettings keeps the settings of a `kith dev` in its folder.
func noteSettings(path string, s config.Settings) error {
	text, err := json.MarshalIndent(s.Shared(), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}

// besideDev fills in the database where none is set from the folder of a `kith
// dev` in the working directory: other commands are mostly typed in a second
// terminal beside it. It says so on standard error. The settings of that `kith
// dev` are there by then: see parse.
func besideDev(ctx context.Context, c *config.MySQL) error {
	if c.DSN.Reveal() != "" {
		return c.Check()
	}
	dsn, err := readLine(filepath.Join(devFolder, devDSNFile))
	if err != nil {
		return c.Required()
	}
	pool, err := db.Open(ctx, db.Config{DSN: dsn, MaxOpen: 1})
	if err != nil {
		return coded{fmt.Errorf("KITH_MYSQL_DSN (--mysql) is not set, and the `kith dev` whose folder %s is here does not answer: start it or set KITH_MYSQL_DSN", devFolder), exitDatabase}
	}
	pool.Close()
	fmt.Fprintf(os.Stderr, "kith: using the database of the `kith dev` in %s, and its settings\n", devFolder)
	*c = c.On(dsn)
	return c.Check()
}

// secretBesideDev is besideDev for the secret that signs tokens.
func secretBesideDev(c *config.Token) error {
	if c.Secret.Reveal() != "" {
		return c.Check()
	}
	path := filepath.Join(devFolder, devSecretFile)
	secret, err := readLine(path)
	if errors.Is(err, fs.ErrNotExist) {
		return wrong("KITH_TOKEN_SECRET (--token-secret) is not set: give it the secret of the server, or start `kith dev`, which makes one")
	}
	if err != nil {
		return fmt.Errorf("read the token secret of `kith dev`: %w", err)
	}
	fmt.Fprintf(os.Stderr, "kith: using the token secret in %s\n", path)
	c.Secret = config.NewSecret(secret)
	return c.Check()
}

// readLine returns the first line of a small file.
func readLine(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line), nil
}
