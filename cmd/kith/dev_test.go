package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kith/repo/account"
	"kith/repo/dbtest"
	"kith/repo/mysqld"
)

// startDev starts `kith dev` in dir and waits until it answers.
func startDev(t *testing.T, dir string, args ...string) (p *process, address string) {
	t.Helper()
	p = startKith(t, dir, []string{"KITH_LISTEN=127.0.0.1:0"}, append([]string{"dev"}, args...)...)
	address, _, _ = strings.Cut(p.waitFor(t, "kith answers on http://"), " ")
	p.waitFor(t, "# follow account ")
	p.waitFor(t, "curl -sg -H 'Authorization: Bearer ")
	return p, address
}

// One database is used by all that follows: installing one takes seconds.
func TestDev(t *testing.T) {
	dir := t.TempDir()
	p, address := startDev(t, dir, "--local-cache-expiry", "1s", "--list-cap", "10", "--cron-trim", "1 2 3 4 *", "--token-issuer", "dev")

	t.Run("Curl", func(t *testing.T) { tryCurl(t, p) })
	t.Run("Companions", func(t *testing.T) { tryCompanions(t, dir, address) })
	t.Run("CompanionSettings", func(t *testing.T) { tryCompanionSettings(t, dir) })
	t.Run("Held", func(t *testing.T) {
		r := runKith(t, dir, []string{"KITH_LISTEN=127.0.0.1:0"}, nil, "dev")
		r.wantsExit(t, exitBusy, "in use", "kill "+strconv.Itoa(p.cmd.Process.Pid))
	})
	t.Run("HeldByAnotherDatabase", func(t *testing.T) {
		r := runKith(t, dir, append(on(dbtest.FreshDSN(t)), "KITH_LISTEN=127.0.0.1:0"), nil, "dev")
		r.wantsExit(t, exitBusy, "another `kith dev` runs in .kith")
		if out := runKith(t, dir, nil, nil, "account", "show", "ada").wants(t); !strings.Contains(out, "ada") {
			t.Errorf("a companion of the first one says %s", out)
		}
	})
	t.Run("PortTaken", func(t *testing.T) {
		other := t.TempDir()
		runKith(t, other, []string{"KITH_LISTEN=" + address}, nil, "dev").wantsRefusal(t, address, "in use")
		if left, err := os.ReadDir(other); err != nil || len(left) > 0 {
			t.Errorf("it made %v, %v, want nothing", left, err)
		}
	})

	server := pidIn(t, filepath.Join(dir, devFolder, "mysqld.pid"))
	if code := p.interrupt(t); code != 0 {
		t.Errorf("exit code %d after Ctrl-C, want 0", code)
	}
	if err := syscall.Kill(server, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the database (process %d) is still there: %v", server, err)
	}
	t.Run("NotRunning", func(t *testing.T) {
		if _, err := os.Stat(filepath.Join(dir, devFolder, devSettingsFile)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("its settings are still there: %v", err)
		}
		runKith(t, dir, nil, nil, "account", "list").wantsExit(t, exitUsage, "KITH_MYSQL_DSN", "kith dev")
		// One that was killed leaves its settings, which nobody takes.
		stale := filepath.Join(dir, devFolder, devSettingsFile)
		if err := os.WriteFile(stale, []byte(`{"KITH_MYSQL_DSN":"root@unix(`+filepath.Join(dir, devFolder, "run", "mysqld.sock")+`)/kith"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		runKith(t, dir, nil, nil, "account", "list").wantsExit(t, exitUsage, "KITH_MYSQL_DSN", "kith dev")
		if err := os.WriteFile(stale, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		runKith(t, dir, nil, nil, "account", "list").wantsRefusal(t, "settings of `kith dev`", devSettingsFile)
	})
	t.Run("Again", func(t *testing.T) { tryAgain(t, dir) })
}

// tryCurl runs the printed lines as they are.
func tryCurl(t *testing.T, p *process) {
	lines := regexp.MustCompile(`(?m)^curl .*$`).FindAllString(p.said(), -1)
	if len(lines) != 4 {
		t.Fatalf("%d curl lines are printed, want 4:\n%s", len(lines), p.said())
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl on this machine to try the printed lines with")
	}
	for i, want := range []string{`"username":"ben"`, `"id":"7","following":false`, `"username":"kim"`, `"following":true`} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", lines[i]).Output()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s\nanswers %s, %v, want %s in it", lines[i], out, err, want)
		}
	}
}

// What is printed to be typed names accounts that are there.
func TestDev_SecondTerminal(t *testing.T) {
	d := &devCmd{Dir: devFolder}
	if said := secondTerminal(d, nil); !strings.Contains(said, " import ") || strings.Contains(said, "--account") {
		t.Errorf("with an empty database: %s", said)
	}
	said := secondTerminal(d, []account.Account{{ID: 12}, {ID: 804100}})
	for _, want := range []string{" timeline show --account 12\n", " token --account 804100 "} {
		if !strings.Contains(said, want) {
			t.Errorf("want %q in %s", want, said)
		}
	}
}

// tryCompanions types commands in a second terminal.
func tryCompanions(t *testing.T, dir, address string) {
	show := runKith(t, dir, nil, nil, "account", "show", "ada")
	if out := show.wants(t); !strings.Contains(out, "friends       3") || !strings.Contains(show.err, "using the settings of the `kith dev`") {
		t.Errorf("account show says\n%s%s", out, show.err)
	}
	if out := runKith(t, dir, nil, nil, "account", "list").wants(t); strings.Count(out, "\n") != len(demoPeople) {
		t.Errorf("there are\n%s\nwant %d people", out, len(demoPeople))
	}
	if out := runKith(t, dir, nil, nil, "timeline", "show", "--account", "1").wants(t); !strings.Contains(out, " @kim    2: @hugo @chloe\n") || !strings.Contains(out, elsewhere) {
		t.Errorf("the home of ada is\n%s", out)
	}
	token := strings.TrimSpace(runKith(t, dir, nil, nil, "token", "--account", "7").wants(t))
	var asking []struct{ Username string }
	get(t, "http://"+address+"/api/v1/follow_requests", token, &asking)
	if len(asking) != 1 || asking[0].Username != "ada" {
		t.Errorf("%+v ask to follow grace, want ada", asking)
	}
	if sum := runKith(t, dir, nil, strings.NewReader("12 1 1600000000\n"), "import", "-").wants(t); count(t, sum, "edges new") != "1" {
		t.Errorf("the import says\n%s", sum)
	}
	if out := runKith(t, dir, nil, nil, "export").wants(t); !strings.Contains(out, "12 1 1600000000\n") {
		t.Errorf("the export lacks what was imported:\n%s", out)
	}
	// The server shows it when the entry of its cache expires, after a second.
	for start := time.Now(); ; {
		var lena struct {
			Following int `json:"following_count"`
		}
		get(t, "http://"+address+"/api/v1/accounts/12", "", &lena)
		if lena.Following == 3 {
			break
		}
		if time.Since(start) > patience {
			t.Fatalf("after %v lena follows %d, want 3", time.Since(start), lena.Following)
		}
	}
}

// tryCompanionSettings checks which settings companions have: those of the `kith dev`,
// unless others are set.
func tryCompanionSettings(t *testing.T, dir string) {
	if info, err := os.Stat(filepath.Join(dir, devFolder, devSettingsFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the settings are %v, %v, want -rw-------", info, err)
	}
	file := filepath.Join(t.TempDir(), "kith.env")
	if err := os.WriteFile(file, []byte("KITH_CRON_TRIM='4 2 3 4 *'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env, args []string
		want      string
	}{
		{nil, nil, " 1 2 3 4 * "},
		{nil, []string{"--cron-trim", "2 2 3 4 *"}, " 2 2 3 4 * "},
		{[]string{"KITH_CRON_TRIM=3 2 3 4 *"}, nil, " 3 2 3 4 * "},
		{[]string{"KITH_MYSQL_TLS_CA=" + file}, nil, " 1 2 3 4 * "}, // for another database
		{nil, []string{"--config", file}, " 4 2 3 4 * "},
		{on(dbtest.FreshDSN(t)), nil, "older than this program"}, // a database of its own
		{migrated(t), nil, " */5 * * * * "},
	} {
		r := runKith(t, dir, c.env, nil, append([]string{"cron", "list"}, c.args...)...)
		if !strings.Contains(r.out+r.err, c.want) {
			t.Errorf("with %q and %q the jobs are\n%s%s\nwant %q in it", c.env, c.args, r.out, r.err, c.want)
		}
	}
	// More than twice the cap of 10 is cut by the import, more than 10 by trim.
	runKith(t, dir, nil, strings.NewReader(crowds(1)), "import", "-", "--list-cap", "100").wants(t)
	if out := runKith(t, dir, nil, nil, "audit", "--account", "1").wants(t); strings.Contains(out, "archive") {
		t.Errorf("with a cap of its own the import has cut\n%s", out)
	}
	runKith(t, dir, nil, strings.NewReader(strings.ReplaceAll(crowds(1), " 1 ", " 5000 ")), "import", "-").wants(t)
	if out := runKith(t, dir, nil, nil, "audit", "--account", "5000").wants(t); !strings.Contains(out, "followers       30, kept 10") {
		t.Errorf("the import with a cap of 10 makes\n%s", out)
	}
	if out := runKith(t, dir, nil, nil, "cron", "run", "trim", "--account", "1").wants(t); !strings.Contains(out, " 1 changed") {
		t.Errorf("trim with a cap of 10: %s", out)
	}
}

// tryAgain starts on the same folder and finds everything there.
func tryAgain(t *testing.T, dir string) {
	secret, err := os.ReadFile(filepath.Join(dir, devFolder, devSecretFile))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	p, address := startDev(t, dir)
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("the second start takes %v, want less than 3s", took)
	}
	var ada struct {
		Followers int `json:"followers_count"`
	}
	get(t, "http://"+address+"/api/v1/accounts/1", "", &ada)
	if ada.Followers != 37 {
		t.Errorf("ada has %d followers, want the 37 of before", ada.Followers)
	}
	if again, err := os.ReadFile(filepath.Join(dir, devFolder, devSecretFile)); err != nil || string(again) != string(secret) {
		t.Errorf("the token secret has changed (%v)", err)
	}
	if info, err := os.Stat(filepath.Join(dir, devFolder, devSecretFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token secret is %v, %v, want -rw-------", info.Mode(), err)
	}
	// Without its database kith dev ends, and says so.
	if err := syscall.Kill(pidIn(t, filepath.Join(dir, devFolder, "mysqld.pid")), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t); code != exitDatabase || !strings.Contains(p.said(), "kith: "+errDatabaseGone.Error()) {
		t.Errorf("exit code %d, want 3 and the reason:\n%s", code, p.said())
	}
}

func pidIn(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// With --mysql it uses that, and makes no database of its own. A companion needs the same
// database, and has the secret from it, as long as it runs.
func TestDev_YourDatabase_Companion(t *testing.T) {
	dir, env := t.TempDir(), []string{"KITH_MYSQL_DSN=" + dbtest.FreshDSN(t)}
	p := startKith(t, dir, append(env, "KITH_LISTEN=127.0.0.1:0"), "dev")
	address, _, _ := strings.Cut(p.waitFor(t, "kith answers on http://"), " ")
	p.waitFor(t, "In a second terminal, in this folder, with KITH_MYSQL_DSN set as here:")
	if r := runKith(t, dir, nil, nil, "account", "list"); r.code != exitUsage || !strings.Contains(r.err, "KITH_MYSQL_DSN") {
		t.Errorf("without a database it ends with %d and says %s", r.code, r.err)
	}
	token := strings.TrimSpace(runKith(t, dir, env, nil, "token", "--account", "1").wants(t))
	get(t, "http://"+address+"/api/v1/accounts/verify_credentials", token, nil)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait(t)
	if _, err := os.Stat(filepath.Join(dir, devFolder, devSettingsFile)); err != nil {
		t.Fatalf("it was killed and its settings are gone: %v", err)
	}
	runKith(t, dir, env, nil, "token", "--account", "1").wantsExit(t, exitUsage, "KITH_TOKEN_SECRET")
}

func TestDev_YourDatabase(t *testing.T) {
	dir := t.TempDir()
	p, address := startDev(t, dir, "--mysql", dbtest.FreshDSN(t), "--dir", "data")
	get(t, "http://"+address+"/api/v1/accounts/lookup?acct=ada", "", nil)
	if code := p.interrupt(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "data")); err != nil || len(left) != 1 || left[0].Name() != devSecretFile {
		t.Errorf("the folder has %v, %v, want the token secret", left, err)
	}
}

func TestDev_Folder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"KITH_LISTEN=127.0.0.1:0"}
	runKith(t, dir, env, nil, "dev", "--dir", "file").wantsRefusal(t, "--dir", "file")
	runKith(t, dir, env, nil, "dev", "--dir", "file/in").wantsRefusal(t, "--dir", "file/in")
	if os.Geteuid() == 0 {
		return // root may write everywhere
	}
	if err := os.Mkdir(filepath.Join(dir, "closed"), 0o500); err != nil {
		t.Fatal(err)
	}
	runKith(t, dir, env, nil, "dev", "--dir", "closed").wantsRefusal(t, "--dir", "closed", "cannot be written")
}

// A machine with a server in its usual places cannot be made to look like one
// without, so the sentence is looked at where it is made.
func TestDev_NoServer(t *testing.T) {
	got := startError(fmt.Errorf("%w", mysqld.ErrNoServer)).Error()
	for _, want := range []string{"mariadbd", "apt-get install mariadb-server", "--mysql"} {
		if !strings.Contains(got, want) {
			t.Errorf("it says %q, want %q in it", got, want)
		}
	}
}

func TestDev_BadSecret(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, devFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, devFolder, devSecretFile), []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := runKith(t, dir, []string{"KITH_LISTEN=127.0.0.1:0"}, nil, "dev")
	r.wantsRefusal(t, devSecretFile, "remove it")
}
