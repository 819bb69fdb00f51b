package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kith/repo/dbtest"
)

// planted puts a `.kith` folder into a new folder, with a token secret and the settings
// of a `kith dev` on the database dsn.
func planted(t *testing.T, dsn string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	folder := filepath.Join(dir, devFolder)
	settings := `{"KITH_TOKEN_SECRET":"` + testSecret + `","KITH_MYSQL_DSN":"` + dsn + `"}`
	if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, devSettingsFile), []byte(settings), 0o600),
		os.WriteFile(filepath.Join(folder, devSecretFile), []byte(testSecret+"\n"), 0o600)); err != nil {
		t.Fatal(err)
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
		"OtherSocket":   {dsn: "root@unix(/tmp/mysqld.sock)/kith", says: "does not name a database of `kith dev`"},
		"ShortSocket":   {dsn: "root@unix(/tmp/kith-0123456789abcdef/mysqld.sock)/kith", says: "does not name a database of `kith dev`"},
		"Writable":      {dsn: foreign, spoil: mode(0o777, "."), says: ".kith: not yours alone: others may use it"},
		"FileWritable":  {dsn: foreign, spoil: mode(0o666, devSettingsFile), says: "settings.json: not yours alone: others may use it"},
		"FileReadable":  {dsn: foreign, spoil: mode(0o644, devSettingsFile), says: "settings.json: not yours alone: others may use it"},
		"Link":          {dsn: foreign, spoil: link(devSettingsFile), says: "it is a symbolic link"},
		"OfOther":       {dsn: foreign, spoil: give("."), says: "it belongs to another user"},
		"FileOfOther":   {dsn: foreign, spoil: give(devSettingsFile), says: "it belongs to another user"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := planted(t, c.dsn)
			if c.spoil != nil {
				c.spoil(t, filepath.Join(dir, devFolder))
			}
			for _, args := range [][]string{{"account", "list"}, {"migrate", "up"}, {"cron", "list"}, {"export"}, {"token", "--account", "1"}} {
				runKith(t, dir, nil, nil, args...).wantsRefusal(t, c.says)
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

// link replaces a file by a symbolic link to it.
func link(name string) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path)); err != nil {
			t.Fatal(err)
		}
	}
}

// A token secret that somebody else wrote, or can read, signs nothing: he would act as
// every account.
func TestPlanted_Secret(t *testing.T) {
	env := []string{"KITH_LISTEN=127.0.0.1:0", "KITH_MYSQL_DSN=" + dbtest.FreshDSN(t)}
	for name, spoil := range map[string]func(*testing.T, string){
		"OfOther":       give(devSecretFile),
		"Readable":      mode(0o644, devSecretFile),
		"Writable":      mode(0o622, devSecretFile),
		"Link":          link(devSecretFile),
		"Folder":        mode(0o777, "."),
		"FolderOfOther": give("."),
		"BesideOther":   give(devSettingsFile),
	} {
		t.Run(name, func(t *testing.T) {
			dir := planted(t, "")
			spoil(t, filepath.Join(dir, devFolder))
			r := runKith(t, dir, env, nil, "dev")
			r.wantsRefusal(t, "--dir", "not yours alone")
			if strings.Contains(r.out, "kith answers") {
				t.Errorf("it says %q", r.out)
			}
		})
	}
}

// Parameters that would give a server the files of this machine are refused wherever
// the DSN comes from.
func TestUnsafeDSN(t *testing.T) {
	dir := t.TempDir()
	env := []string{"KITH_MYSQL_DSN=" + dbtest.FreshDSN(t) + "?allowAllFiles=true"}
	for _, args := range [][]string{{"account", "list"}, {"serve", "--listen", "127.0.0.1:0", "--token-secret", testSecret}, {"dev", "--listen", "127.0.0.1:0"}, {"migrate", "up"}} {
		r := runKith(t, dir, env, nil, args...)
		if r.code == 0 || !strings.Contains(r.err, "allowAllFiles") {
			t.Errorf("%s: exit code %d, it says %q", args[0], r.code, r.err)
		}
	}
}
