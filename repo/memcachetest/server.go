// Package memcachetest gives tests a real memcached.
//
// [Start] runs a private one on a unix socket, which the test may stop, start
// again and freeze. [Addr] is for tests that only need some memcached: it
// returns KITH_TEST_MEMCACHED if that is set, else starts a private one.
package memcachetest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

// startTimeout bounds how long a server may take until it answers.
const startTimeout = 10 * time.Second

// Server is a private memcached. Its methods fail the test if they cannot do
// what they say. One goroutine at a time uses it.
type Server struct {
	// Addr is the path of its unix socket, which stays the same over restarts.
	Addr string

	tb   testing.TB
	args []string
	cmd  *exec.Cmd // nil while stopped
	out  *bytes.Buffer
}

// Addr returns the address of a memcached that other tests may use too, so
// keys should be fresh: KITH_TEST_MEMCACHED, or that of a private one.
func Addr(tb testing.TB) string {
	tb.Helper()
	if addr := os.Getenv("KITH_TEST_MEMCACHED"); addr != "" {
		return addr
	}
	return Start(tb).Addr
}

// Start runs a private memcached, with args after its own, until the test
// ends. It returns when the server answers.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	// Not tb.TempDir: a path with the name of the test may be too long for a
	// unix socket.
	dir, err := os.MkdirTemp("", "kith-memcached-")
	if err != nil {
		tb.Fatalf("make a folder for memcached: %v", err)
	}
	s := &Server{Addr: filepath.Join(dir, "socket"), tb: tb, args: args}
	tb.Cleanup(func() {
		s.Stop()
		os.RemoveAll(dir)
	})
	s.Restart()
	return s
}

// Restart stops the server, if it runs, and starts it again, empty, on the
// same address.
func (s *Server) Restart() {
	s.tb.Helper()
	s.Stop()
	path, err := exec.LookPath("memcached")
	if err != nil {
		s.tb.Fatalf("find memcached: %v; install it with: apt-get install memcached", err)
	}
	args := []string{"-s", s.Addr, "-a", "700", "-m", "64", "-t", "2"}
	if os.Getuid() == 0 {
		args = append(args, "-u", "root") // it refuses root otherwise
	}
	args = append(args, s.args...)
	cmd, out := exec.Command(path, args...), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = out, out, dieWithParent()
	if err := cmd.Start(); err != nil {
		s.tb.Fatalf("start memcached: %v", err)
	}
	s.cmd, s.out = cmd, out
	s.awaitAnswer()
}

// Stop kills the server, frozen or not, and returns when it is gone.
func (s *Server) Stop() {
	s.tb.Helper()
	if s.cmd == nil {
		return
	}
	s.signal(syscall.SIGKILL)
	s.cmd.Wait() // says that it was killed
	s.cmd = nil
}

// Pause freezes the server: it takes connections and bytes but answers
// nothing. It returns when the server has stopped running.
func (s *Server) Pause() {
	s.tb.Helper()
	s.signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(s.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		s.tb.Fatalf("pause memcached: status %v: %v", status, err)
	}
}

// Resume lets a frozen server go on, with what it was sent meanwhile.
func (s *Server) Resume() {
	s.tb.Helper()
	s.signal(syscall.SIGCONT)
}

func (s *Server) signal(sig syscall.Signal) {
	s.tb.Helper()
	if s.cmd == nil {
		s.tb.Fatalf("send %v to memcached: it is stopped", sig)
	}
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.tb.Fatalf("send %v to memcached: %v", sig, err)
	}
}

// awaitAnswer asks for the version until there is an answer.
func (s *Server) awaitAnswer() {
	s.tb.Helper()
	client := memcache.New(s.Addr)
	client.Timeout = startTimeout
	defer client.Close()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(startTimeout)
	for {
		err := client.Ping()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			s.Stop()
			s.tb.Fatalf("memcached does not answer after %v: %v\n%s", startTimeout, err, s.out)
		}
		<-tick.C
	}
}
