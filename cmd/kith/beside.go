package main

import (
	"context"
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
	devFolder     = ".kith"        // where `kith dev` keeps its data unless told otherwise
	devDSNFile    = "dsn"          // there while the private database runs
	devSecretFile = "token_secret" // made once
)

// besideDev fills in what is not set from the folder of a `kith dev` in the
// working directory: other commands are mostly typed in a second terminal
// beside it. It says so on standard error.
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
		return fmt.Errorf("KITH_MYSQL_DSN (--mysql) is not set, and the `kith dev` whose folder %s is here does not answer: start it or set KITH_MYSQL_DSN", devFolder)
	}
	pool.Close()
	fmt.Fprintf(os.Stderr, "kith: using the database of the `kith dev` in %s\n", devFolder)
	c.DSN = config.NewDSN(dsn)
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
		return errors.New("KITH_TOKEN_SECRET (--token-secret) is not set: give it the secret of the server, or start `kith dev`, which makes one")
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
