package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kith/repo/dbtest"
)

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	good := on("kith:hunter2@tcp(127.0.0.1:1)/kith")
	file := filepath.Join(dir, "kith.env")
	if err := os.WriteFile(file, []byte("KITH_LISTN=127.0.0.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		env   []string
		args  []string
		words []string
	}{
		{"no database", nil, []string{"serve"}, []string{"KITH_MYSQL_DSN", "kith dev"}},
		{"no database for import", nil, []string{"import", "-"}, []string{"KITH_MYSQL_DSN", "kith dev"}},
		{"no secret", good[:1], []string{"serve"}, []string{"KITH_TOKEN_SECRET"}},
		{"no secret for token", nil, []string{"token", "--account", "1"}, []string{"KITH_TOKEN_SECRET", "kith dev"}},
		{"a short secret", append(good, "KITH_TOKEN_SECRET=hunter2"), []string{"serve"}, []string{"KITH_TOKEN_SECRET", "7 bytes"}},
		{"a silly address", append(good, "KITH_LISTEN=8080"), []string{"serve"}, []string{"KITH_LISTEN"}},
		{"a silly number", append(good, "KITH_MYSQL_POOL=many"), []string{"serve"}, []string{"KITH_MYSQL_POOL"}},
		{"database away", good, []string{"serve"}, []string{"KITH_MYSQL_DSN", "127.0.0.1:1"}},
		{"a setting that is none", good, []string{"--config", file, "serve"}, []string{file, "line 1", "KITH_LISTN"}},
		{"no such command", nil, []string{"fly"}, []string{"fly", "--help"}},
		{"no such file", good, []string{"import", "nowhere.txt"}, []string{"nowhere.txt"}},
		{"memory", good, []string{"import", "--memory", "1MiB", "-"}, []string{"--memory"}},
		{"no account", good, []string{"token"}, []string{"--account"}},
		{"account 0", good, []string{"token", "--account", "0"}, []string{"account 0"}},
		{"scope", good, []string{"token", "--account", "1", "--scope", "fly"}, []string{"--scope", "fly"}},
		{"ttl", good, []string{"token", "--account", "1", "--ttl", "0s"}, []string{"--ttl"}},
		{"no server to ask", good[2:], []string{"health"}, []string{"/livez"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := runKith(t, dir, c.env, strings.NewReader(""), c.args...)
			r.wantsRefusal(t, c.words...)
			if strings.Contains(r.err+r.out, "hunter2") {
				t.Errorf("it shows a secret: %s", r.err)
			}
		})
	}
}

func TestRefuse_OneLine(t *testing.T) {
	var out strings.Builder
	refuse(&out, errors.Join(errors.New("a"), errors.New("b\nc")))
	if got, want := out.String(), "kith: a; b; c\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestToken_NothingElse(t *testing.T) {
	r := runKith(t, t.TempDir(), on("x/y")[1:2], nil, "token", "--account", "7", "--scope", "read", "--ttl", "1h")
	r.wants(t)
	if strings.Count(r.out, "\n") != 1 || strings.Count(r.out, ".") != 2 || strings.ContainsAny(strings.TrimSpace(r.out), " \t") {
		t.Errorf("standard output is %q, want a token and nothing else", r.out)
	}
	if r.err != "" {
		t.Errorf("standard error is %q, want nothing", r.err)
	}
}

func TestVersion(t *testing.T) {
	if out := runKith(t, t.TempDir(), nil, nil, "version").wants(t); !strings.HasPrefix(out, "kith ") || !strings.Contains(out, "go1.") {
		t.Errorf("got %q, want the version of kith and of Go", out)
	}
}

func TestHelp_EverySetting(t *testing.T) {
	out := runKith(t, t.TempDir(), nil, nil, "serve", "--help").wants(t)
	for _, name := range []string{"KITH_MYSQL_DSN", "KITH_MEMCACHED", "KITH_LISTEN", "KITH_TOKEN_SECRET", "KITH_FOLLOWING_LIMIT", "KITH_LOG_LEVEL", "KITH_CONFIG"} {
		if !strings.Contains(out, name) {
			t.Errorf("kith serve --help does not explain %s", name)
		}
	}
}

func TestMigrate(t *testing.T) {
	env, dir, n := on(dbtest.FreshDSN(t)), t.TempDir(), migrationCount(t)
	refused := runKith(t, dir, env, nil, "serve")
	refused.wantsRefusal(t, "older than this program", "kith migrate up")

	// Three at once: each migration is applied by one of them.
	results := make(chan result)
	for range 3 {
		go func() { results <- runKith(t, dir, env, nil, "migrate", "up") }()
	}
	applied := 0
	for range 3 {
		r := <-results
		if r.code != 0 {
			t.Errorf("exit code %d, want 0: %s", r.code, r.err)
		}
		applied += strings.Count(r.out, "applied ")
	}
	if applied != n {
		t.Errorf("%d migrations were applied, want %d", applied, n)
	}
	if out := runKith(t, dir, env, nil, "migrate", "status").wants(t); strings.Count(out, "  applied ") != n {
		t.Errorf("status says\n%s\nwant %d applied", out, n)
	}
	if out := runKith(t, dir, env, nil, "migrate", "down").wants(t); !strings.HasPrefix(out, "took back ") {
		t.Errorf("down says %q", out)
	}
	if out := runKith(t, dir, env, nil, "migrate", "status").wants(t); strings.Count(out, "  not applied") != 1 {
		t.Errorf("after down status says\n%s\nwant one not applied", out)
	}
	runKith(t, dir, env, nil, "account", "list").wantsRefusal(t, "kith migrate up")
}

func TestAccount(t *testing.T) {
	env, dir := migrated(t), t.TempDir()
	kith := func(args ...string) result { return runKith(t, dir, env, nil, append([]string{"account"}, args...)...) }
	if out := kith("add", "ada", "--id", "3000000000", "--display-name", "Ada L.", "--locked").wants(t); out != "3000000000\n" {
		t.Errorf("add with an id prints %q", out)
	}
	made := strings.TrimSpace(kith("add", "ben").wants(t))
	if made == "" || made == "3000000000" {
		t.Errorf("add prints the id %q", made)
	}
	kith("add", "ADA").wantsRefusal(t, "taken")
	kith("add", "cleo", "--id", "3000000000").wantsRefusal(t, "taken")
	kith("add", "no spaces").wantsRefusal(t, "Username")
	for _, who := range []string{"ada", "Ada", "3000000000"} {
		out := kith("show", who).wants(t)
		for _, want := range []string{"id            3000000000", "username      ada", `"Ada L."`, "locked        true", "followers     0"} {
			if !strings.Contains(out, want) {
				t.Errorf("show %s says\n%s\nwant %q in it", who, out, want)
			}
		}
	}
	kith("show", "nobody").wantsRefusal(t, "nobody", "is not found")
	kith("show", "99").wantsRefusal(t, "99", "not found")
	if out := kith("unlock", "ada").wants(t); out != "3000000000 ada open\n" {
		t.Errorf("unlock prints %q", out)
	}
	if out := kith("lock", made).wants(t); out != made+" ben locked\n" {
		t.Errorf("lock prints %q", out)
	}
	if out := kith("list").wants(t); strings.Count(out, "\n") != 2 || !strings.Contains(out, "ada") || !strings.Contains(out, "locked") {
		t.Errorf("list says\n%s", out)
	}
	if out := kith("list", "--limit", "1").wants(t); strings.Count(out, "\n") != 1 {
		t.Errorf("list of one says\n%s", out)
	}
}
