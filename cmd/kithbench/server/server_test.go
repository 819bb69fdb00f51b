package server

import (
	"net"
	"os"
	"strings"
	"testing"
)

func TestStartAll(t *testing.T) {
	s, err := StartAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	stores := []*Store{s.Memcached, s.Redis, s.Synced}
	for _, store := range stores {
		if n, err := store.Resident(); err != nil || n < 1<<20 {
			t.Errorf("memory of %s: got %d, %v; want at least 1 MB", store.Socket, n, err)
		}
	}
	for _, name := range []string{"mariadbd", "memcached", "redis-server"} {
		if s.Versions[name] == "" {
			t.Errorf("got no version of %s", name)
		}
	}
	if dsn, err := s.CreateDatabase(t.Context(), "some-where"); err != nil || !strings.HasSuffix(dsn, "/some_where") {
		t.Errorf("create a database: got %s, %v", dsn, err)
	}
	for range 2 {
		if err := s.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	for _, store := range stores {
		if conn, err := net.Dial("unix", store.Socket); err == nil {
			conn.Close()
			t.Errorf("%s: it answers", store.Socket)
		}
	}
	if _, err := os.Stat(s.Dir); !os.IsNotExist(err) {
		t.Errorf("the folder of the servers: got %v, want that it is gone", err)
	}
}

func TestStartAll_MissingProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := StartAll(t.Context())
	if err == nil || !strings.Contains(err.Error(), "apt-get install memcached") {
		t.Errorf("got %v, want what to install", err)
	}
}
