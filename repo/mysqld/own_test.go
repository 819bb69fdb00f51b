package mysqld

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// somebody is a user who is not the one of the tests.
const somebody = 12345

// plant makes a folder of the caller's alone with a file in it.
func plant(t *testing.T) (dir, file string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "own")
	file = filepath.Join(dir, "file")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(file, []byte("text\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

func TestReadOwn(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  func(dir, file string) error
		secret bool
		want   error // nil: it is read
	}{
		"Own":           {func(string, string) error { return nil }, true, nil},
		"ReadByOthers":  {func(dir, file string) error { return errors.Join(os.Chmod(dir, 0o755), os.Chmod(file, 0o644)) }, false, nil},
		"SecretRead":    {func(_, file string) error { return os.Chmod(file, 0o640) }, true, ErrForeign},
		"FileWritable":  {func(_, file string) error { return os.Chmod(file, 0o620) }, false, ErrForeign},
		"FolderGroup":   {func(dir, _ string) error { return os.Chmod(dir, 0o770) }, false, ErrForeign},
		"FolderAll":     {func(dir, _ string) error { return os.Chmod(dir, 0o1777) }, false, ErrForeign},
		"FileOfOther":   {func(_, file string) error { return os.Chown(file, somebody, -1) }, false, ErrForeign},
		"FolderOfOther": {func(dir, _ string) error { return os.Chown(dir, somebody, -1) }, false, ErrForeign},
		"FileLink": {func(_, file string) error {
			return errors.Join(os.Rename(file, file+"2"), os.Symlink(file+"2", file))
		}, false, ErrForeign},
		"FolderLink": {func(dir, _ string) error { return errors.Join(os.Rename(dir, dir+"2"), os.Symlink(dir+"2", dir)) }, false, ErrForeign},
		"Pipe":       {func(_, file string) error { return errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)) }, false, ErrForeign},
		"Folder":     {func(_, file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) }, false, ErrForeign},
		"Gone":       {func(_, file string) error { return os.Remove(file) }, false, fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasSuffix(name, "OfOther") && os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			dir, file := plant(t)
			if err := c.spoil(dir, file); err != nil {
				t.Fatal(err)
			}
			text, err := ReadOwn(file, c.secret)
			if c.want == nil && (err != nil || string(text) != "text\n") || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %q, %v, want %v", text, err, c.want)
			}
		})
	}
}

func TestMakeOwn(t *testing.T) {
	base := t.TempDir()
	fresh := filepath.Join(base, "a", "b")
	if err := MakeOwn(fresh); err != nil {
		t.Error(err)
	}
	open := filepath.Join(base, "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777), MakeOwn(open)); err != nil {
		t.Errorf("an empty one: %v", err)
	}
	for _, dir := range []string{fresh, open} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v, %v", dir, info.Mode(), err)
		}
	}
	for name, spoil := range map[string]func(dir, file string) error{
		"Writable": func(dir, _ string) error { return os.Chmod(dir, 0o777) },
		"Link":     func(dir, _ string) error { return os.Symlink("/etc", filepath.Join(dir, "data")) },
		"OfOther":  func(dir, file string) error { return os.Chown(file, somebody, -1) },
	} {
		if name == "OfOther" && os.Geteuid() != 0 {
			continue
		}
		dir, file := plant(t)
		if err := spoil(dir, file); err != nil {
			t.Fatal(err)
		}
		if err := MakeOwn(dir); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: got %v, want that it is foreign", name, err)
		}
		if _, err := Start(t.Context(), Options{Dir: dir, Durable: true}); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: a start: got %v, want that it is foreign", name, err)
		}
	}
}

func TestOwnSocket(t *testing.T) {
	dir, _ := plant(t)
	run, short, other := filepath.Join(dir, "run"), filepath.Join(t.TempDir(), "kith-0123456789abcdef"), filepath.Join(t.TempDir(), "run")
	for _, d := range []string{run, short, other} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, good := range map[string]bool{
		filepath.Join(run, "mysqld.sock"): true, filepath.Join(short, "mysqld.sock"): true,
		filepath.Join(other, "mysqld.sock"): false, filepath.Join(run, "other.sock"): false, "run/mysqld.sock": false, "/nowhere/mysqld.sock": false,
	} {
		if err := OwnSocket(dir, path); (err == nil) != good {
			t.Errorf("%s: got %v", path, err)
		}
	}
	if err := os.Chmod(short, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := OwnSocket(dir, filepath.Join(short, "mysqld.sock")); !errors.Is(err, ErrForeign) {
		t.Errorf("got %v, want that others may write there", err)
	}
}
