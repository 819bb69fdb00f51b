package mysqld

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"
)

// install makes the data directory where there is none. It is made beside its
// place and renamed when it is whole.
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
	if err := fill(ctx, found, filepath.Join(plain, filepath.Base(fresh)), filepath.Join(plain, filepath.Base(f.temp())), o.Log); err != nil {
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
func fill(ctx context.Context, found program, data, temp string, log io.Writer) error {
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
	err := cmd.Run()
	if log != nil {
		log.Write(out.Bytes())
	}
	if err != nil {
		return fmt.Errorf("install a database with %s: %w: %s", path, reason(ctx, err), bytes.TrimSpace(out.Bytes()))
	}
	return nil
}

// reason is why a command with ctx failed: that ctx ended, rather than that the
// command was killed for it.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
