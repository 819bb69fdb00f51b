package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kith/repo/db"
)

// A small file with everything in it that a line can be; the server shows it in homes.
func TestPostImport(t *testing.T) {
	s := openSite(t, "1 2\n")
	file := `{"account":"2","text":"first","created_at":"2020-05-01T12:00:00Z","key":"a"}
{"account":"@u1","text":"second","created_at":"2020-05-01T12:00:01Z","reply_to":"a"}
{"account":"@u9","text":"nobody","created_at":"2020-05-01T12:00:01Z"}
`
	dry := runKith(t, s.dir, s.env, strings.NewReader(file), "post", "import", "--dry-run", "-").wants(t)
	if count(t, dry, "posts") != "2" || count(t, dry, "rejected") != "1" || count(t, dry, "rejects are in") != "stdin.rejects" {
		t.Errorf("the dry run prints\n%s", dry)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "posts.jsonl"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := s.kith("post", "import", "posts.jsonl").wants(t)
	for name, want := range map[string]string{"lines": "3", "rejected": "1", "posts new": "2", "posts held already": "0", "replies and reposts": "1", "rejects are in": "posts.jsonl.rejects"} {
		if got := count(t, sum, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, "posts.jsonl.rejects")); err != nil || !strings.HasPrefix(string(text), "line 3: there is no such account: ") {
		t.Errorf("the rejects are %q, %v", text, err)
	}
	var home []status
	get(t, s.base+"/timelines/home", s.token("1"), &home)
	if len(home) != 2 || home[1].Content != "<p>first</p>" || home[1].Replies != 1 || home[0].Content != "<p>second</p>" {
		t.Errorf("the home is %+v", home)
	}
	again := runKith(t, s.dir, s.env, zip(file), "post", "import", "-").wants(t)
	if count(t, again, "posts new") != "0" || count(t, again, "posts held already") != "2" {
		t.Errorf("again it prints\n%s", again)
	}
	s.kith("post", "import", "posts.jsonl", "--rejects", "posts.jsonl").wantsExit(t, exitUsage, "--rejects", "to be imported")
	s.kith("post", "import", "posts.jsonl", "--memory", "1KiB").wantsExit(t, exitUsage, "--memory")
	s.kith("post", "import", "nowhere").wantsRefusal(t, "nowhere")
	runKith(t, s.dir, s.env, strings.NewReader("1 2\n3 4\n"), "post", "import", "-").wantsExit(t, exitInput, "nothing was imported", "too many rejected lines")
}

// An import that is killed is completed by the next one.
func TestPostImport_Killed(t *testing.T) {
	env, dir := migrated(t), t.TempDir()
	runKith(t, dir, env, strings.NewReader(manyLines(500)), "import", "-").wants(t)
	var file strings.Builder
	const n = 20_000
	for i := range n {
		fmt.Fprintf(&file, `{"account":"%d","text":"post %d","created_at":"2020-05-01T12:%02d:%02dZ","key":"%d"`, i%500+1, i, i/60%60, i%60, i)
		if i%60 > 0 {
			fmt.Fprintf(&file, `,"reply_to":"%d"`, i/60*60)
		}
		fmt.Fprintln(&file, "}")
	}
	path := filepath.Join(dir, "posts.jsonl")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := startKith(t, dir, env, "post", "import", "posts.jsonl", "--temp-dir", "tmp")
	pool, err := db.Open(t.Context(), db.Config{DSN: dsnOf(t, env)})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for have := 0; have == 0; {
		select {
		case <-p.ended:
			t.Fatalf("it ended before it could be killed: %s", p.said())
		default:
		}
		if err := pool.Get(&have, `SELECT COUNT(*) FROM (SELECT 1 FROM post LIMIT 1) AS some`); err != nil {
			t.Fatal(err)
		}
	}
	p.cmd.Process.Kill()
	p.wait(t)
	if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	sum := runKith(t, dir, env, nil, "post", "import", "posts.jsonl").wants(t)
	if held := count(t, sum, "posts held already"); held == "0" {
		t.Errorf("it was killed before it had written anything:\n%s", sum)
	}
	var posts, replies, counted, statuses int
	for query, into := range map[string]*int{`SELECT COUNT(*) FROM post`: &posts, `SELECT COUNT(*) FROM reply`: &replies,
		`SELECT SUM(replies) FROM post`: &counted, `SELECT SUM(statuses) FROM author_feed`: &statuses} {
		if err := pool.Get(into, query); err != nil {
			t.Fatal(err)
		}
	}
	if want := n - (n+59)/60; posts != n || statuses != n || replies != want || counted != want {
		t.Errorf("%d posts, %d in feeds, %d replies, %d counted; want %d and %d", posts, statuses, replies, counted, n, want)
	}
}
