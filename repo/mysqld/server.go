// Package mysqld runs a private MariaDB or MySQL server: one for `kith dev`,
// which keeps its data, and throwaway ones for tests.
//
// # The folder
//
//	Dir/lock          flock, held while the server runs; has our process id
//	Dir/data          what the server calls its data directory
//	Dir/data.new      a first start that has not finished
//	Dir/run           has the socket (elsewhere when Dir's path is too long)
//	Dir/mysqld.pid    process id of the server
//	Dir/error.log     what the server has to say
//
// Root of the server has no password: who may open the socket may do
// everything. So the folder of the socket is for its owner only (0700), and Dir must be
// the caller's alone (MakeOwn): what others put there could run as the caller.
// Options.Port opens the same door to every process of the machine.
//
// # Two modes
//
// A durable server has every commit on disk. Its data is installed into data.new and renamed
// when it is whole, so that a first start that was killed leaves nothing half done.
//
// A throwaway server is quick: a MariaDB without grant tables starts on an empty folder in a
// tenth of a second. The folder is in memory (/dev/shm) if there is such a thing, nothing is
// synced, and Stop kills and deletes. The next start removes what killed tests left behind.
//
// # Life and death
//
// The server is a process group of its own, so that Ctrl-C reaches kith only, which then
// stops it. If kith itself is killed, Linux ends the server (SIGTERM for a durable one).
// Elsewhere it may stay: it holds the lock file open, and the next Start says which process
// to end.
package mysqld

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"kith/repo/db"
)

// ErrDied says that the server ended before it could be used. The error around
// it has the last lines of its log.
var ErrDied = errors.New("the database server ended")

// Options say which server to start.
type Options struct {
	// Dir is the folder of the server. A throwaway server may leave it empty
	// and gets one in memory; a folder it is given is deleted by Stop.
	Dir string
	// Durable keeps the data: see the package doc.
	Durable bool
	// Port opens 127.0.0.1:Port besides the socket; 0 opens none.
	Port int
	// Args are given to the server after kith's own: settings for tests.
	Args []string
}

// Server is a running server.
type Server struct {
	folder  *folder
	durable bool
	cmd     *exec.Cmd
	printed bytes.Buffer // by the process; read when it is gone
	done    chan struct{}
	once    sync.Once // discards the folder
}

// Start starts a server and returns when it answers. It returns ErrNoServer,
// ErrBusy, ErrFolder, ErrForeign or ErrDied, or the error of ctx, and then nothing is left
// running. ctx bounds the start, not the life of the server.
func Start(ctx context.Context, o Options) (*Server, error) {
	found, err := find(ctx)
	if err != nil {
		return nil, err
	}
	f, err := o.openFolder()
	if err != nil {
		return nil, err
	}
	s := &Server{folder: f, durable: o.Durable, done: make(chan struct{})}
	if err := s.start(ctx, found, o); err != nil {
		s.discard()
		return nil, err
	}
	return s, nil
}

func (o Options) openFolder() (*folder, error) {
	switch {
	case o.Durable && o.Dir == "":
		return nil, fmt.Errorf("%w: a durable server must be given one", ErrFolder)
	case o.Durable:
		return openFolder(o.Dir)
	case o.Dir == "":
		return newThrowaway()
	}
	// Stop deletes the folder: it must not hold other files.
	if found, err := os.ReadDir(o.Dir); err == nil && len(found) > 0 {
		return nil, fmt.Errorf("%w: %s is not empty, a throwaway server needs a new one", ErrFolder, o.Dir)
	}
	return openFolder(o.Dir)
}

func (s *Server) start(ctx context.Context, found program, o Options) error {
	if err := install(ctx, found, s.folder, o); err != nil {
		return err
	}
	// What the last server left would be taken for this one's.
	for _, path := range []string{s.folder.socket(), s.folder.pidFile()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%w: %w", ErrFolder, err)
		}
	}
	if err := s.run(found, o); err != nil {
		return err
	}
	if err := s.await(ctx); err != nil {
		s.kill()
		return err
	}
	return nil
}

// DSN returns what package db opens the given database of this server with. An
// empty name is the server itself.
func (s *Server) DSN(database string) string {
	return s.folder.dsn(database)
}

// Socket returns the path of the server's unix socket.
func (s *Server) Socket() string { return s.folder.socket() }

// Pid returns the process id of the server.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// Done is closed when the server is gone, by itself or by Stop.
func (s *Server) Done() <-chan struct{} { return s.done }

// CreateDatabase creates a database where there is none of that name. The name comes from
// the program, never from a user, and is not escaped.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	pool, err := db.OpenServer(ctx, db.Config{DSN: s.DSN(""), MaxOpen: 1})
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	defer pool.Close()
	if _, err := pool.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS `"+name+"` DEFAULT CHARACTER SET utf8mb4"); err != nil {
		return fmt.Errorf("create database %s: %w", name, db.Wrap(err))
	}
	return nil
}

// Stop ends the server and waits until it is gone. A durable server is asked
// (SIGTERM) and gets until the end of ctx, then it is killed, which its next
// start repairs; that returns the error of ctx. A throwaway server is killed
// and its folder deleted. Stopping twice does nothing.
func (s *Server) Stop(ctx context.Context) error {
	if !s.durable {
		s.kill()
		return s.discard()
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	var err error
	select {
	case <-s.done:
	case <-ctx.Done():
		err = fmt.Errorf("stop the database server: %w: it was killed", ctx.Err())
		s.kill()
	}
	return errors.Join(err, s.discard())
}

// discard unlocks the folder, or deletes a throwaway one. Once: the next owner may be
// in it already.
func (s *Server) discard() error {
	var err error
	s.once.Do(func() {
		if s.durable {
			s.folder.close()
		} else if err = s.folder.remove(); err != nil {
			err = fmt.Errorf("%w: %w", ErrFolder, err)
		}
	})
	return err
}
