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

// somebody is another user than the one of the tests.
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
		spoil func(dir, file string) error
		want  error // nil: it is read
	}{
		"Own":           {func(string, string) error { return nil }, nil},
		"FolderRead":    {func(dir, _ string) error { return os.Chmod(dir, 0o755) }, nil},
		"FileRead":      {func(_, file string) error { return os.Chmod(file, 0o604) }, ErrForeign},
		"FileGroup":     {func(_, file string) error { return os.Chmod(file, 0o640) }, ErrForeign},
		"FileWritable":  {func(_, file string) error { return os.Chmod(file, 0o620) }, ErrForeign},
		"FolderGroup":   {func(dir, _ string) error { return os.Chmod(dir, 0o770) }, ErrForeign},
		"FolderAll":     {func(dir, _ string) error { return os.Chmod(dir, 0o1777) }, ErrForeign},
		"FileOfOther":   {func(_, file string) error { return os.Chown(file, somebody, -1) }, ErrForeign},
		"FolderOfOther": {func(dir, _ string) error { return os.Chown(dir, somebody, -1) }, ErrForeign},
		"FileLink": {func(_, file string) error {
			return errors.Join(os.Rename(file, file+"2"), os.Symlink(file+"2", file))
		}, ErrForeign},
		"FolderLink": {func(dir, _ string) error { return errors.Join(os.Rename(dir, dir+"2"), os.Symlink(dir+"2", dir)) }, ErrForeign},
		"Pipe":       {func(_, file string) error { return errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)) }, ErrForeign},
		"Folder":     {func(_, file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) }, syscall.EISDIR},
		"Gone":       {func(_, file string) error { return os.Remove(file) }, fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasSuffix(name, "OfOther") && os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			dir, file := plant(t)
			if err := c.spoil(dir, file); err != nil {
				t.Fatal(err)
			}
			text, err := ReadOwn(file)
			if c.want == nil && (err != nil || string(text) != "text\n") || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %q, %v, want %v", text, err, c.want)
			}
		})
	}
}

func TestMakeOwn(t *testing.T) {
	base := t.TempDir()
	fresh, open := filepath.Join(base, "a", "b"), filepath.Join(base, "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{fresh, open} {
		if err := MakeOwn(dir); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v, %v", dir, info.Mode(), err)
		}
	}
	for name, spoil := range map[string]func(dir, file string) error{
		"Writable":      func(dir, _ string) error { return os.Chmod(dir, 0o777) },
		"Link":          func(dir, _ string) error { return os.Symlink("/etc", filepath.Join(dir, "data")) },
		"FolderLink":    func(dir, _ string) error { return errors.Join(os.Rename(dir, dir+"2"), os.Symlink(dir+"2", dir)) },
		"OfOther":       func(dir, file string) error { return os.Chown(file, somebody, -1) },
		"FolderOfOther": func(dir, file string) error { return os.Chown(dir, somebody, -1) },
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasSuffix(name, "OfOther") && os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			dir, file := plant(t)
			if err := spoil(dir, file); err != nil {
				t.Fatal(err)
			}
			if err := MakeOwn(dir); !errors.Is(err, ErrForeign) {
				t.Errorf("got %v, want that it is foreign", err)
			}
			if _, err := Start(t.Context(), Options{Dir: dir, Durable: true}); !errors.Is(err, ErrForeign) {
				t.Errorf("a start: got %v, want that it is foreign", err)
			}
		})
	}
}

// An empty folder that a link leads to keeps its mode.
func TestMakeOwn_LinkToEmpty(t *testing.T) {
	dir := t.TempDir()
	link, err := filepath.Join(t.TempDir(), "link"), os.Chmod(dir, 0o755)
	if err := errors.Join(err, os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	if err := MakeOwn(link + "/"); !errors.Is(err, ErrForeign) {
		t.Errorf("got %v, want that it is foreign", err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("it has mode %v, %v, want 0755", info.Mode(), err)
	}
}

func TestOwnDSN(t *testing.T) {
	base := t.TempDir()
	short, long, link := filepath.Join(base, "own"), filepath.Join(base, strings.Repeat("long", 30)), filepath.Join(base, "link")
	if err := errors.Join(MakeOwn(short), MakeOwn(long), os.Symlink(base, link)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{short, long} {
		dsn, err := OwnDSN(dir, "kith")
		if err != nil {
			t.Fatal(err)
		}
		// Another name and another temp folder lead to the same socket.
		t.Setenv("TMPDIR", base)
		if again, err := OwnDSN(filepath.Join(link, filepath.Base(dir)), "kith"); err != nil || again != dsn {
			t.Errorf("got %s, %v, want %s", again, err, dsn)
		}
		f, err := newFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		if want := "root@unix(" + f.run + "/mysqld.sock)/kith"; dsn != want || len(f.socket()) > socketLimit {
			t.Errorf("got %s, want %s", dsn, want)
		}
		if err := os.Mkdir(f.run, 0o755); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(f.run)
		if _, err := OwnDSN(dir, "kith"); !errors.Is(err, ErrForeign) {
			t.Errorf("got %v, want that others may enter the folder of the socket", err)
		}
	}
}
