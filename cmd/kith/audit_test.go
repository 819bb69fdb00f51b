package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
	"kith/repo/dbtest"
)

func TestAudit(t *testing.T) {
	dsn, dir := dbtest.FreshDSN(t), t.TempDir()
	env := on(dsn)
	runKith(t, dir, env, nil, "migrate", "up").wants(t)
	if err := os.WriteFile(filepath.Join(dir, "follows.txt"), []byte("1 2 1600000000\n2 1 1600000001\n3 1\n4 1 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runKith(t, dir, env, nil, "import", "follows.txt").wants(t)
	out := runKith(t, dir, env, nil, "audit").wants(t)
	for name, want := range map[string]string{"rows": "4", "follows": "4", "faults found": "0", "passes over all rows": "1"} {
		if got := count(t, out, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	shown := runKith(t, dir, env, nil, "audit", "--account", "1").wants(t)
	for _, want := range []string{"account         1 ", "friends         1", "followers       3, kept 3", "followers, 2",
		"  2                    follows them 2020-09-13 12:26:40, they follow 2020-09-13 12:26:41", "  3                    unknown", "faults found              0"} {
		if !strings.Contains(shown, want) {
			t.Errorf("account 1 is shown as\n%s\nwant %q in it", shown, want)
		}
	}
	spoil(t, dsn, `UPDATE relation SET followers = 9 WHERE account_id = 1`)
	spoil(t, dsn, `UPDATE relation SET list = LEFT(list, 6) WHERE account_id = 2`)
	spoil(t, dsn, `DELETE FROM relation WHERE account_id = 4`)
	for _, args := range [][]string{{"audit"}, {"audit", "--repair", "--dry-run"}} {
		r := runKith(t, dir, env, nil, args...)
		r.wantsExit(t, exitFaults, "3 faults found, 0 repaired")
		for _, want := range []string{"count: account 1: friends, followers, following are 1, 9, 1, kept and archived are 1, 3, 1\n",
			"bytes: account 2: the list cannot be read", "edge: account 1 has 4 among its followers since 5 (1970-01-01 00:00:05), but 4 does not follow it\n"} {
			if !strings.Contains(r.out, want) {
				t.Errorf("%v says\n%s\nwant %q in it", args, r.out, want)
			}
		}
	}
	if out := runKith(t, dir, env, nil, "audit", "--repair").wants(t); count(t, out, "faults repaired") != "3" {
		t.Errorf("got\n%s\nwant 3 faults repaired", out)
	}
	if out := runKith(t, dir, env, nil, "audit").wants(t); count(t, out, "follows") != "3" {
		t.Errorf("got\n%s\nwant 3 follows left", out)
	}
	spoil(t, dsn, `DELETE FROM account WHERE account_id = 3`)
	r := runKith(t, dir, env, nil, "audit", "--account", "3")
	r.wantsExit(t, exitFaults, "2 faults found, 0 repaired")
	for _, want := range []string{"it has no row in the table account", "unknown: the row of account 1 names 3, but there is no such account\n"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("got\n%s\nwant %q in it", r.out, want)
		}
	}
	if out := runKith(t, dir, env, nil, "audit", "--repair").wants(t); count(t, out, "  unknown") != "2" || count(t, out, "  name") != "1" || count(t, out, "faults repaired") != "3" {
		t.Errorf("got\n%s\nwant 2 faults of the kind unknown repaired, and the name", out)
	}
	runKith(t, dir, env, nil, "cron", "run", "audit").wants(t)
	spoil(t, dsn, `UPDATE relation SET followers = 9 WHERE account_id = 1`)
	runKith(t, dir, append(env, "KITH_LOG_LEVEL=error"), nil, "cron", "run", "audit").wantsExit(t, exitFaults, "audit: 1 fault found, 0 repaired")
}

// A fault that takes more than a repair names the command that puts it right.
func TestAudit_Rebuild(t *testing.T) {
	help := strings.Join(strings.Fields(runKith(t, t.TempDir(), nil, nil, "audit", "--help").wants(t)), " ")
	if want := "--dry-run Write nothing, even with --repair or --rebuild. Without these two nothing is written either."; !strings.Contains(help, want) {
		t.Errorf("the help says %s\nwant %q, as is checked below", help, want)
	}
	dsn, dir := dbtest.FreshDSN(t), t.TempDir()
	env := on(dsn)
	runKith(t, dir, env, nil, "migrate", "up").wants(t)
	runKith(t, dir, env, strings.NewReader("1 2 1600000000\n1 3 1600000001\n4 1 5\n"), "import", "-").wants(t)
	spoil(t, dsn, `UPDATE relation SET list = REPLACE(list, UNHEX('00000002'), UNHEX('80000002')) WHERE account_id = 1`)
	const command = "audit --rebuild=1"
	for _, flag := range []string{"--dry-run", "--repair"} {
		r := runKith(t, dir, env, nil, "audit", flag)
		r.wantsExit(t, exitFaults, "2 faults found, 0 repaired")
		if n := strings.Count(r.out, "kith "+command+" "); n != 2 {
			t.Errorf("audit %s says\n%s\nwant the command for both faults", flag, r.out)
		}
	}
	for _, f := range objects(t, runKith(t, dir, env, nil, "audit", "--json").out)[:2] {
		if f["rebuild"] != "1" {
			t.Errorf("got %v, want the account to rebuild", f)
		}
	}
	args := strings.Fields(command)
	runKith(t, dir, env, nil, append(args, "--account", "1")...).wantsExit(t, exitUsage, "can't be used together")
	runKith(t, dir, env, nil, append(args, "--dry-run")...).wantsExit(t, exitFaults, "1 fault found, 0 repaired")
	if out := runKith(t, dir, env, nil, args...).wants(t); !strings.Contains(out, "1 of them were put back") || count(t, out, "faults repaired") != "1" {
		t.Errorf("got\n%s\nwant the follow back", out)
	}
	if out := runKith(t, dir, env, nil, "audit").wants(t); count(t, out, "follows") != "3" || count(t, out, "faults found") != "0" {
		t.Errorf("got\n%s\nwant 3 follows and no fault", out)
	}
}

// An account that does not exist is no account without faults.
func TestAudit_NoAccount(t *testing.T) {
	env, dir := migrated(t), t.TempDir()
	runKith(t, dir, env, nil, "account", "add", "ada", "--id", "5").wants(t)
	commands := [][]string{{"audit"}, {"audit", "--repair"}, {"cron", "run", "trim", "--dry-run"}}
	for _, job := range []string{"trim", "affinity", "suggest", "audit", "expire", "checkpoint"} {
		commands = append(commands, []string{"cron", "run", job})
	}
	for _, args := range commands {
		runKith(t, dir, env, nil, append(args, "--account", "77")...).wantsRefusal(t, "no account 77")
		runKith(t, dir, env, nil, append(args, "--account", "0")...).wantsExit(t, exitUsage, "0 is not an account id")
		runKith(t, dir, env, nil, append(args, "--account", "5")...).wants(t) // who follows nobody yet
	}
}

// What an audit by the clock finds is in the metrics, the log and the list of the
// jobs, for whoever wants to be woken.
func TestAudit_Scheduled(t *testing.T) {
	dsn, dir := dbtest.FreshDSN(t), t.TempDir()
	env := append(never(on(dsn)), "KITH_ADMIN_LISTEN=127.0.0.1:0")
	runKith(t, dir, env, nil, "migrate", "up").wants(t)
	runKith(t, dir, env, strings.NewReader("1 2\n"), "import", "-").wants(t)
	spoil(t, dsn, `UPDATE relation SET followers = 9 WHERE account_id = 2`)
	quiet := startKith(t, dir, env, "cron")
	address, _, _ := strings.Cut(quiet.waitFor(t, "msg=admin address="), " ")
	quiet.waitFor(t, `msg="running jobs"`)
	if text := metrics(t, address); !strings.Contains(text, `kith_job_runs_total{job="audit",result="failed"} 0`) {
		t.Errorf("before any run the metrics lack the 0 from which an increase is seen:\n%s", text)
	}
	p := startKith(t, dir, append(env, "KITH_CRON_AUDIT=* * * * * *"), "cron")
	address, _, _ = strings.Cut(p.waitFor(t, "msg=admin address="), " ")
	p.waitFor(t, `level=WARN msg="audit found a fault" job=audit kind=count account=2`)
	if line := p.waitFor(t, `level=ERROR msg="job failed" job=audit`); !strings.Contains(line, "1 fault found, 0 repaired") {
		t.Errorf("the log says %q, want how many faults", line)
	}
	if text := metrics(t, address); strings.Contains(text, `kith_job_runs_total{job="audit",result="failed"} 0`) || !strings.Contains(text, `kith_job_runs_total{job="audit",result="failed"} `) {
		t.Errorf("the metrics lack the failure:\n%s", text)
	}
	waitListed(t, dir, env, "audit", "failed: 1 fault found, 0 repaired")
}

// spoil changes one row behind the program's back.
func spoil(t *testing.T, dsn, statement string) {
	t.Helper()
	var pool *sqlx.DB
	pool, err := db.Open(t.Context(), db.Config{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	res, err := pool.Exec(statement)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := res.RowsAffected(); n != 1 || err != nil {
		t.Fatalf("%s: %d rows, %v", statement, n, err)
	}
}

// What is planted into the rows about posts is found, repaired, and found no more.
func TestAudit_Posts(t *testing.T) {
	dsn, dir := dbtest.FreshDSN(t), t.TempDir()
	env := on(dsn)
	runKith(t, dir, env, nil, "migrate", "up").wants(t)
	for _, name := range []string{"ada", "bob"} {
		runKith(t, dir, env, nil, "account", "add", name).wants(t)
	}
	lines := `{"key":"a","account":"@ada","text":"one","created_at":"2026-01-01T00:00:00Z"}
{"key":"b","account":"@bob","text":"two","created_at":"2026-01-02T00:00:00Z","reply_to":"a"}
{"key":"c","account":"@bob","created_at":"2026-01-03T00:00:00Z","repost_of":"a"}
`
	runKith(t, dir, env, strings.NewReader(lines), "post", "import", "-").wants(t)
	if out := runKith(t, dir, env, nil, "audit").wants(t); count(t, out, "posts") != "3" || count(t, out, "faults found") != "0" {
		t.Fatalf("got\n%s\nwant 3 posts without a fault", out)
	}
	spoil(t, dsn, `DELETE FROM reply`)
	spoil(t, dsn, `UPDATE author_feed SET statuses = 9 WHERE statuses = 1`)
	spoil(t, dsn, `DELETE FROM mark WHERE kind = 2`)
	for _, args := range [][]string{{"audit"}, {"audit", "--repair", "--dry-run"}} {
		r := runKith(t, dir, env, nil, args...)
		r.wantsExit(t, exitFaults, "4 faults found, 0 repaired")
		for _, want := range []string{"the feed does not agree with its posts: it counts 9 posts, there are 1\n", "counts 1 replies, 1 reposts, 0 favourites; there are 0, 1, 0\n",
			"does not stand at post", "mark: account ", "no mark says that "} {
			if !strings.Contains(r.out, want) {
				t.Errorf("%v says\n%s\nwant %q in it", args, r.out, want)
			}
		}
	}
	runKith(t, dir, append(env, "KITH_LOG_LEVEL=error"), nil, "cron", "run", "audit").wantsExit(t, exitFaults, "audit: 4 faults found, 0 repaired")
	if out := runKith(t, dir, env, nil, "audit", "--repair").wants(t); count(t, out, "faults repaired") != "4" {
		t.Errorf("got\n%s\nwant 4 faults repaired", out)
	}
	if out := runKith(t, dir, env, nil, "audit").wants(t); count(t, out, "faults found") != "0" {
		t.Errorf("got\n%s\nwant no fault left", out)
	}
}
