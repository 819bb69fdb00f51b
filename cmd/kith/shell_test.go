package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// shell is a terminal in which one command is typed after the other.
type shell struct {
	t    *testing.T
	in   io.Writer
	out  *bufio.Reader
	kill func()

	mu   sync.Mutex
	said bytes.Buffer // standard error since the last command
}

// shellCommand is a line for sh, in which kith is this test binary.
func shellCommand(t *testing.T, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	if len(args) > 0 {
		args = append([]string{"-c"}, args...)
	}
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{beKith + "=1", "GORACE=atexit_sleep_ms=0", "TMPDIR=" + os.TempDir(), "HOME=" + dir}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

func newShell(t *testing.T, dir string, env []string) *shell {
	t.Helper()
	cmd, s := shellCommand(t, dir, env), &shell{t: t}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.in, s.out, cmd.Stderr = in, bufio.NewReader(out), s
	s.kill = func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with what it runs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return s
}

// Write takes what commands say on standard error.
func (s *shell) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.Write(p)
}

// complaints is what the last command said on standard error.
func (s *shell) complaints() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// longest is how long a line may take: the real graph, under the race detector.
const longest = 5 * time.Minute

// run types a line and returns what it prints and its exit code.
func (s *shell) run(line string) (out string, code int) {
	s.t.Helper()
	s.mu.Lock()
	s.said.Reset()
	s.mu.Unlock()
	defer time.AfterFunc(longest, s.kill).Stop()
	mark := fmt.Sprintf("-- %d --", rand.Uint64())
	// The mark comes on a line of its own, whatever was printed.
	if _, err := fmt.Fprintf(s.in, "%s\nprintf '\\n%s%%d\\n' $?\n", line, mark); err != nil {
		s.t.Fatalf("%s: %v: %s", line, err, s.complaints())
	}
	for {
		text, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("%s: the shell has ended: %v: %s", line, err, s.complaints())
		}
		if number, ok := strings.CutPrefix(text, mark); ok {
			code, err := strconv.Atoi(strings.TrimSpace(number))
			if err != nil {
				s.t.Fatalf("%s: %q is no exit code", line, number)
			}
			return strings.TrimSuffix(out, "\n"), code
		}
		out += text
	}
}

// smallGraph writes a file of the kind of ego-twitter.txt.gz, with the two accounts
// that README.md asks about, and returns what stands here for its numbers there.
func smallGraph(t *testing.T, path string) map[string]string {
	t.Helper()
	const accounts, star = 300, 40981798
	rng := rand.New(rand.NewPCG(1, 2))
	lines, self := map[string]bool{}, 0
	for id := 1; id <= accounts; id++ {
		lines[fmt.Sprintf("%d %d\n", id, star)] = true // so everybody is there
		for range 20 {
			lines[fmt.Sprintf("%d %d\n", id, 1+rng.IntN(accounts))] = true
		}
	}
	for id := 1; id <= accounts; id++ {
		if lines[fmt.Sprintf("%d %d\n", id, id)] {
			self++
		}
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	for line := range lines {
		io.WriteString(z, line)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"1768149": strconv.Itoa(len(lines)), "1768135": strconv.Itoa(len(lines) - self), "81306": strconv.Itoa(accounts + 1),
		"self-follows              14": fmt.Sprintf("self-follows %d", self),
	}
}
