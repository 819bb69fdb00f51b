package mysqld

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

// ErrForeign says that somebody else has a hand in a folder or a file: it belongs to
// somebody else, others may write to it, or it is a symbolic link. The error around
// it says which, and what to do.
var ErrForeign = errors.New("not yours alone")

// MakeOwn makes a folder where it is missing, and refuses one that is not the
// caller's alone, or in which something lies that is not the caller's: whoever can write
// to it could plant a database, settings or a secret there. An empty one that others may
// write to is closed to them.
func MakeOwn(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFolder, dir, err)
	}
	inside, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	if len(inside) == 0 {
		_ = os.Chmod(dir, 0o700) // looked at next
	}
	if err := Own(dir); err != nil {
		return err
	}
	for _, e := range inside {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // a server that runs, or ends, there
		}
		if err == nil {
			err = owned(filepath.Join(dir, e.Name()), info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Own refuses a folder or file that is not the caller's alone. Errors are ErrForeign,
// or that of the system, such as fs.ErrNotExist.
func Own(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return own(path, info)
}

func own(path string, info fs.FileInfo) error {
	if mode := info.Mode(); mode&fs.ModeSymlink == 0 && mode.Perm()&0o022 != 0 {
		return fmt.Errorf("%s: %w: others may write to it (mode %04o), take that away with `chmod go-w`", path, ErrForeign, mode.Perm())
	}
	return owned(path, info)
}

// owned is own without the mode, which does not matter in a folder of one's own.
func owned(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return fmt.Errorf("%s: %w: its owner cannot be told", path, ErrForeign)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: %w: it is a symbolic link", path, ErrForeign)
	case int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("%s: %w: it belongs to user %d, and you are user %d", path, ErrForeign, stat.Uid, os.Geteuid())
	}
	return nil
}

// ownBytes bounds what ReadOwn reads.
const ownBytes = 1 << 20

// ReadOwn reads a small file that must be the caller's alone, in a folder that must be,
// too, and that nobody else may read where it is secret.
func ReadOwn(path string, secret bool) ([]byte, error) {
	if err := Own(filepath.Dir(path)); err != nil {
		return nil, err
	}
	// Neither a link nor a pipe that nobody writes to.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s: %w: it is a symbolic link", path, ErrForeign)
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		err = own(path, info)
	}
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w: it is no file", path, ErrForeign)
	case secret && info.Mode().Perm()&0o044 != 0:
		return nil, fmt.Errorf("%s: %w: others may read it (mode %04o), take that away with `chmod 600` and make a new one", path, ErrForeign, info.Mode().Perm())
	}
	return io.ReadAll(io.LimitReader(file, ownBytes))
}

// shortRun is the name of a socket's folder where that in Dir would be too long.
var shortRun = regexp.MustCompile(`^kith-[0-9a-f]{16}$`)

// OwnSocket refuses a path that is not the socket of a server that the caller started
// in dir.
func OwnSocket(dir, path string) error {
	run := filepath.Dir(path)
	there, err := os.Stat(run)
	if err != nil {
		return err
	}
	inside, err := os.Stat(filepath.Join(dir, runName))
	if !filepath.IsAbs(path) || filepath.Base(path) != socketName || !shortRun.MatchString(filepath.Base(run)) && (err != nil || !os.SameFile(there, inside)) {
		return fmt.Errorf("%s: %w: it is not the socket of a server in %s", path, ErrForeign, dir)
	}
	return Own(run)
}
