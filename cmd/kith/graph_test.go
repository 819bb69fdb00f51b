package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kith/app/graph"
	"kith/repo/dbtest"
)

// follows is a small file with everything in it that a line can be.
const follows = `# a comment
1 2 1600000000
2	1 1600000001
1,3

3 3
1 2 1600000000
4 1
not a line
5
0 1
5 99999999999999999999
`

// edges is what an export of it says.
var edges = []string{"1 2 1600000000", "1 3", "2 1 1600000001", "4 1"}

// count returns a number of the summary.
func count(t *testing.T, summary, name string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` +(\S+)$`).FindStringSubmatch(summary)
	if m == nil {
		t.Fatalf("the summary has no %q:\n%s", name, summary)
	}
	return m[1]
}

func sorted(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return lines
}

func TestImport_Export(t *testing.T) {
	env, dir := migrated(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "follows.txt"), []byte(follows), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := runKith(t, dir, env, nil, "import", "follows.txt").wants(t)
	for name, want := range map[string]string{
		"lines": "12", "comments and empty lines": "2", "rejected": "4", "self-follows": "1", "repeats": "1",
		"edges": "4", "edges new": "4", "accounts made": "4", "rejects are in": "follows.txt.rejects",
	} {
		if got := count(t, sum, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	rejects, err := os.ReadFile(filepath.Join(dir, "follows.txt.rejects"))
	if err != nil || bytes.Count(rejects, []byte("\n")) != 4 || !bytes.Contains(rejects, []byte("line 9: ")) {
		t.Errorf("rejects are %q, %v, want lines 9 to 12", rejects, err)
	}
	if out := runKith(t, dir, env, nil, "export").wants(t); !slices.Equal(sorted(out), edges) {
		t.Errorf("export is %q, want %q", sorted(out), edges)
	}
	if out := runKith(t, dir, env, nil, "account", "show", "u1").wants(t); !strings.Contains(out, "friends       1\nfollowers     2\nfollowing     2") {
		t.Errorf("account 1 is\n%s", out)
	}

	// Again, compressed, from standard input, and less patient with rejects.
	again := runKith(t, dir, env, zip(follows), "import", "--max-rejects", "4", "--rejects", "bad.txt", "--temp-dir", dir, "-").wants(t)
	if held, written := count(t, again, "edges held already"), count(t, again, "rows written"); held != "4" || written != "0" {
		t.Errorf("the second import finds %s edges and writes %s rows, want 4 and 0", held, written)
	}
	runKith(t, dir, env, strings.NewReader(follows), "import", "--max-rejects", "3", "-").wantsExit(t, exitInput, "line 12", "more than 3")
}

func zip(text string) io.Reader {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	io.WriteString(z, text)
	z.Close()
	return &out
}

// An exported file is an imported file.
func TestExport_File(t *testing.T) {
	env, dir := migrated(t), t.TempDir()
	runKith(t, dir, env, strings.NewReader(follows), "import", "-").wants(t)
	r := runKith(t, dir, env, nil, "export", "out.gz")
	if r.wants(t) != "" || !strings.Contains(r.err, "exported 4 follows") {
		t.Errorf("export to a file prints %q and says %q", r.out, r.err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) > 0 {
		t.Errorf("export leaves %v", left)
	}
	other := migrated(t)
	if sum := runKith(t, dir, other, nil, "import", "out.gz").wants(t); count(t, sum, "edges new") != "4" || count(t, sum, "rejected") != "0" {
		t.Errorf("the exported file is imported as\n%s", sum)
	}
	if out := runKith(t, dir, other, nil, "export", "-").wants(t); !slices.Equal(sorted(out), edges) {
		t.Errorf("export of the import is %q, want %q", sorted(out), edges)
	}
	runKith(t, dir, env, nil, "export", "nowhere/out").wantsRefusal(t, "nowhere/out")
	// A pipe or /dev/null is not replaced by a file.
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	runKith(t, dir, env, nil, "export", "pipe").wantsExit(t, exitUsage, "pipe is no file that can be replaced")
	if info, err := os.Stat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is now %v, %v", info, err)
	}
}

// Elsewhere than on a terminal progress is a line every few seconds.
func TestProgress_Lines(t *testing.T) {
	var out strings.Builder
	now := time.Unix(0, 0)
	p := &progress{to: &out, now: func() time.Time { return now }}
	for _, step := range []struct {
		at   graph.Progress
		wait time.Duration
	}{
		{graph.Progress{Phase: "read", Total: 1000}, time.Second},
		{graph.Progress{Phase: "read", Done: 100, Total: 1000}, 4 * time.Second},
		{graph.Progress{Phase: "read", Done: 500, Total: 1000}, time.Second},
		{graph.Progress{Phase: "read", Done: 600, Total: 1000}, time.Second},
		{graph.Progress{Phase: "export", Done: 1}, 10 * time.Second},
		{graph.Progress{Phase: "export", Done: 50}, 0},
	} {
		p.report(step.at)
		now = now.Add(step.wait)
	}
	p.end()
	want := "read: 500 of 1000 bytes (50%), 100 a second, 5s left\nexport: 50 edges, 5 a second\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// The rejects must not go where the lines come from.
func TestImport_RejectsIntoInput(t *testing.T) {
	env, dir := migrated(t), t.TempDir()
	path := filepath.Join(dir, "in.txt")
	if err := os.WriteFile(path, []byte("1 2\nbad\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, rejects := range []string{"in.txt", "./in.txt", "link"} {
		runKith(t, dir, env, nil, "import", "in.txt", "--rejects", rejects).wantsExit(t, exitUsage, "--rejects", "to be imported")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "1 2\nbad\n" {
		t.Errorf("the input is %q, %v", b, err)
	}
}

func TestImport_Empty(t *testing.T) {
	env, dir := migrated(t), t.TempDir()
	sum := runKith(t, dir, env, strings.NewReader(""), "import", "-").wants(t)
	if got := count(t, sum, "lines"); got != "0" {
		t.Errorf("%s lines in an empty file", got)
	}
}

// A file that is no follow graph is refused, and so is one that breaks off.
func TestImport_Unusable(t *testing.T) {
	env, dir := migrated(t), t.TempDir()
	all := runKith(t, dir, env, strings.NewReader("name,follows\nada,ben\n"), "import", "-", "--max-rejects=-1")
	all.wantsExit(t, exitInput, "nothing was imported", "too many rejected lines: 2")
	if count(t, all.out, "rejected") != "2" || count(t, all.out, "rejects are in") != "stdin.rejects" {
		t.Errorf("it prints\n%s", all.out)
	}
	whole, err := io.ReadAll(zip(strings.Repeat("1 2\n2 1\n", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	runKith(t, dir, env, bytes.NewReader(whole[:len(whole)-9]), "import", "-").wantsExit(t, exitInput, "nothing was imported", "breaks off")
	if out := runKith(t, dir, env, nil, "account", "list").wants(t); out != "" {
		t.Errorf("there are accounts:\n%s", out)
	}
}

func TestImport_DryRun(t *testing.T) {
	env, dir := migrated(t), t.TempDir()
	sum := runKith(t, dir, env, strings.NewReader(follows), "import", "--dry-run", "-").wants(t)
	if count(t, sum, "edges") != "4" || count(t, sum, "rejected") != "4" || count(t, sum, "accounts to be made") != "4" {
		t.Errorf("it prints\n%s", sum)
	}
	if out := runKith(t, dir, env, nil, "account", "list").wants(t); out != "" {
		t.Errorf("there are accounts:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(dir, "stdin.rejects")); err != nil {
		t.Errorf("there are no rejects: %v", err)
	}
}

// An export without the follows of one account says so by its exit code.
func TestExport_Partial(t *testing.T) {
	dsn, dir := dbtest.FreshDSN(t), t.TempDir()
	env := on(dsn)
	runKith(t, dir, env, nil, "migrate", "up").wants(t)
	runKith(t, dir, env, strings.NewReader("1 2\n3 2\n"), "import", "-").wants(t)
	spoil(t, dsn, `UPDATE relation SET list = LEFT(list, 6) WHERE account_id = 3`)
	r := runKith(t, dir, env, nil, "export", "-")
	if r.code != exitPartial || r.out != "1 2\n" || !strings.Contains(r.err, "all but the follows of 1 accounts") {
		t.Errorf("exit code %d, want %d; it prints %q and says %q", r.code, exitPartial, r.out, r.err)
	}
}
