package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"kith/repo/mysqld"
)

// startTimeout bounds how long all servers together may take until they answer.
const startTimeout = 2 * time.Minute

// stopTimeout is how long MariaDB may take to write out its buffers.
const stopTimeout = time.Minute

// socketLimit is the longest path of a socket: 104 bytes on darwin, 108 on
// linux, the zero at the end included.
const socketLimit = 103

// Which names one of the servers.
type Which string

// The servers that Start starts.
const (
	MySQL       Which = "mysql"
	Memcached   Which = "memcached"
	Redis       Which = "redis"
	RedisSynced Which = "redis-synced"
)

// Servers are the running servers.
type Servers struct {
	dir    string
	run    string // the folder of the sockets
	mysql  *mysqld.Server
	others map[Which]*child
}

// Start starts all servers in dir, which is made where it is missing, and
// returns when they answer. After an error nothing is left running. ctx bounds
// the start, not the life of the servers.
func Start(ctx context.Context, dir string) (*Servers, error) {
	s := &Servers{dir: dir, others: map[Which]*child{}}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Servers) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.makeFolders(); err != nil {
		return err
	}
	if err := s.startMemcached(ctx); err != nil {
		return err
	}
	if err := s.startRedis(ctx, Redis, "--appendonly", "no"); err != nil {
		return err
	}
	if err := s.startRedis(ctx, RedisSynced, "--appendonly", "yes", "--appendfsync", "always"); err != nil {
		return err
	}
	return s.startMySQL(ctx)
}

// makeFolders makes dir and the folder of the sockets: Dir/run, or one of its
// own below the temp folder when that path would be too long.
func (s *Servers) makeFolders() error {
	var err error
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		return err
	}
	s.run = filepath.Join(s.dir, "run")
	if len(s.socket(RedisSynced)) <= socketLimit {
		return os.MkdirAll(s.run, 0o700)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	s.run, err = os.MkdirTemp("", "kithbench-")
	return err
}

func (s *Servers) socket(w Which) string { return filepath.Join(s.run, string(w)) }

// Memcached returns the path of memcached's socket.
func (s *Servers) Memcached() string { return s.socket(Memcached) }

// Redis returns the path of the socket of the Redis without persistence.
func (s *Servers) Redis() string { return s.socket(Redis) }

// RedisSynced returns the path of the socket of the Redis that syncs each
// change.
func (s *Servers) RedisSynced() string { return s.socket(RedisSynced) }

// MySQLDSN returns what opens a database of the MariaDB.
func (s *Servers) MySQLDSN(database string) string { return s.mysql.DSN(database) }

// CreateDatabase creates a database where there is none of that name.
func (s *Servers) CreateDatabase(ctx context.Context, name string) error {
	return s.mysql.CreateDatabase(ctx, name)
}

// Stop ends the servers and waits until they are gone. Their folders stay, but
// for that of the sockets. Stopping twice does nothing.
func (s *Servers) Stop() error {
	for _, c := range s.others {
		c.kill()
	}
	var errs []error
	if s.mysql != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		errs = append(errs, s.mysql.Stop(ctx))
	}
	if err := os.RemoveAll(s.run); err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, fmt.Errorf("remove the sockets: %w", err))
	}
	return errors.Join(errs...)
}
