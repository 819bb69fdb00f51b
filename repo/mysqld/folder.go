package mysqld

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrBusy says that another process has the folder. The error around it names
// the process and how to end it.
var ErrBusy = errors.New("database folder is in use")

// ErrFolder says that the folder cannot be made or written.
var ErrFolder = errors.New("database folder cannot be used")

// throwawayPrefix begins the names of throwaway folders, for the sweep.
const throwawayPrefix = "kith-mysqld-"

// socketLimit is the longest path of a socket: 104 bytes on darwin, 108 on
// linux, the zero at the end included.
const socketLimit = 103

// folder is a locked folder and the names in it.
type folder struct {
	dir  string
	run  string // the folder of the socket
	lock *os.File
}

func (f *folder) data() string    { return filepath.Join(f.dir, "data") }
func (f *folder) pidFile() string { return filepath.Join(f.dir, "mysqld.pid") }
func (f *folder) log() string     { return filepath.Join(f.dir, "error.log") }

// temp is for the server's own temporary tables: in the shared one of the
// machine, a server that starts sweeps away those of the others.
func (f *folder) temp() string   { return filepath.Join(f.dir, "tmp") }
func (f *folder) socket() string { return filepath.Join(f.run, "mysqld.sock") }

func (f *folder) dsn(database string) string {
	return fmt.Sprintf("root@unix(%s)/%s", f.socket(), database)
}

// newFolder returns the names in dir. The socket lies in Dir/run, or where that path
// would be too long under /tmp: the same for every process, whatever way it names dir.
func newFolder(dir string) (*folder, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	f := &folder{dir: dir, run: filepath.Join(dir, "run")}
	if len(f.socket()) > socketLimit {
		sum := sha256.Sum256([]byte(dir))
		f.run = fmt.Sprintf("/tmp/kith-%x", sum[:8])
	}
	return f, nil
}

// openFolder makes dir where it is missing and locks it. It must be the caller's alone.
func openFolder(dir string) (*folder, error) {
	if err := MakeOwn(dir); err != nil {
		return nil, err
	}
	f, err := newFolder(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.temp(), 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	if f.lock, err = os.OpenFile(filepath.Join(f.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	if err = f.acquire(); err == nil {
		err = f.makeSocketFolder()
	}
	if err != nil {
		f.lock.Close()
		return nil, err
	}
	return f, nil
}

// acquire takes the lock and writes our process id into it.
func (f *folder) acquire() error {
	err := syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return f.busy()
	case err != nil:
		return fmt.Errorf("%w: lock %s: %w", ErrFolder, f.lock.Name(), err)
	}
	// A server that closed the files it inherited, or was started by hand,
	// has no part in the lock.
	if pid := readPid(f.pidFile()); isServer(pid) {
		return fmt.Errorf("%w: %s: a server (process %d) still runs there: end it with `kill %d`", ErrBusy, f.dir, pid, pid)
	}
	if err := f.lock.Truncate(0); err != nil {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	if _, err := f.lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	return nil
}

// busy says who has the lock: the process that started the server, or the
// server itself where that process is gone.
func (f *folder) busy() error {
	owner, server := readPid(f.lock.Name()), readPid(f.pidFile())
	switch {
	case alive(owner):
		return fmt.Errorf("%w: %s: process %d runs a server there: end it with `kill %d`", ErrBusy, f.dir, owner, owner)
	case isServer(server):
		return fmt.Errorf("%w: %s: a server (process %d) was left running there: end it with `kill %d`", ErrBusy, f.dir, server, server)
	}
	return fmt.Errorf("%w: %s: another process has locked it", ErrBusy, f.dir)
}

// makeSocketFolder makes the folder of the socket, which only its owner may enter.
func (f *folder) makeSocketFolder() error {
	if err := os.Mkdir(f.run, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: make a folder for the socket: %w", ErrFolder, err)
	}
	return check(f.run, 0o077) // anybody can make one in /tmp
}

// close removes the folder of the socket and gives the lock back.
func (f *folder) close() {
	os.RemoveAll(f.run)
	f.lock.Close()
}

// remove deletes a throwaway folder and gives the lock back.
func (f *folder) remove() error {
	defer f.close()
	return os.RemoveAll(f.dir)
}

// newThrowaway makes an empty folder in memory, or in the temp folder.
func newThrowaway() (*folder, error) {
	base := os.TempDir()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		base = "/dev/shm"
	}
	sweep(base)
	dir, err := os.MkdirTemp(base, throwawayPrefix)
	if err != nil && base != os.TempDir() {
		dir, err = os.MkdirTemp("", throwawayPrefix)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	return openFolder(dir)
}

// sweepAge keeps the sweep away from folders that are just being made.
const sweepAge = time.Minute

// sweep removes throwaway folders whose owner was killed. It is best effort:
// what cannot be removed stays.
func sweep(base string) {
	found, _ := filepath.Glob(filepath.Join(base, throwawayPrefix+"*"))
	for _, dir := range found {
		info, err := os.Stat(filepath.Join(dir, "lock"))
		if err != nil || time.Since(info.ModTime()) < sweepAge {
			continue
		}
		if f, err := openFolder(dir); err == nil {
			f.remove()
		}
	}
}

// readPid returns the process id in a file, 0 where there is none.
func readPid(path string) int {
	text, _ := os.ReadFile(path)
	pid, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 32)
	return int(pid)
}

// alive reports that there is a process pid.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// isServer reports that pid is a database server. Where there is no /proc every living
// process counts as one: a number that was given out again is rarer than a server that
// was left over.
func isServer(pid int) bool {
	if !alive(pid) {
		return false
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		_, procErr := os.Stat("/proc/self/comm")
		return procErr != nil
	}
	return strings.HasPrefix(string(name), "mariadbd") || strings.HasPrefix(string(name), "mysqld")
}
