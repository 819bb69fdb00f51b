package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kith/app"
	"kith/app/graph"
	"kith/config"
	"kith/cron"
	"kith/repo"
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
		code  int
		words []string
	}{
		{"no database", nil, []string{"serve"}, exitUsage, []string{"KITH_MYSQL_DSN", "kith dev"}},
		{"no database for import", nil, []string{"import", "-"}, exitUsage, []string{"KITH_MYSQL_DSN", "kith dev"}},
		{"no secret", good[:1], []string{"serve"}, exitUsage, []string{"KITH_TOKEN_SECRET"}},
		{"no secret for token", nil, []string{"token", "--account", "1"}, exitUsage, []string{"KITH_TOKEN_SECRET", "kith dev"}},
		{"no database for token", good[1:2], []string{"token", "--account", "1"}, exitUsage, []string{"KITH_MYSQL_DSN", "kith dev"}},
		{"a short secret", append(good, "KITH_TOKEN_SECRET=hunter2"), []string{"serve"}, exitUsage, []string{"KITH_TOKEN_SECRET", "7 bytes"}},
		{"a silly address", append(good, "KITH_LISTEN=8080"), []string{"serve"}, exitUsage, []string{"KITH_LISTEN"}},
		{"a silly number", append(good, "KITH_MYSQL_POOL=many"), []string{"serve"}, exitUsage, []string{"KITH_MYSQL_POOL"}},
		{"database away", good, []string{"serve"}, exitDatabase, []string{"KITH_MYSQL_DSN", "127.0.0.1:1"}},
		{"database away for a command", good, []string{"account", "list"}, exitDatabase, []string{"KITH_MYSQL_DSN", "127.0.0.1:1"}},
		{"database away for migrate", good, []string{"migrate", "up"}, exitDatabase, []string{"KITH_MYSQL_DSN", "127.0.0.1:1"}},
		{"a setting that is none", good, []string{"--config", file, "serve"}, exitUsage, []string{file, "line 1", "KITH_LISTN", "is KITH_LISTEN meant?"}},
		{"a name that is none", append(good, "KITH_MEMCACHE=hunter2"), []string{"serve"}, exitUsage, []string{"KITH_MEMCACHE is not a setting", "is KITH_MEMCACHED meant?"}},
		{"a name that is none for a command", append(good, "KITH_MYSQL_DNS=hunter2"), []string{"version"}, exitUsage, []string{"is KITH_MYSQL_DSN meant?"}},
		{"no such command", nil, []string{"fly"}, exitUsage, []string{"fly", "--help"}},
		{"no such command to explain", nil, []string{"help", "fly"}, exitUsage, []string{"fly", "--help"}},
		{"no such flag", nil, []string{"account", "list", "--fly"}, exitUsage, []string{"--fly", "kith account list --help"}},
		{"no such job", nil, []string{"cron", "run"}, exitUsage, []string{"<name>", "kith cron run --help"}},
		{"no such file", good, []string{"import", "nowhere.txt"}, exitFailed, []string{"nowhere.txt"}},
		{"memory", good, []string{"import", "--memory", "1MiB", "-"}, exitUsage, []string{"--memory"}},
		{"no account", good, []string{"token"}, exitUsage, []string{"--account"}},
		{"account 0", good, []string{"token", "--account", "0"}, exitUsage, []string{"0 is not an account id"}},
		{"scope", good, []string{"token", "--account", "1", "--scope", "fly"}, exitUsage, []string{"--scope", "fly"}},
		{"ttl", good, []string{"token", "--account", "1", "--ttl", "0s"}, exitUsage, []string{"--ttl"}},
		{"no server to ask", good[2:], []string{"health"}, exitFailed, []string{"/livez"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := runKith(t, dir, c.env, strings.NewReader(""), c.args...)
			r.wantsExit(t, c.code, c.words...)
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
	env, dir := migrated(t), t.TempDir()
	runKith(t, dir, env, nil, "account", "add", "ada", "--id", "7").wants(t)
	r := runKith(t, dir, env, nil, "token", "--account", "7", "--scope", "read", "--ttl", "1h")
	r.wants(t)
	if strings.Count(r.out, "\n") != 1 || strings.Count(r.out, ".") != 2 || strings.ContainsAny(strings.TrimSpace(r.out), " \t") {
		t.Errorf("standard output is %q, want a token and nothing else", r.out)
	}
	if r.err != "" {
		t.Errorf("standard error is %q, want nothing", r.err)
	}
	refused := runKith(t, dir, env, nil, "token", "--account", "8")
	if refused.wantsRefusal(t, "--account", "no account 8"); refused.out != "" {
		t.Errorf("standard output is %q, want no token", refused.out)
	}
}

func TestVersion(t *testing.T) {
	out := runKith(t, t.TempDir(), nil, nil, "version").wants(t)
	if !strings.HasPrefix(out, "kith ") || !strings.Contains(out, "go1.") {
		t.Errorf("got %q, want the version of kith and of Go", out)
	}
	if flag := runKith(t, t.TempDir(), nil, nil, "--version").wants(t); flag != out {
		t.Errorf("--version prints %q, version %q", flag, out)
	}
}

func TestHelp(t *testing.T) {
	kith := func(args ...string) string { return runKith(t, t.TempDir(), nil, nil, args...).wants(t) }
	all := kith("--help")
	for _, same := range []string{kith(), kith("help")} {
		if same != all {
			t.Errorf("got\n%s\nwant what --help says:\n%s", same, all)
		}
	}
	for _, command := range []string{"serve", "migrate up", "cron run", "audit", "import", "export", "account list", "token", "dev", "health", "version", "help", "completion"} {
		if !regexp.MustCompile(`(?m)^  ` + command + ` +[A-Z]`).MatchString(all) {
			t.Errorf("%s is not listed with a sentence:\n%s", command, all)
		}
	}
	for _, e := range exits {
		if !strings.Contains(all, fmt.Sprintf("  %-5d %s\n", e.code, e.means)) {
			t.Errorf("exit code %d is not listed:\n%s", e.code, all)
		}
	}
	if got, want := kith("help", "account", "list"), kith("account", "list", "--help"); got != want || !strings.Contains(got, "Usage: kith account list") {
		t.Errorf("got\n%s\nwant what --help says:\n%s", got, want)
	}
}

// The codes that errors end the program with. Those of the program itself are
// tested where they come about: usage and no database by TestRefusals, faults by
// TestAudit, unusable input by TestImport_Unusable, partial by TestExport_Partial,
// busy and interrupted by TestCron_Busy.
func TestExitCode(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		want int
	}{
		{"nothing", over, nil, exitDone},
		{"anything", t.Context(), errors.New("x"), exitFailed},
		{"usage", t.Context(), fmt.Errorf("x: %w", wrong("y")), exitUsage},
		{"setting", t.Context(), fmt.Errorf("x: %w", &config.Error{Name: "KITH_X"}), exitUsage},
		{"unavailable", t.Context(), app.From(repo.ErrUnavailable), exitDatabase},
		{"partial", t.Context(), fmt.Errorf("%w: %w", graph.ErrPartial, repo.ErrUnavailable), exitPartial},
		{"rejects", t.Context(), fmt.Errorf("x: %w", graph.ErrRejects), exitInput},
		{"conflict", t.Context(), app.From(repo.ErrConflict), exitBusy},
		{"a job that another runs", t.Context(), fmt.Errorf("x: %w", &cron.BusyError{}), exitBusy},
		{"a signal before the end", over, fmt.Errorf("%w: %w", graph.ErrPartial, context.Canceled), exitInterrupted},
	} {
		if got := exitCode(c.ctx, c.err); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
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
	refused.wantsExit(t, exitDatabase, "older than this program", "kith migrate up")

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
	would := runKith(t, dir, env, nil, "migrate", "down")
	would.wantsExit(t, exitUsage, "would undo 000", "DROP TABLE", "--yes")
	if out := runKith(t, dir, env, nil, "migrate", "status").wants(t); strings.Count(out, "  applied ") != n {
		t.Errorf("without --yes status says\n%s\nwant %d applied", out, n)
	}
	if out := runKith(t, dir, env, nil, "migrate", "down", "--yes").wants(t); !strings.HasPrefix(out, "undone ") {
		t.Errorf("down says %q", out)
	}
	if out := runKith(t, dir, env, nil, "migrate", "status").wants(t); strings.Count(out, "  not applied") != 1 {
		t.Errorf("after down status says\n%s\nwant one not applied", out)
	}
	runKith(t, dir, env, nil, "account", "list").wantsExit(t, exitDatabase, "kith migrate up")
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

// An erased account stays erased, whatever would make it again.
func TestAccount_Bury(t *testing.T) {
	env, dir := migrated(t), t.TempDir()
	kith := func(stdin string, args ...string) result {
		return runKith(t, dir, env, strings.NewReader(stdin), args...)
	}
	kith("1 2\n2 1\n3 1\n1 3\n", "import", "-").wants(t)
	kith("", "account", "bury", "3").wantsExit(t, exitUsage, "would erase account 3, u3", "--yes")
	kith("", "account", "show", "3").wants(t)
	if out := kith("", "account", "bury", "3", "--yes").wants(t); !strings.HasPrefix(out, "erased account 3, u3") || !strings.Contains(out, "kith audit --repair") {
		t.Errorf("bury prints %q", out)
	}
	if out := kith("", "account", "bury", "4", "--yes").wants(t); !strings.HasPrefix(out, "erased account 4, which has no row") {
		t.Errorf("bury of nobody prints %q", out)
	}
	kith("", "audit", "--repair").wants(t)
	sum := kith("1 2\n2 1\n3 1\n1 4\n", "import", "-").wants(t)
	if count(t, sum, "rejected") != "2" || count(t, sum, "edges held already") != "2" || count(t, sum, "accounts made") != "0" {
		t.Errorf("the next import says\n%s", sum)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "stdin.rejects")); err != nil || !strings.Contains(string(text), `line 3: erased: "3 1"`) {
		t.Errorf("the rejects are %q, %v", text, err)
	}
	kith("", "account", "add", "eva", "--id", "3").wantsRefusal(t, "was erased")
	kith("", "account", "show", "3").wantsRefusal(t, "not found")
	kith("", "token", "--account", "3").wantsRefusal(t, "no account 3")
	if out := kith("", "audit").wants(t); count(t, out, "faults found") != "0" || count(t, out, "follows") != "2" {
		t.Errorf("the audit says\n%s", out)
	}
	kith("", "account", "bury", "0").wantsExit(t, exitUsage, "0 is not an account id")
}

// The shell puts the line into the environment and starts the program.
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	for line, want := range map[string]string{
		"kith acc": "account\n", "kith account l": "list\nlock\n", "kith migrate down --y": "--yes\n", "kith serve --log-level w": "warn\n", "kith completion z": "zsh\n",
	} {
		// Like a shell, with whatever is in the environment: nothing is refused here.
		env := []string{"COMP_LINE=" + line, "COMP_POINT=" + fmt.Sprint(len(line)), "KITH_LISTN=x"}
		if got := sorted(runKith(t, dir, env, nil).wants(t)); !slices.Equal(got, sorted(want)) {
			t.Errorf("%q goes on with %q, want %q", line, got, sorted(want))
		}
	}
	for shell, want := range map[string]string{"bash": "complete -o default", "zsh": "bashcompinit", "fish": "complete -f -c kith"} {
		if out := runKith(t, dir, nil, nil, "completion", shell).wants(t); !strings.Contains(out, "kith completion -c "+shell) {
			t.Errorf("%s gets\n%s", shell, out)
		}
		if out := runKith(t, dir, nil, nil, "completion", "-c", shell).wants(t); !strings.Contains(out, want) {
			t.Errorf("%s is given\n%s\nwant %q in it", shell, out, want)
		}
	}
	runKith(t, dir, nil, nil, "completion", "tcsh").wantsExit(t, exitUsage, "tcsh", "bash")
}
