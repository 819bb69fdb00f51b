package server

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 25))
	s, err := Start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	for _, w := range []Which{MySQL, Memcached, Redis, RedisSynced} {
		if n, err := s.Memory(w); err != nil || n < 1<<20 {
			t.Errorf("memory of %s: got %d, %v; want at least 1 MB", w, n, err)
		}
	}
	versions, err := s.Versions(t.Context())
	for _, name := range []string{"mariadbd", "memcached", "redis-server"} {
		if versions[name] == "" {
			t.Errorf("version of %s: got nothing, %v", name, err)
		}
	}
	if err := s.CreateDatabase(t.Context(), "somewhere"); err != nil {
		t.Error(err)
	}
	stops(t, s)
}

// stops checks that nothing is left of the servers.
func stops(t *testing.T, s *Servers) {
	t.Helper()
	for range 2 {
		if err := s.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	for _, socket := range []string{s.Memcached(), s.Redis(), s.RedisSynced()} {
		if conn, err := net.Dial("unix", socket); err == nil {
			conn.Close()
			t.Errorf("%s: it answers", socket)
		}
	}
	if _, err := os.Stat(s.run); !os.IsNotExist(err) {
		t.Errorf("the folder of the sockets: got %v, want that it is gone", err)
	}
}

func TestStart_MissingProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Start(t.Context(), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "apt-get install memcached") {
		t.Errorf("got %v, want what to install", err)
	}
}
