package mysqld

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
)

// childEnv makes this test binary start a durable server in the folder it
// names, print the server's process id and wait to be killed.
const childEnv = "KITH_TEST_MYSQLD_CHILD"

func TestMain(m *testing.M) {
	dir := os.Getenv(childEnv)
	if dir == "" {
		code := m.Run()
		os.RemoveAll(templateDir)
		os.Exit(code)
	}
	server, err := Start(context.Background(), Options{Dir: dir, Durable: true})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(server.Pid())
	<-server.Done()
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// start starts a server that the end of the test stops.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	began := time.Now()
	server, err := Start(within(t, 20*time.Second), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("started in %s", time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() { server.Stop(within(t, 20*time.Second)) })
	return server
}

// template makes templateDir, a folder with an installed database, once.
var template = sync.OnceValue(func() (err error) {
	if templateDir, err = os.MkdirTemp("", "kith-template-"); err != nil {
		return err
	}
	server, err := Start(context.Background(), Options{Dir: templateDir, Durable: true})
	if err != nil {
		return err
	}
	return server.Stop(context.Background())
})

var templateDir string

// installed returns a folder whose first start is behind it.
func installed(t *testing.T) string {
	t.Helper()
	if err := template(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS(filepath.Join(templateDir, "data"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func stop(t *testing.T, server *Server) {
	t.Helper()
	if err := server.Stop(within(t, 20*time.Second)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-server.Done():
	default:
		t.Fatal("stopped, but Done is open")
	}
}

// note writes a row to the database kith of server.
func note(t *testing.T, server *Server, n int) {
	t.Helper()
	if err := server.CreateDatabase(t.Context(), "kith"); err != nil {
		t.Fatal(err)
	}
	pool := open(t, server.DSN("kith"))
	pool.MustExec(`CREATE TABLE IF NOT EXISTS note (n INT PRIMARY KEY)`)
	pool.MustExec(`INSERT INTO note (n) VALUES (?)`, n)
}

func notes(t *testing.T, server *Server) (n int) {
	t.Helper()
	if err := open(t, server.DSN("kith")).Get(&n, `SELECT COUNT(*) FROM note`); err != nil {
		t.Fatal(err)
	}
	return n
}

func open(t *testing.T, dsn string) *sqlx.DB {
	t.Helper()
	pool, err := db.Open(t.Context(), db.Config{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

// wants fails unless err is kind and says every word.
func wants(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got %v, want %v", err, kind)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("got %q, want it to say %q", err, word)
		}
	}
}

func TestStart_Throwaway(t *testing.T) {
	server := start(t, Options{})
	note(t, server, 1)
	if group, err := syscall.Getpgid(server.Pid()); err != nil || group != server.Pid() {
		t.Errorf("got process group %d, %v; want its own, %d", group, err, server.Pid())
	}
	stop(t, server)
	if _, err := os.Stat(server.folder.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	stop(t, server)
}

func TestStart_ThrowawayNeedsNewFolder(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), Options{Dir: dir})
	wants(t, err, ErrFolder, "not empty")
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}

func TestStart_Durable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	// What a first start leaves that was killed half way.
	if err := os.MkdirAll(filepath.Join(dir, "data.new", "mysql"), 0o700); err != nil {
		t.Fatal(err)
	}
	server := start(t, Options{Dir: dir, Durable: true})
	note(t, server, 1)
	stop(t, server)

	began := time.Now()
	server = start(t, Options{Dir: dir, Durable: true})
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the second start took %s, want less than 2s", took)
	}
	note(t, server, 2)
	syscall.Kill(server.Pid(), syscall.SIGKILL)
	select {
	case <-server.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the server was killed, but Done is open")
	}
	stop(t, server)

	server = start(t, Options{Dir: dir, Durable: true})
	if got := notes(t, server); got != 2 {
		t.Errorf("got %d rows after a stop and a kill, want 2", got)
	}
	stop(t, server)
	stop(t, server)
	if _, err := Start(t.Context(), Options{Durable: true}); !errors.Is(err, ErrFolder) {
		t.Errorf("no folder: got %v, want ErrFolder", err)
	}
}

func TestStart_Busy(t *testing.T) {
	dir := installed(t)
	first := start(t, Options{Dir: dir, Durable: true})
	t.Run("Owner", func(t *testing.T) {
		_, err := Start(t.Context(), Options{Dir: dir, Durable: true})
		wants(t, err, ErrBusy, dir, fmt.Sprintf("`kill %d`", os.Getpid()))
	})
	// The owner is gone, the server is not: it holds the lock it inherited.
	t.Run("LeftOver", func(t *testing.T) {
		first.folder.lock.Truncate(0)
		first.folder.lock.Close()
		_, err := Start(t.Context(), Options{Dir: dir, Durable: true})
		wants(t, err, ErrBusy, dir, fmt.Sprintf("`kill %d`", first.Pid()))
	})
	// The server has no part in the lock, as when it was started by hand.
	t.Run("NoLock", func(t *testing.T) {
		if err := os.Remove(first.folder.lock.Name()); err != nil {
			t.Fatal(err)
		}
		_, err := Start(t.Context(), Options{Dir: dir, Durable: true})
		wants(t, err, ErrBusy, dir, fmt.Sprintf("`kill %d`", first.Pid()))
	})
	note(t, first, 1)
}

// Whoever starts a server and is killed does not leave it running.
func TestStart_OwnerKilled(t *testing.T) {
	dir := installed(t)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		child.Process.Kill()
		t.Fatal(err)
	}
	_, err = Start(t.Context(), Options{Dir: dir, Durable: true})
	wants(t, err, ErrBusy, fmt.Sprintf("`kill %d`", child.Process.Pid))

	child.Process.Kill()
	child.Wait()
	for ctx := within(t, 15*time.Second); ; {
		server, err := Start(ctx, Options{Dir: dir, Durable: true})
		if err == nil {
			stop(t, server)
			return
		}
		if !errors.Is(err, ErrBusy) || ctx.Err() != nil {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("got %v, want a start once server %d has ended with its owner", err, pid)
		}
		time.Sleep(10 * time.Millisecond) // nothing signals the end of a process that is not ours
	}
}

func TestStart_PathWithSpaces(t *testing.T) {
	s, err := Start(t.Context(), Options{Dir: filepath.Join(t.TempDir(), "a folder of mine", "x"), Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestStart_LongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.CopyFS(dir, os.DirFS(installed(t))); err != nil {
		t.Fatal(err)
	}
	first := start(t, Options{Dir: dir, Durable: true})
	if len(first.Socket()) > socketLimit || strings.HasPrefix(first.Socket(), dir) {
		t.Errorf("got socket %s, want a short one elsewhere", first.Socket())
	}
	note(t, first, 1)
	stop(t, first)
	if _, err := os.Stat(filepath.Dir(first.Socket())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the socket is still there: %v", err)
	}
	// Somebody else's folder in its place is not used.
	if err := os.Mkdir(filepath.Dir(first.Socket()), 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(filepath.Dir(first.Socket()))
	_, err := Start(t.Context(), Options{Dir: dir, Durable: true})
	wants(t, err, ErrForeign, "others may use it")
}

func TestStart_Port(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	dir := installed(t)
	t.Run("Taken", func(t *testing.T) {
		began := time.Now()
		_, err := Start(within(t, 20*time.Second), Options{Dir: dir, Durable: true, Port: port})
		wants(t, err, ErrDied, "the end of", "Address already in use")
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %s to notice", took)
		}
	})
	listener.Close()
	t.Run("Free", func(t *testing.T) {
		server := start(t, Options{Dir: dir, Durable: true, Port: port})
		note(t, server, 1)
		var n int
		err := open(t, fmt.Sprintf("root@tcp(127.0.0.1:%d)/kith", port)).Get(&n, `SELECT n FROM note`)
		if err != nil || n != 1 {
			t.Errorf("over TCP: got %d, %v; want 1", n, err)
		}
	})
}

func TestStart_NoTCP(t *testing.T) {
	var off string
	if err := open(t, start(t, Options{}).DSN("information_schema")).Get(&off, `SELECT @@skip_networking`); err != nil || off != "1" {
		t.Errorf("got skip_networking %s, %v; want 1", off, err)
	}
}

func TestStart_ContextEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	_, err := Start(within(t, 20*time.Millisecond), Options{Dir: dir})
	wants(t, err, context.DeadlineExceeded)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestStart_BadData(t *testing.T) {
	dir := installed(t)
	if err := os.WriteFile(filepath.Join(dir, "data", "ibdata1"), []byte("not a tablespace"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Start(within(t, 20*time.Second), Options{Dir: dir, Durable: true})
	wants(t, err, ErrDied, "ibdata1", "error.log")
}

func TestServer_Stop_TooLate(t *testing.T) {
	dir := installed(t)
	server := start(t, Options{Dir: dir, Durable: true})
	note(t, server, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	wants(t, server.Stop(ctx), context.Canceled, "killed")
	server = start(t, Options{Dir: dir, Durable: true})
	if got := notes(t, server); got != 1 {
		t.Errorf("got %d rows, want 1", got)
	}
}

func TestServer_CreateDatabase(t *testing.T) {
	server := start(t, Options{})
	for range 2 {
		if err := server.CreateDatabase(t.Context(), "kith_1"); err != nil {
			t.Error(err)
		}
	}
}
