package mysqld

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoServer says that no server program is installed.
var ErrNoServer = errors.New("no mariadbd or mysqld found on this machine: install one, e.g. `apt-get install mariadb-server`")

// folders are searched after PATH: a user's PATH often lacks the sbin folders,
// and Homebrew and the MySQL packages have places of their own.
var folders = []string{
	"/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/bin", "/usr/local/bin",
	"/opt/homebrew/bin", "/opt/homebrew/opt/mysql/bin", "/opt/homebrew/opt/mariadb/bin",
	"/usr/local/mysql/bin", "/usr/local/opt/mysql/bin", "/usr/local/opt/mariadb/bin",
}

// program is the server program that was found.
type program struct {
	path    string
	mariadb bool
}

// find looks for mariadbd before mysqld, which may be either.
func find(ctx context.Context) (program, error) {
	if path, ok := lookup("mariadbd"); ok {
		return program{path: path, mariadb: true}, nil
	}
	path, ok := lookup("mysqld")
	if !ok {
		return program{}, ErrNoServer
	}
	out, err := exec.CommandContext(ctx, path, "--no-defaults", "--version").CombinedOutput()
	if err != nil {
		return program{}, fmt.Errorf("ask %s for its version: %w: %s", path, reason(ctx, err), strings.TrimSpace(string(out)))
	}
	return program{path: path, mariadb: strings.Contains(string(out), "MariaDB")}, nil
}

// installer is MariaDB's script that makes a data directory.
func (p program) installer() (string, error) {
	real, err := filepath.EvalSymlinks(p.path)
	if err != nil {
		real = p.path
	}
	beside := []string{filepath.Dir(p.path), filepath.Join(filepath.Dir(real), "..", "bin")}
	for _, name := range []string{"mariadb-install-db", "mysql_install_db"} {
		if path, ok := lookup(name, beside...); ok {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is here but mariadb-install-db is not: install all of it, e.g. `apt-get install mariadb-server`", p.path)
}

func lookup(name string, more ...string) (string, bool) {
	if path, err := exec.LookPath(name); err == nil {
		return path, true
	}
	for _, folder := range append(more, folders...) {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}
