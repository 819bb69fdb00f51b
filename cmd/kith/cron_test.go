package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"kith/app/graph"
	"kith/cron"
)

// crowds is a file in which accounts 1 to n are followed by 30 others each: under
// a cap of 15 that is what an import leaves to trim.
func crowds(n int) string {
	var out strings.Builder
	for star := 1; star <= n; star++ {
		for f := range 30 {
			fmt.Fprintf(&out, "%d %d %d\n", 1000+f, star, 1_600_000_000+f)
		}
	}
	return out.String()
}

// manyLines is a file in which account 1 follows the accounts 2 to n.
func manyLines(n int) string {
	var out strings.Builder
	for id := 2; id <= n; id++ {
		fmt.Fprintf(&out, "1 %d\n", id)
	}
	return out.String()
}

// never is the environment of jobs that run by hand only.
func never(env []string) []string {
	for _, name := range []string{"TRIM", "AFFINITY", "SUGGEST", "AUDIT", "EXPIRE"} {
		env = append(env, "KITH_CRON_"+name+"=off")
	}
	return env
}

// listedJob is the line of a job in the table.
func listedJob(t *testing.T, table, name string) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^` + name + ` .*$`).FindString(table)
	if line == "" {
		t.Fatalf("the table has no %s:\n%s", name, table)
	}
	return line
}

func TestCron_RunAndList(t *testing.T) {
	env, dir := append(migrated(t), "KITH_LIST_CAP=15"), t.TempDir()
	runKith(t, dir, env, strings.NewReader(crowds(3)), "import", "-").wants(t)
	before := runKith(t, dir, env, nil, "cron", "list").wants(t)
	if line := listedJob(t, before, "trim"); !strings.Contains(line, "*/5 * * * *") || !strings.Contains(line, "never") {
		t.Errorf("before any run: %s", line)
	}
	if line := listedJob(t, runKith(t, dir, never(env), nil, "cron", "list").wants(t), "expire"); !strings.Contains(line, " off ") {
		t.Errorf("a job that is off: %s", line)
	}
	dry := runKith(t, dir, env, nil, "cron", "run", "trim", "--dry-run")
	if out := dry.wants(t); !strings.Contains(out, "3 would be changed, in ") || strings.Count(dry.err, "would be trimmed") != 3 {
		t.Errorf("a dry run says %q and %q", out, dry.err)
	}
	if again := runKith(t, dir, env, nil, "cron", "list").wants(t); listedJob(t, again, "trim")[:30] != listedJob(t, before, "trim")[:30] {
		t.Errorf("a dry run left a run: %s", again)
	}
	if out := runKith(t, dir, env, nil, "cron", "run", "trim", "--account", "1").wants(t); !strings.HasPrefix(out, "trim: 1 rows looked at, 1 changed, in ") {
		t.Errorf("one account: %q", out)
	}
	if out := runKith(t, dir, env, nil, "cron", "run", "trim").wants(t); !strings.Contains(out, "rows looked at, 2 changed, in ") {
		t.Errorf("all: %q", out)
	}
	for _, name := range []string{"expire", "affinity", "suggest", "audit", "checkpoint"} {
		runKith(t, dir, env, nil, "cron", "run", name).wants(t)
	}
	after := runKith(t, dir, env, nil, "cron", "list").wants(t)
	if line := listedJob(t, after, "trim"); !regexp.MustCompile(`^trim +\*/5 \* \* \* \* +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\S+ +\d+ +2 +ok +\d{4}`).MatchString(line) {
		t.Errorf("after the run: %s", line)
	}
	if out := runKith(t, dir, env, nil, "export").wants(t); strings.Count(out, "\n") != 90 {
		t.Errorf("after the trim %d follows are exported, want 90", strings.Count(out, "\n"))
	}
}

func TestCron_Refusals(t *testing.T) {
	env, dir := migrated(t), t.TempDir()
	runKith(t, dir, env, nil, "cron", "run", "sweep").wantsExit(t, exitUsage, "no job sweep", "trim", "expire", "checkpoint")
	runKith(t, dir, append(env, "KITH_CRON_TRIM=often"), nil, "cron").wantsExit(t, exitUsage, "KITH_CRON_TRIM", "often")
	runKith(t, dir, append(env, "KITH_ADMIN_LISTEN=nowhere"), nil, "cron").wantsExit(t, exitUsage, "KITH_ADMIN_LISTEN")
	runKith(t, dir, nil, nil, "cron").wantsExit(t, exitUsage, "KITH_MYSQL_DSN")
}

// Two processes want the same job, which takes a while.
func TestCron_Busy(t *testing.T) {
	env, dir := append(migrated(t), "KITH_LIST_CAP=15"), t.TempDir()
	runKith(t, dir, env, strings.NewReader(crowds(3)), "import", "-").wants(t)
	slow := startKith(t, dir, append(env, "KITH_CRON_RATE=1"), "cron", "run", "trim")
	waitListed(t, dir, env, "trim", "running on ")
	runKith(t, dir, env, nil, "cron", "run", "trim").wantsExit(t, exitBusy, "trim is being run by ", " since ", "--wait")
	if code := slow.interrupt(t); code != exitInterrupted {
		t.Errorf("exit code %d after Ctrl-C, want %d", code, exitInterrupted)
	}
	if said := slow.said(); !strings.Contains(said, "trim was stopped: the next run continues from there") {
		t.Errorf("Ctrl-C says %q", said)
	}
	if line := listedJob(t, runKith(t, dir, env, nil, "cron", "list").wants(t), "trim"); !strings.Contains(line, "stopped: the process was stopped (goes on at ") {
		t.Errorf("after Ctrl-C: %s", line)
	}
	start := time.Now()
	runKith(t, dir, env, nil, "cron", "run", "trim", "--wait").wants(t)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("the next run waits %v for a lease that was given back", took)
	}
}

// waitListed waits until the table says something about a job.
func waitListed(t *testing.T, dir string, env []string, name, words string) string {
	t.Helper()
	late := time.Now().Add(patience)
	for {
		line := listedJob(t, runKith(t, dir, env, nil, "cron", "list").wants(t), name)
		if strings.Contains(line, words) {
			return line
		}
		if time.Now().After(late) {
			t.Fatalf("in %v the table does not say %q: %s", patience, words, line)
		}
	}
}

// Two processes run the jobs; the one at work is killed, and the other goes on.
func TestCron_Killed(t *testing.T) {
	env, dir := append(never(migrated(t)), "KITH_LIST_CAP=15", "KITH_CRON_RATE=20", "KITH_CRON_TRIM=* * * * * *"), t.TempDir()
	runKith(t, dir, env, strings.NewReader(crowds(60)), "import", "-").wants(t)
	first := startKith(t, dir, env, "cron", "--lease-term", "3s")
	waitListed(t, dir, env, "trim", fmt.Sprintf("running on %s", strings.TrimSuffix(processName(), fmt.Sprint(syscall.Getpid()))))
	second := startKith(t, dir, append(env, "KITH_ADMIN_LISTEN=127.0.0.1:0"), "cron", "--lease-term", "3s", "--log-level", "debug")
	address, _, _ := strings.Cut(second.waitFor(t, "msg=admin address="), " ")
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	second.waitFor(t, "took over a lease that was not renewed")
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("taking over took %v with a term of 3s", took)
	}
	second.waitFor(t, `msg="job done" job=trim`)
	if text := metrics(t, address); !strings.Contains(text, `kith_job_runs_total{job="trim",result="ok"}`) {
		t.Errorf("the metrics lack the run:\n%s", text)
	}
	if code := second.interrupt(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if out := runKith(t, dir, env, nil, "cron", "run", "trim").wants(t); !strings.Contains(out, " 0 changed, ") {
		t.Errorf("afterwards there was something to trim: %s", out)
	}
}

// kith dev runs the jobs.
func TestCron_Dev(t *testing.T) {
	dir := t.TempDir()
	p, address := startDev(t, dir, "--cron-trim", "* * * * * *")
	late := time.Now().Add(patience)
	for !strings.Contains(metrics(t, address), `kith_job_runs_total{job="trim",result="ok"}`) {
		if time.Now().After(late) {
			t.Fatal("no job runs")
		}
	}
	if code := p.interrupt(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// A job that does not run on a terminal says what it did, and nothing before.
func TestJobProgress_NoTerminal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	show, end := jobProgress(f, "trim")
	if end(); show != nil {
		t.Error("progress is shown in a file")
	}
}

// The bar of a job does not end before the job does.
func TestShown(t *testing.T) {
	for _, c := range []struct {
		step cron.Step
		want graph.Progress
	}{
		{cron.Step{Rows: 10, Cursor: "x"}, graph.Progress{Phase: "trim", Done: 10}},
		{cron.Step{Rows: 10, Total: 10, Cursor: "x"}, graph.Progress{Phase: "trim", Done: 10, Total: 11}},
		{cron.Step{Rows: 10, Total: 10}, graph.Progress{Phase: "trim", Done: 10, Total: 10}},
	} {
		if got := shown("trim", c.step); got != c.want {
			t.Errorf("%+v is shown as %+v, want %+v", c.step, got, c.want)
		}
	}
	if units["trim"] == "" {
		t.Error("the progress of trim is not shown")
	}
}
