package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"kith/repo/accepttest"
	"kith/repo/memcachetest"
)

// walked is how often a request is made. What it passes runs as often at least.
const walked = 300

// What a request passes through, in files and functions of kith, and how often it
// waits for memcached and MySQL: figures of the design, as it costs a reader hops and
// a caller time. A kith that counts what it runs (go build -cover) serves the same
// request many times, and once none at all.
func TestAccept_Walk(t *testing.T) {
	accepttest.Long(t)
	env, dir := migrated(t), t.TempDir()
	var lines strings.Builder
	for i := range walked + 1 {
		fmt.Fprintf(&lines, "%d %d\n", i+2, i+3)
	}
	fmt.Fprintln(&lines, 1, walked+2)
	runKith(t, dir, env, strings.NewReader(lines.String()), "import", "-").wants(t)
	exe := filepath.Join(dir, "kith")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-cover", "-covermode=atomic", "-coverpkg=kith/...", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("build kith: %v: %s", err, out)
	}
	w := &walk{t: t, env: env, exe: exe, dir: dir, cache: memcachetest.Addr(t)}
	change := func(name string) func(int) *http.Request {
		return func(i int) *http.Request {
			return ask(t, http.MethodPost, "/api/v1/accounts/"+strconv.Itoa(i+2)+"/"+name)
		}
	}
	w.serve(change("follow")) // afterwards memcached has all rows
	w.serve(change("unfollow"))
	base := w.serve(nil)
	w.report("POST follow", base, change("follow"))
	var ids []string
	for i := range 20 {
		ids = append(ids, "id[]="+strconv.Itoa(i+2))
	}
	w.report("GET relationships", base, func(int) *http.Request {
		return ask(t, http.MethodGet, "/api/v1/accounts/relationships?"+strings.Join(ids, "&"))
	})
}

func ask(t *testing.T, method, path string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// walk serves requests with a kith that counts what it runs.
type walk struct {
	t     *testing.T
	env   []string
	exe   string
	dir   string
	cache string // the address of memcached
	runs  int
	// trips to memcached and MySQL while the requests were made.
	memcached, mysql int64
}

// serve starts a kith, makes the requests and returns how often each part of the
// code ran, by its position in the sources.
func (w *walk) serve(request func(i int) *http.Request) map[string]int {
	w.t.Helper()
	w.runs++
	covered := filepath.Join(w.dir, "cover"+strconv.Itoa(w.runs))
	if err := os.Mkdir(covered, 0o755); err != nil {
		w.t.Fatal(err)
	}
	token := strings.TrimSpace(runKith(w.t, w.dir, w.env, nil, "token", "--account", "1").wants(w.t))
	memcached := newCounted(w.t, w.cache)
	config, err := mysql.ParseDSN(dsnOf(w.t, w.env))
	if err != nil {
		w.t.Fatal(err)
	}
	database := newCounted(w.t, config.Addr)
	config.Net, config.Addr = "tcp", database.Addr()
	cmd := command(w.t, w.dir, append(w.env[:len(w.env):len(w.env)], "KITH_MYSQL_DSN="+config.FormatDSN(), "KITH_MEMCACHED="+memcached.Addr(), "GOCOVERDIR="+covered), "serve", "--log-level", "debug")
	cmd.Path, cmd.Args[0] = w.exe, w.exe
	p := startCommand(w.t, cmd)
	address, _, _ := strings.Cut(p.waitFor(w.t, "msg=serving address="), " ")
	send := func(i int) {
		r := request(i)
		r.URL.Scheme, r.URL.Host = "http", address
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			w.t.Fatal(err)
		}
		defer answer.Body.Close()
		if body, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			w.t.Fatalf("%s: %s: %s, %v", r.URL, answer.Status, body, err)
		}
	}
	for i := range walked {
		if request == nil {
			break
		}
		if i == walked/3 { // all connections are open, what is asked again is cached
			w.memcached, w.mysql = -memcached.trips.Load(), -database.trips.Load()
		}
		send(i)
	}
	w.memcached += memcached.trips.Load()
	w.mysql += database.trips.Load()
	if code := p.interrupt(w.t); code != 0 {
		w.t.Fatalf("kith ended with %d", code)
	}
	text, err := exec.CommandContext(w.t.Context(), "go", "tool", "covdata", "textfmt", "-i="+covered, "-o=/dev/stdout").Output()
	if err != nil {
		w.t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		// kith/app/api/call.go:12.34,56.7 statements count
		if fields := strings.Fields(line); len(fields) == 3 {
			n, err := strconv.Atoi(fields[2])
			if err != nil {
				w.t.Fatal(err)
			}
			counts[fields[0]] = n
		}
	}
	return counts
}

// report logs what each of many requests passed.
func (w *walk) report(name string, base map[string]int, request func(i int) *http.Request) {
	w.t.Helper()
	passed := map[string]map[string]bool{} // functions by file
	for at, n := range w.serve(request) {
		if n-base[at] < walked {
			continue
		}
		file, span, _ := strings.Cut(at, ":")
		begin, _, _ := strings.Cut(span, ".")
		line, err := strconv.Atoi(begin)
		if err != nil {
			w.t.Fatal(err)
		}
		if passed[file] == nil {
			passed[file] = map[string]bool{}
		}
		passed[file][w.function(file, line)] = true
	}
	functions, packages := 0, map[string]bool{}
	var list bytes.Buffer
	for _, file := range slices.Sorted(maps.Keys(passed)) {
		names := slices.Sorted(maps.Keys(passed[file]))
		functions += len(names)
		packages[filepath.Dir(file)] = true
		fmt.Fprintf(&list, "\n  %s: %s", strings.TrimPrefix(file, "kith/"), strings.Join(names, ", "))
	}
	const counted = walked - walked/3
	w.t.Logf("%s: %d files, %d functions, %d packages; %.1f trips to memcached, %.1f to MySQL%s", name, len(passed), functions, len(packages),
		float64(w.memcached)/counted, float64(w.mysql)/counted, list.String())
	if functions == 0 {
		w.t.Errorf("%s passes nothing", name)
	}
}

// function names the function that has a line of a file.
func (w *walk) function(file string, line int) string {
	w.t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, filepath.Join("..", "..", strings.TrimPrefix(file, "kith/")), nil, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || files.Position(f.Pos()).Line > line || files.Position(f.End()).Line < line {
			continue
		}
		return f.Name.Name + ":" + strconv.Itoa(files.Position(f.Pos()).Line)
	}
	return "a literal"
}

// counted is a way to a server that counts how often somebody waited for its answer.
type counted struct {
	net.Listener
	trips atomic.Int64
}

func newCounted(t *testing.T, to string) *counted {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := &counted{Listener: l}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go c.carry(client, to)
		}
	}()
	return c
}

func (c *counted) Addr() string { return c.Listener.Addr().String() }

func (c *counted) carry(client net.Conn, to string) {
	defer client.Close()
	network := "tcp"
	if strings.HasPrefix(to, "/") {
		network = "unix"
	}
	server, err := net.Dial(network, to)
	if err != nil {
		return
	}
	defer server.Close()
	var waiting atomic.Bool
	go func() {
		defer server.Close()
		buf := make([]byte, 1<<20)
		for {
			n, err := client.Read(buf)
			if err != nil {
				return
			}
			waiting.Store(true)
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 1<<20)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		if waiting.Swap(false) {
			c.trips.Add(1)
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}
