package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kith/repo/dbtest"
	"kith/repo/schema"
	"kith/sql"
)

// The tests run kith as a program of its own. That program is this test
// binary: started with this in its environment it is kith, race detector
// included.
const beKith = "BE_KITH"

func TestMain(m *testing.M) {
	if os.Getenv(beKith) != "" {
		main()
		os.Exit(0)
	}
	http.DefaultClient.Timeout = patience
	dbtest.Main(m)
}

// patience is how long a test waits for any one thing before it fails. A process
// that goes on may live longer: tests of many steps do on a busy machine.
const patience = time.Minute

// testSecret signs the tokens of tests.
const testSecret = "a secret of the tests, long enough"

// command makes a kith that runs in dir with env and nothing else of ours, until
// the test ends at most. It is a process group of its own, as a terminal would make it.
func command(t *testing.T, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Dir = dir
	// Without GORACE a program with the race detector sleeps a second at its end.
	cmd.Env = append([]string{beKith + "=1", "GORACE=atexit_sleep_ms=0", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "HOME=" + dir}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// result is what a command that has ended left.
type result struct {
	out, err string
	code     int
}

// run runs a command to its end.
func runKith(t *testing.T, dir string, env []string, stdin io.Reader, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := command(t, dir, env, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatalf("start kith %s: %v", strings.Join(args, " "), err)
	}
	defer time.AfterFunc(patience, func() { cmd.Process.Kill() }).Stop()
	cmd.Wait() // an exit code, an error here, is in the result
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// wants fails unless the command went well, and returns its output.
func (r result) wants(t *testing.T) string {
	t.Helper()
	if r.code != 0 {
		t.Fatalf("exit code %d, want 0; it says: %s", r.code, r.err)
	}
	return r.out
}

// wantsRefusal fails unless the command ended with exit code 1 and one line
// that has all of words.
func (r result) wantsRefusal(t *testing.T, words ...string) {
	t.Helper()
	r.wantsExit(t, exitFailed, words...)
}

// wantsExit is wantsRefusal with another exit code.
func (r result) wantsExit(t *testing.T, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	last := strings.TrimSuffix(r.err, "\n")
	if strings.Contains(last, "\n") || !strings.HasPrefix(last, "kith: ") {
		t.Errorf("it says\n%s\nwant one line", r.err)
	}
	for _, word := range words {
		if !strings.Contains(last, word) {
			t.Errorf("it says %q, want %q in it", last, word)
		}
	}
}

// process is a kith that runs.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}

	mu    sync.Mutex
	text  strings.Builder // both outputs
	news  chan struct{}   // closed and replaced when there is more text
	lines sync.WaitGroup
}

// startKith starts a kith that goes on. The test kills it if it is still there
// at the end.
func startKith(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	return startCommand(t, command(t, dir, env, args...))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, ended: make(chan struct{}), news: make(chan struct{})}
	for _, open := range []func() (io.ReadCloser, error){p.cmd.StdoutPipe, p.cmd.StderrPipe} {
		pipe, err := open()
		if err != nil {
			t.Fatal(err)
		}
		p.lines.Go(func() { p.read(pipe) })
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.lines.Wait()
		p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-time.After(patience):
			p.cmd.Process.Kill()
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", strings.Join(cmd.Args, " "), p.said())
		}
	})
	return p
}

func (p *process) read(r io.Reader) {
	scanner := bufio.NewScanner(r)
	for scanner.Scan() {
		p.mu.Lock()
		p.text.WriteString(scanner.Text() + "\n")
		close(p.news)
		p.news = make(chan struct{})
		p.mu.Unlock()
	}
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// waitFor returns what follows words in the line that first has them.
func (p *process) waitFor(t *testing.T, words string) string {
	t.Helper()
	late := time.After(patience)
	for {
		p.mu.Lock()
		text, news := p.text.String(), p.news
		p.mu.Unlock()
		if _, after, ok := strings.Cut(text, words); ok {
			line, _, _ := strings.Cut(after, "\n")
			return line
		}
		select {
		case <-news:
		case <-p.ended:
			t.Fatalf("kith ended before it said %q:\n%s", words, p.said())
		case <-late:
			t.Fatalf("kith did not say %q in %v:\n%s", words, patience, p.said())
		}
	}
}

// interrupt is Ctrl-C; it returns the exit code.
func (p *process) interrupt(t *testing.T) int {
	t.Helper()
	p.cmd.Process.Signal(syscall.SIGINT)
	return p.wait(t)
}

func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("kith did not end in %v:\n%s", patience, p.said())
	}
	return p.cmd.ProcessState.ExitCode()
}

// on is the environment of a kith that uses a database.
func on(dsn string) []string {
	return []string{"KITH_MYSQL_DSN=" + dsn, "KITH_TOKEN_SECRET=" + testSecret, "KITH_LISTEN=127.0.0.1:0", "KITH_DRAIN=0s"}
}

// migrated is on for a new database with all tables.
func migrated(t *testing.T) []string {
	t.Helper()
	dsn := dbtest.FreshDSN(t)
	runKith(t, t.TempDir(), on(dsn), nil, "migrate", "up").wants(t)
	return on(dsn)
}

// migrationCount is how many migrations this program has.
func migrationCount(t *testing.T) int {
	t.Helper()
	s, err := schema.New(dbtest.DB(t), sql.Migrations)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
