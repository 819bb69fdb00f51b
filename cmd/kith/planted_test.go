package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kith/repo/dbtest"
)

// planted puts a `.kith` folder with files into a new folder.
func planted(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, devFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, devFolder, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A `.kith` folder that somebody put where an administrator types a command leads to
// no server, and to no secret.
func TestPlanted(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the server of whoever planted it
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	called := make(chan struct{}, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			called <- struct{}{}
			c.Close()
		}
	}()
	foreign := "root@tcp(" + l.Addr().String() + ")/kith"
	for name, c := range map[string]struct {
		dsn   string
		spoil func(t *testing.T, folder string)
		says  string
	}{
		"ForeignServer": {dsn: foreign, says: "does not name a database of `kith dev`"},
		"AllFiles":      {dsn: foreign + "?allowAllFiles=true", says: "does not name a database of `kith dev`"},
		"OtherSocket":   {dsn: "root@unix(/tmp/mysqld.sock)/kith", says: "it is not the socket of a server in .kith"},
		"Writable":      {dsn: foreign, spoil: mode(0o777, "."), says: "others may write to it"},
		"FileWritable":  {dsn: foreign, spoil: mode(0o666, devDSNFile), says: "others may write to it"},
		"Settings":      {dsn: foreign, spoil: mode(0o666, devSettingsFile), says: "others may write to it"},
		"OfOther":       {dsn: foreign, spoil: give("."), says: "it belongs to user"},
		"FileOfOther":   {dsn: foreign, spoil: give(devDSNFile), says: "it belongs to user"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := planted(t, map[string]string{devDSNFile: c.dsn, devSettingsFile: "{}", devSecretFile: testSecret})
			if c.spoil != nil {
				c.spoil(t, filepath.Join(dir, devFolder))
			}
			for _, args := range [][]string{{"account", "list"}, {"migrate", "up"}, {"cron", "list"}, {"export"}, {"token", "--account", "1"}} {
				r := runKith(t, dir, nil, nil, args...)
				if r.code == 0 || !strings.Contains(r.err, c.says) {
					t.Errorf("%s: exit code %d, it says %q, want %q", strings.Join(args, " "), r.code, r.err, c.says)
				}
			}
		})
	}
	select {
	case <-called:
		t.Error("the foreign server was called")
	default:
	}
}

func mode(m os.FileMode, name string) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		if err := os.Chmod(filepath.Join(folder, name), m); err != nil {
			t.Fatal(err)
		}
	}
}

// give gives a file to somebody else.
func give(name string) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give files away")
		}
		if err := os.Chown(filepath.Join(folder, name), 12345, -1); err != nil {
			t.Fatal(err)
		}
	}
}

// A token secret that somebody else wrote, or can read, signs nothing: he would act as
// every account.
func TestPlanted_Secret(t *testing.T) {
	env := []string{"KITH_MYSQL_DSN=" + dbtest.FreshDSN(t)}
	for name, spoil := range map[string]func(*testing.T, string){
		"OfOther":  give(devSecretFile),
		"Readable": mode(0o644, devSecretFile),
		"Writable": mode(0o622, devSecretFile),
		"Folder":   mode(0o777, "."),
		"Link": func(t *testing.T, folder string) {
			path := filepath.Join(folder, devSecretFile)
			if err := os.Rename(path, path+"2"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path+"2", path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := planted(t, map[string]string{devSecretFile: testSecret})
			spoil(t, filepath.Join(dir, devFolder))
			for _, args := range [][]string{{"dev", "--listen", "127.0.0.1:0"}, {"token", "--account", "1"}} {
				if r := runKith(t, dir, env, nil, args...); r.code == 0 || !strings.Contains(r.err, "not yours alone") {
					t.Errorf("%s: exit code %d, it says %q", args[0], r.code, r.err)
				}
			}
		})
	}
}

// Parameters that would hand a server the files of this machine are refused wherever
// the DSN comes from.
func TestUnsafeDSN(t *testing.T) {
	dir := t.TempDir()
	dsn := dbtest.FreshDSN(t) + "?allowAllFiles=true"
	for _, args := range [][]string{{"account", "list"}, {"serve", "--token-secret", testSecret}, {"dev", "--listen", "127.0.0.1:0"}, {"migrate", "up"}} {
		r := runKith(t, dir, []string{"KITH_MYSQL_DSN=" + dsn}, nil, args...)
		if r.code == 0 || !strings.Contains(r.err, "allowAllFiles") {
			t.Errorf("%s: exit code %d, it says %q", args[0], r.code, r.err)
		}
	}
}
