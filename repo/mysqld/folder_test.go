package mysqld

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestStart_UnusableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), "/proc/kith"} {
		_, err := Start(t.Context(), Options{Dir: dir, Durable: true})
		wants(t, err, ErrFolder, dir)
	}
}

func TestSweep(t *testing.T) {
	base, old := t.TempDir(), time.Now().Add(-2*sweepAge)
	folderOf := func(name string, age time.Time) string {
		dir := filepath.Join(base, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		lock := filepath.Join(dir, "lock")
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(lock, age, age); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	left := folderOf(throwawayPrefix+"left", old)
	kept := []string{folderOf(throwawayPrefix+"new", time.Now()), folderOf("other", old)}
	used, err := openFolder(folderOf(throwawayPrefix+"used", old))
	if err != nil {
		t.Fatal(err)
	}
	defer used.close()
	os.Chtimes(used.lock.Name(), old, old)

	sweep(base)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: got %v, want it gone", left, err)
	}
	for _, dir := range append(kept, used.dir) {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s: got %v, want it kept", dir, err)
		}
	}
}
