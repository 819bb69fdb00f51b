package mysqld

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// only makes the programs of one folder the only ones there are.
func only(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir, before := t.TempDir(), folders
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	folders = nil
	t.Cleanup(func() { folders = before })
	return dir
}

func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		scripts map[string]string
		want    program
		err     error
	}{
		"Nothing":         {nil, program{}, ErrNoServer},
		"MariaDB":         {map[string]string{"mariadbd": "", "mysqld": ""}, program{"mariadbd", true}, nil},
		"MySQL":           {map[string]string{"mysqld": "echo 'mysqld  Ver 8.0.40 for Linux on x86_64'"}, program{"mysqld", false}, nil},
		"MariaDBAsMysqld": {map[string]string{"mysqld": "echo 'mysqld  Ver 10.3.39-MariaDB'"}, program{"mysqld", true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := only(t, c.scripts)
			got, err := find(t.Context())
			if c.want.path != "" {
				c.want.path = filepath.Join(dir, c.want.path)
			}
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %v, %v; want %v, %v", got, err, c.want, c.err)
			}
		})
	}
}

func TestFind_BesidePath(t *testing.T) {
	t.Setenv("PATH", "/nowhere")
	if _, err := find(t.Context()); err != nil {
		t.Errorf("a PATH without the sbin folders: got %v", err)
	}
}

func TestStart_NoServer(t *testing.T) {
	only(t, nil)
	_, err := Start(t.Context(), Options{})
	wants(t, err, ErrNoServer, "apt-get install mariadb-server")
}

func TestStart_NoInstaller(t *testing.T) {
	only(t, map[string]string{"mariadbd": ""})
	_, err := Start(t.Context(), Options{Dir: t.TempDir(), Durable: true})
	if err == nil || !strings.Contains(err.Error(), "mariadb-install-db is not") {
		t.Errorf("got %v, want that the installer is missing", err)
	}
}

// What a server prints before it has its log is not lost.
func TestStart_DiesAtOnce(t *testing.T) {
	only(t, map[string]string{"mariadbd": "echo unknown option; exit 1"})
	_, err := Start(t.Context(), Options{})
	wants(t, err, ErrDied, "it wrote no log", "unknown option")
}

// An install that fails leaves no data directory behind.
func TestStart_InstallFails(t *testing.T) {
	only(t, map[string]string{"mysqld": `[ "$2" = --version ] && echo Ver 8.0 || { echo no space; exit 1; }`})
	dir := t.TempDir()
	_, err := Start(t.Context(), Options{Dir: dir, Durable: true})
	if err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("got %v, want what the installer said", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the data directory is there: %v", err)
	}
}
