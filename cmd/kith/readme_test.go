package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kith/repo/accepttest"
	"kith/repo/dbtest"
	"kith/repo/memcachetest"
)

// TestREADME runs the blocks of README.md as a reader comes to them, in one shell,
// beside the servers that they start, with a small graph in place of the real one.
// A block is run unless it is among notRun.
func TestREADME(t *testing.T) {
	newReader(t, smallGraph).read(blocks(t))
}

// TestAccept_README runs them with the real graph, whose numbers README.md shows.
func TestAccept_README(t *testing.T) {
	accepttest.Long(t)
	real := accepttest.File(t, "ego-twitter.txt.gz")
	newReader(t, func(t *testing.T, path string) map[string]string {
		text, err := os.ReadFile(real)
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return nil
	}).read(blocks(t))
}

// notRun are the blocks that are not run, by how they begin, and why; with them
// what is done instead.
var notRun = []struct {
	begins, why string
	instead     func(r *reader, b block)
}{
	{"relation", "it is a drawing", func(*reader, block) {}},
	{"a post", "it is a drawing", func(*reader, block) {}},
	{"make run", "it installs packages and builds into the tree, and make test runs this test", (*reader).makeRun},
	{"KITH_TEST_MYSQL_DSN=", "it runs all tests, this one too", (*reader).otherServer},
}

// before is what README.md says in words before a block.
var before = map[string]func(r *reader){
	"mkdir -p graph":  (*reader).stop, // "Stop the demo"
	"cd graph":        (*reader).putGraph,
	"kith migrate up": (*reader).production,
}

// block is a piece of README.md that stands as code.
type block struct {
	at    int // its first line, from 1
	lines []string
}

func (b block) begins(with string) bool { return strings.HasPrefix(b.lines[0], with) }

// blocks reads the blocks in their order: what is indented by four.
func blocks(t *testing.T) (out []block) {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	open := false
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "```") {
			t.Fatalf("README.md:%d: indent code by four, so that it is found and run", i+1)
		}
		code, indented := strings.CutPrefix(line, "    ")
		if indented && !open {
			out = append(out, block{at: i + 1})
		}
		if open = indented; open {
			out[len(out)-1].lines = append(out[len(out)-1].lines, code)
		}
	}
	return out
}

// step is a command with the output that is shown under it.
type step struct {
	at      int
	command string
	shown   string
	checked bool // output is shown, or would be
}

// steps are the commands of a block. Lines after a prompt are commands or their
// output; those before the first, or where there is none, are typed as they are.
func (b block) steps() (out []step) {
	for i, line := range b.lines {
		command, prompt := strings.CutPrefix(line, "$ ")
		switch {
		case prompt:
			out = append(out, step{at: b.at + i, command: command, checked: true})
		case len(out) > 0 && out[len(out)-1].checked:
			out[len(out)-1].shown += line + "\n"
		default:
			out = append(out, step{at: b.at + i, command: line})
		}
	}
	return out
}

// reader is somebody who types what README.md says: commands in one terminal,
// servers in others.
type reader struct {
	t         *testing.T
	dir       string
	env       []string
	graph     func(t *testing.T, path string) (numbers map[string]string)
	numbers   map[string]string // those of the real graph, and what is right here
	terminal  *shell
	running   []*process
	addresses map[string]string // of this machine for those of README.md
}

// newReader makes a folder with bin/kith in it, which is this test binary.
func newReader(t *testing.T, graph func(t *testing.T, path string) map[string]string) *reader {
	t.Helper()
	r := &reader{t: t, dir: t.TempDir(), graph: graph, addresses: map[string]string{}}
	bin := filepath.Join(r.dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.Args[0], filepath.Join(bin, "kith")); err != nil {
		t.Fatal(err)
	}
	r.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "LC_ALL=C", "KITH_LISTEN=127.0.0.1:0"}
	r.terminal = newShell(t, r.dir, r.env)
	return r
}

func (r *reader) read(all []block) {
	r.t.Helper()
	done := map[string]bool{}
	for _, b := range all {
		r.t.Logf("README.md:%d: %s", b.at, b.lines[0])
		for words, prepare := range before {
			if b.begins(words) {
				done[words] = true
				prepare(r)
			}
		}
		run := r.block
		for _, not := range notRun {
			if b.begins(not.begins) {
				done[not.begins] = true
				r.t.Logf("  is not run: %s", not.why)
				run = func(b block) { not.instead(r, b) }
			}
		}
		if run(b); r.t.Failed() {
			r.t.FailNow() // what follows rests on it
		}
	}
	if len(done) != len(notRun)+len(before) {
		r.t.Errorf("README.md has only the blocks %v of those that this test knows by their first words", done)
	}
	r.stop()
}

// serverRE matches a command that goes on until it is stopped.
var serverRE = regexp.MustCompile(`\S*kith (dev|serve|cron)( -.*|\s*#.*|)$`)

// ready are the words that a server says when it answers; the address follows.
var ready = map[string]string{"dev": "kith answers on http://", "serve": "msg=serving address=", "cron": `msg="running jobs"`}

func (r *reader) block(b block) {
	r.t.Helper()
	for _, s := range b.steps() {
		for shown, here := range r.addresses {
			s.command, s.shown = strings.ReplaceAll(s.command, shown, here), strings.ReplaceAll(s.shown, shown, here)
		}
		for shown, here := range r.numbers {
			s.shown = strings.ReplaceAll(s.shown, shown, here)
		}
		if found := serverRE.FindStringSubmatch(s.command); found != nil {
			r.start(s.command, found[1])
			continue
		}
		out, code := r.terminal.run(s.command)
		switch {
		case code != 0:
			r.t.Errorf("README.md:%d: %s\nends with exit code %d and says\n%s", s.at, s.command, code, r.terminal.complaints())
		case s.checked && !alike(s.shown, out):
			r.t.Errorf("README.md:%d: %s\nprints\n%s\nshown is\n%s", s.at, s.command, out, s.shown)
		}
	}
}

// duration is how long something took, which is another each time.
var duration = regexp.MustCompile(`[0-9.]+(ms|s)\b`)

// alike reports whether out is what is shown, where … stands for anything, durations
// are all the same, and spaces and line ends are there for the eye.
func alike(shown, out string) bool {
	squeeze := func(text string) string {
		return strings.Join(strings.Fields(duration.ReplaceAllString(text, "…")), "")
	}
	parts := strings.Split(squeeze(shown), "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile(`^` + strings.Join(parts, `.*`) + `$`).MatchString(squeeze(out))
}

// start starts a server in a terminal of its own and waits until it answers.
func (r *reader) start(line, kind string) {
	r.t.Helper()
	line = serverRE.ReplaceAllString(line, "exec ${0}") // so that Ctrl-C reaches it
	p := startCommand(r.t, shellCommand(r.t, r.dir, r.env, line))
	r.running = append(r.running, p)
	address, _, _ := strings.Cut(p.waitFor(r.t, ready[kind]), " ")
	if kind == "cron" {
		return
	}
	r.addresses["127.0.0.1:8080"] = address
	if _, code := r.terminal.run("B=http://" + address); code != 0 {
		r.t.Fatalf("the shell says %s", r.terminal.complaints())
	}
	for _, page := range []string{"livez", "readyz", "metrics"} {
		if page == "metrics" {
			metrics(r.t, address)
			continue
		}
		get(r.t, "http://"+address+"/"+page, "", nil)
	}
}

// stop types Ctrl-C in the terminals of all servers.
func (r *reader) stop() {
	r.t.Helper()
	for _, p := range slices.Backward(r.running) {
		if code := p.interrupt(r.t); code != 0 {
			r.t.Errorf("exit code %d after Ctrl-C, want 0; it says\n%s", code, p.said())
		}
	}
	r.running = nil
}

// makeRun looks into the Makefile, and does what its last line does.
func (r *reader) makeRun(block) {
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, want := range []string{"\nrun: need-server build\n\t@bin/kith dev\n", "-o bin/kith ./cmd/kith\n", "\ntest: "} {
		if !strings.Contains(string(text), want) {
			r.t.Errorf("the Makefile has no %q", want)
		}
	}
	r.start("bin/kith dev", "dev")
	said := r.running[0]
	said.waitFor(r.t, "# follow account ")
	if n := strings.Count(said.said(), "\ncurl "); n != 4 {
		r.t.Errorf("it prints %d curl lines, want the four that README.md says:\n%s", n, said.said())
	}
}

// otherServer looks at the name of the variable.
func (r *reader) otherServer(b block) {
	if !b.begins(dbtest.Env + "=") {
		r.t.Errorf("README.md:%d: tests are told their server by %s", b.at, dbtest.Env)
	}
}

// putGraph puts the graph where README.md says that it is.
func (r *reader) putGraph() {
	r.numbers = r.graph(r.t, filepath.Join(r.dir, "graph", "ego-twitter.txt.gz"))
}

// production makes the four settings to know.
func (r *reader) production() {
	r.stop()
	for _, name := range []string{"KITH_MYSQL_DSN", "KITH_MEMCACHED", "KITH_LISTEN", "KITH_TOKEN_SECRET"} {
		text, err := os.ReadFile("../../README.md")
		if err != nil || !strings.Contains(string(text), "\n| `"+name+"` | ") {
			r.t.Errorf("README.md does not explain %s, %v", name, err)
		}
	}
	more := append(on(dbtest.FreshDSN(r.t)), "KITH_MEMCACHED="+memcachetest.Addr(r.t))
	r.env = append(r.env, more...)
	r.terminal = newShell(r.t, r.dir, r.env)
}
