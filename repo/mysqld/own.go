package mysqld

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrForeign says that a folder or file is not the caller's alone. The error around it
// says why.
var ErrForeign = errors.New("not yours alone")

// own refuses what belongs to another user, gives others one of the denied rights, or
// is neither a folder nor a file, such as a symbolic link.
func own(path string, info fs.FileInfo, denied fs.FileMode) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode(); {
	case !mode.IsDir() && !mode.IsRegular():
		return fmt.Errorf("%s: %w: it is a symbolic link, or another special file", path, ErrForeign)
	case !ok || int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("%s: %w: it belongs to another user", path, ErrForeign)
	case mode.Perm()&denied != 0:
		return fmt.Errorf("%s: %w: others may use it (mode %04o): take that away with `chmod go-rwx %[1]s`", path, ErrForeign, mode.Perm())
	}
	return nil
}

// openOwn opens what own does not refuse. It neither follows a link nor waits for the
// writer of a pipe.
func openOwn(path string, denied fs.FileMode) (*os.File, error) {
	file, err := os.OpenFile(filepath.Clean(path), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s: %w: it is a symbolic link", path, ErrForeign)
	} else if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = own(path, info, denied)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// MakeOwn makes a folder where it is missing. It refuses one that is not the caller's
// alone or holds something that is not: others could have put a database, settings or
// a secret there. An empty folder of the caller's is closed to others.
func MakeOwn(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFolder, dir, err)
	}
	folder, err := openOwn(dir, 0)
	if err != nil {
		return err
	}
	defer folder.Close()
	inside, err := folder.ReadDir(-1)
	if err == nil && len(inside) == 0 {
		err = folder.Chmod(0o700)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	if err := check(dir, 0o022); err != nil {
		return err
	}
	for _, entry := range inside {
		// A server may start or end there.
		if err := check(filepath.Join(dir, entry.Name()), 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// check refuses a path as own does.
func check(path string, denied fs.FileMode) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return own(path, info, denied)
}

// ReadOwn reads a small file that is the caller's alone to read and write, in a folder
// that is the caller's alone to write. It returns ErrForeign, or the error of the
// system, such as fs.ErrNotExist.
func ReadOwn(path string) ([]byte, error) {
	file, err := openOwn(path, 0o066)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := check(filepath.Dir(path), 0o022); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, 1<<20))
}

// OwnDSN returns the DSN of a database of the durable server in dir, which may run or
// not. It refuses a socket that others could have put there.
func OwnDSN(dir, database string) (string, error) {
	f, err := newFolder(dir)
	if err != nil {
		return "", err
	}
	if err := check(f.run, 0o077); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return f.dsn(database), nil
}
