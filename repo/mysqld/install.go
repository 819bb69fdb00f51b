package mysqld

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"
)

// install makes the data directory where there is none. It is made under
// another name and renamed when it is whole.
func install(ctx context.Context, found program, f *folder, o Options) error {
	if _, err := os.Stat(f.data()); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	// MariaDB starts on an empty directory when it need not know its users.
	if found.mariadb && !o.Durable {
		return mkdir(f.data())
	}
	fresh := f.data() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	if err := mkdir(fresh); err != nil {
		return err
	}
	plain, done, err := withoutSpaces(f.dir)
	if err != nil {
		return err
	}
	defer done()
	if err := fill(ctx, found, filepath.Join(plain, filepath.Base(fresh)), filepath.Join(plain, filepath.Base(f.temp()))); err != nil {
		return err
	}
	if err := os.Rename(fresh, f.data()); err != nil {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	return nil
}

// withoutSpaces returns another way to a folder whose path has spaces: MariaDB's
// installer, run as root, takes them for the ends of names.
func withoutSpaces(dir string) (plain string, done func(), err error) {
	if !strings.ContainsFunc(dir, unicode.IsSpace) {
		return dir, func() {}, nil
	}
	temp, err := os.MkdirTemp("", "kith-install-")
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	plain = filepath.Join(temp, "dir")
	if err := os.Symlink(dir, plain); err != nil {
		os.RemoveAll(temp)
		return "", nil, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	return plain, func() { os.RemoveAll(temp) }, nil
}

func mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	return nil
}

// fill makes the system tables in the empty directory data.
func fill(ctx context.Context, found program, data, temp string) error {
	path, args := found.path, []string{"--no-defaults", "--initialize-insecure", "--datadir=" + data}
	if found.mariadb {
		script, err := found.installer()
		if err != nil {
			return err
		}
		path, args = script, []string{"--no-defaults", "--datadir=" + data,
			"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", "--innodb-log-file-size=32M"}
	}
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	cmd.SysProcAttr = attributes(0)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("install a database with %s: %w: %s", path, cmp.Or(ctx.Err(), err), bytes.TrimSpace(out.Bytes()))
	}
	return nil
}

// ErrNoServer says that no server program is installed.
var ErrNoServer = errors.New("no mariadbd or mysqld found on this machine: install one, e.g. `apt-get install mariadb-server`")

// folders are searched after PATH: a user's PATH often lacks the sbin folders,
// and Homebrew and the MySQL packages have folders of their own.
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
		return program{}, fmt.Errorf("ask %s for its version: %w: %s", path, cmp.Or(ctx.Err(), err), strings.TrimSpace(string(out)))
	}
	return program{path: path, mariadb: strings.Contains(string(out), "MariaDB")}, nil
}

// installer is MariaDB's script that makes a data directory.
func (p program) installer() (string, error) {
	real, err := filepath.EvalSymlinks(p.path)
	if err != nil {
		real = p.path
	}
	more := []string{filepath.Dir(p.path), filepath.Join(filepath.Dir(real), "..", "bin")}
	for _, name := range []string{"mariadb-install-db", "mysql_install_db"} {
		if path, ok := lookup(name, more...); ok {
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
