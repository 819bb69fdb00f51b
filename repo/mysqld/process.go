package mysqld

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"kith/repo/db"
)

// poll is the pause between two attempts to reach a server that is starting.
const poll = 5 * time.Millisecond

// killWait is how long a killed server may take to be gone.
const killWait = 10 * time.Second

// run starts the process on a thread of its own that stays until the process
// is gone: the orphan signal of Linux is tied to that thread.
func (s *Server) run(found program, o Options) error {
	s.cmd = exec.Command(found.path, arguments(found, s.folder, o)...)
	s.cmd.Stdout, s.cmd.Stderr = &s.printed, &s.printed
	s.cmd.WaitDelay = time.Second
	s.cmd.ExtraFiles = []*os.File{s.folder.lock}
	orphan := syscall.SIGKILL
	if o.Durable {
		orphan = syscall.SIGTERM
	}
	s.cmd.SysProcAttr = attributes(orphan)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			s.cmd.Wait()
			close(s.done)
		}
	}()
	if err := <-started; err != nil {
		s.cmd = nil
		return fmt.Errorf("start %s: %w", found.path, err)
	}
	return nil
}

// await returns when the server answers a ping, is dead, or ctx ends.
func (s *Server) await(ctx context.Context) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			said := append([]byte(s.lastLines()+"\n"), s.printed.Bytes()...)
			return fmt.Errorf("%w: %s", ErrDied, bytes.TrimSpace(said))
		case <-ctx.Done():
			return fmt.Errorf("start the database server: %w: %s", ctx.Err(), s.lastLines())
		case <-tick.C:
		}
		// Until the server has made its socket there is nothing to ask.
		if _, err := os.Stat(s.folder.socket()); err != nil {
			continue
		}
		pool, err := db.OpenServer(ctx, db.Config{DSN: s.DSN(""), MaxOpen: 1})
		if err == nil {
			return pool.Close()
		}
		if db.Classify(err) == db.Other {
			return fmt.Errorf("start the database server: %w", err)
		}
	}
}

// lastLines returns the end of the server's log, for an error.
func (s *Server) lastLines() string {
	const most, bytesRead = 8, 4096
	file, err := os.Open(s.folder.log())
	if err != nil {
		return "it wrote no log"
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > bytesRead {
		file.Seek(-bytesRead, io.SeekEnd)
	}
	text, err := io.ReadAll(io.LimitReader(file, bytesRead))
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	lines = lines[max(0, len(lines)-most):]
	return fmt.Sprintf("the end of %s:\n%s", s.folder.log(), bytes.Join(lines, []byte("\n")))
}

// kill ends the process and waits until it is gone.
func (s *Server) kill() {
	s.cmd.Process.Kill()
	select {
	case <-s.done:
	case <-time.After(killWait):
	}
}

// arguments are the server's. What not every MySQL knows has the prefix loose.
func arguments(found program, f *folder, o Options) []string {
	args := []string{
		"--no-defaults",
		"--datadir=" + f.data(),
		"--socket=" + f.socket(),
		"--pid-file=" + f.pidFile(),
		"--log-error=" + f.log(),
		"--tmpdir=" + f.temp(),
		"--character-set-server=utf8mb4",
		"--skip-log-bin",
		"--innodb-buffer-pool-size=128M",
		"--performance-schema=0",
		"--max-connections=500",
	}
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	if o.Port > 0 {
		args = append(args, "--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", o.Port))
	} else {
		args = append(args, "--skip-networking")
	}
	// MariaDB's installer makes a root@127.0.0.1. MySQL's only root@localhost,
	// which is whom a connection to the port resolves to.
	if found.mariadb {
		args = append(args, "--skip-name-resolve", "--innodb-log-file-size=32M")
	} else {
		// The size of the log has had another name since 8.0.30, and 9.7 no longer
		// knows the first.
		args = append(args, "--loose-mysqlx=0", "--loose-innodb-log-file-size=32M", "--loose-innodb-redo-log-capacity=64M")
	}
	switch {
	case o.Durable:
		args = append(args, "--innodb-flush-log-at-trx-commit=1", "--innodb-doublewrite=1")
	default:
		args = append(args, "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0")
		if found.mariadb {
			args = append(args, "--skip-grant-tables") // there are none, see install
		}
	}
	return append(args, o.Args...)
}
