package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"kith/repo/dbtest"
)

// objects reads one JSON object a line.
func objects(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(text) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, one)
	}
	return out
}

// has fails unless an object has exactly these names.
func has(t *testing.T, object map[string]any, names ...string) {
	t.Helper()
	slices.Sort(names)
	if got := slices.Sorted(maps.Keys(object)); !slices.Equal(got, names) {
		t.Errorf("got the names %q, want %q", got, names)
	}
}

func TestAccount_List(t *testing.T) {
	dsn, dir := dbtest.FreshDSN(t), t.TempDir()
	env := on(dsn)
	runKith(t, dir, env, nil, "migrate", "up").wants(t)
	for _, args := range [][]string{{"ada", "--id", "1", "--display-name", "A & <b>"}, {"Adam", "--id", "2", "--locked"}, {"ben", "--id", "1024"}, {"cleo", "--id", "1025"}} {
		runKith(t, dir, env, nil, append([]string{"account", "add"}, args...)...).wants(t)
	}
	for id, at := range map[string]string{"1": "2026-01-31 00:00:00", "2": "2026-02-01 00:00:00", "1024": "2026-02-01 12:00:00", "1025": "2026-02-02 00:00:00"} {
		spoil(t, dsn, `UPDATE account SET created_at = TIMESTAMPDIFF(SECOND, '1970-01-01 00:00:00', '`+at+`') * 1000 WHERE account_id = `+id)
	}
	list := func(args ...string) result {
		return runKith(t, dir, env, nil, append([]string{"account", "list"}, args...)...)
	}
	// The order is that of the table: 1024 lies in bucket 0, 1 and 1025 in bucket 1, 2 in bucket 2.
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "ben ada cleo Adam"},
		{[]string{"--name", "AD"}, "ada Adam"},
		{[]string{"--name", "ada", "--open"}, "ada"},
		{[]string{"--name", "adamant"}, ""},
		{[]string{"--locked"}, "Adam"},
		{[]string{"--created-after", "2026-02-01"}, "ben cleo Adam"},
		{[]string{"--created-after", "2026-02-01", "--created-before", "2026-02-01T12:00:00Z"}, "Adam"},
		{[]string{"--created-before", "2026-01-31T01:00:00+02:00"}, ""},
		{[]string{"--created-before", "2026-01-31T00:00:01"}, "ada"},
		{[]string{"--after", "1"}, "cleo Adam"},
		{[]string{"--after", "2"}, ""},
		{[]string{"--limit", "0"}, "ben ada cleo Adam"},
		{[]string{"--limit", "4"}, "ben ada cleo Adam"},
	} {
		r := list(c.args...)
		var names []string
		for line := range strings.Lines(r.wants(t)) {
			names = append(names, strings.Fields(line)[1])
		}
		if got := strings.Join(names, " "); got != c.want || r.err != "" {
			t.Errorf("%q lists %q and says %q, want %q", c.args, got, r.err, c.want)
		}
	}
	first := list("--limit", "1", "--name", "ad", "--json")
	if want := `{"id":"1","username":"ada","display_name":"A & <b>","locked":false,"created_at":"2026-01-31T00:00:00Z"}` + "\n"; first.wants(t) != want {
		t.Errorf("got  %swant %s", first.out, want)
	}
	if want := "kith: there are more: go on with --after 1\n"; first.err != want {
		t.Errorf("it says %q, want %q", first.err, want)
	}
	if next := list("--limit", "1", "--name", "ad", "--json", "--after", "1"); !strings.Contains(next.wants(t), `"username":"Adam"`) || next.err != "" {
		t.Errorf("the next page is %q and says %q", next.out, next.err)
	}
	list("--limit=-1").wantsExit(t, exitUsage, "--limit")
	list("--locked", "--open").wantsExit(t, exitUsage, "--locked", "--open")
	list("--created-after", "yesterday").wantsExit(t, exitUsage, "--created-after", "yesterday", "2026-01-31")
	shown := objects(t, runKith(t, dir, env, nil, "account", "show", "ada", "--json").wants(t))
	if has(t, shown[0], "id", "username", "display_name", "locked", "created_at", "friends_count", "followers_count", "following_count"); len(shown) != 1 {
		t.Errorf("got %d objects, want 1", len(shown))
	}
}

// Pages of the table are no pages of the list: filters look through as many as it takes.
func TestAccount_List_Many(t *testing.T) {
	env, dir := migrated(t), t.TempDir()
	runKith(t, dir, env, strings.NewReader(manyLines(2501)), "import", "-").wants(t)
	all := runKith(t, dir, env, nil, "account", "list", "--limit", "0").wants(t)
	if n := strings.Count(all, "\n"); n != 2501 {
		t.Errorf("%d accounts are listed, want 2501", n)
	}
	r := runKith(t, dir, env, nil, "account", "list", "--limit", "2000")
	if n := strings.Count(r.wants(t), "\n"); n != 2000 || !strings.Contains(r.err, "there are more") {
		t.Errorf("%d accounts are listed, want 2000; it says %q", n, r.err)
	}
	if out := runKith(t, dir, env, nil, "account", "list", "--name", "u1", "--limit", "2").wants(t); strings.Count(out, "\n") != 2 {
		t.Errorf("got\n%s\nwant two", out)
	}
}

func TestJSON(t *testing.T) {
	dsn, dir := dbtest.FreshDSN(t), t.TempDir()
	env := on(dsn)
	kith := func(args ...string) result { return runKith(t, dir, env, nil, args...) }
	if all := objects(t, kith("migrate", "status", "--json").wants(t)); all[0]["applied_at"] != nil || all[0]["applied"] != false {
		t.Errorf("the first migration is %v before any is applied", all[0])
	}
	kith("migrate", "up").wants(t)
	all := objects(t, kith("migrate", "status", "--json").wants(t))
	has(t, all[0], "version", "name", "applied", "applied_at")
	if len(all) != migrationCount(t) || all[0]["name"] != "00001_account.sql" || all[0]["applied_at"] == nil {
		t.Errorf("the first of %d migrations is %v", len(all), all[0])
	}

	runKith(t, dir, env, strings.NewReader("1 2\n3 2\n"), "import", "-").wants(t)
	kith("cron", "run", "trim").wants(t)
	for _, one := range objects(t, kith("cron", "list", "--json").wants(t)) {
		has(t, one, "job", "about", "schedule", "next_run_at", "goes_on_at", "last_run")
		last, ran := one["last_run"].(map[string]any)
		if ran != (one["job"] == "trim") {
			t.Errorf("the last run of %v is %v", one["job"], one["last_run"])
		}
		if ran {
			has(t, last, "started_at", "ended_at", "rows", "changed", "result", "failure", "holder")
		}
		if ran && last["result"] != "ok" {
			t.Errorf("trim ran as %v", last)
		}
	}

	spoil(t, dsn, `UPDATE relation SET followers = 9 WHERE account_id = 2`)
	spoil(t, dsn, `DELETE FROM relation WHERE account_id = 3`)
	r := kith("audit", "--json")
	if r.code != exitFaults {
		t.Errorf("exit code %d, want %d", r.code, exitFaults)
	}
	faults := objects(t, r.out)
	for _, f := range faults[:2] {
		has(t, f, "kind", "account", "other", "fault", "repaired", "note", "error", "rebuild")
	}
	summary, _ := faults[len(faults)-1]["summary"].(map[string]any)
	if len(faults) != 3 || summary["faults_found"] != 2.0 || summary["rows"] != 2.0 {
		t.Errorf("got %v, want two faults and a summary", faults)
	}
	one := objects(t, kith("audit", "--json", "--account", "2").out)
	if last := one[len(one)-1]; last["summary"] == nil {
		t.Errorf("the audit of one account ends with %v, want a summary", last)
	}
}
