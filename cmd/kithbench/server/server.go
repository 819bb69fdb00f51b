// Package server starts the servers of the peers: private ones on unix sockets, in one folder,
// which end with the benchmark.
//
//	mysql          a durable MariaDB, see package mysqld
//	memcached
//	redis          a Redis without persistence
//	redis-synced   a Redis that syncs each change to its append-only file
//
// The folder is one for temporary files: if that is in memory, every sync is free.
//
// Servers have their default settings, except for what a production server would have: see
// [mysqlSettings] and [Servers.start].
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"kith/repo/db"
	"kith/repo/mysqld"
)

const (
	// startTimeout bounds how long all servers together may take until they answer.
	startTimeout = 2 * time.Minute
	// stopTimeout is how long MariaDB may take to write out its buffers.
	stopTimeout = time.Minute
)

// Servers are the running servers.
type Servers struct {
	Dir                      string // theirs, removed by Stop
	Memcached, Redis, Synced *Store
	Versions                 map[string]string // by the name of the program

	mysql *mysqld.Server
}

// Store is a server that keeps its data in memory.
type Store struct {
	*Process
	Socket string
}

// StartAll starts all servers and returns when they answer. After an error nothing
// is left running. ctx bounds the start, not the life of the servers.
func StartAll(ctx context.Context) (*Servers, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	dir, err := os.MkdirTemp("", "kithbench-")
	if err != nil {
		return nil, err
	}
	s := &Servers{Dir: dir, Versions: map[string]string{}}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// start gives memcached memory for the whole graph, values up to 16 MB, for the largest rows,
// and chunks that grow by 15 % instead of 25, so that rows leave less of them empty.
func (s *Servers) start(ctx context.Context) (err error) {
	socket := func(name string) string { return filepath.Join(s.Dir, name+".sock") }
	memcached := []string{"-s", socket("memcached"), "-a", "700", "-m", "1024", "-I", "16m", "-f", "1.15", "-t", "2", "-c", "2048"}
	if os.Geteuid() == 0 {
		memcached = append(memcached, "-u", "root") // it refuses root by default
	}
	if s.Memcached, err = s.startStore(ctx, socket("memcached"), "version\r\n", "VERSION", "memcached", memcached...); err != nil {
		return err
	}
	redis := func(name string, more ...string) (*Store, error) {
		args := append([]string{"--port", "0", "--unixsocket", socket(name), "--unixsocketperm", "700",
			"--dir", s.Dir, "--save", "", "--daemonize", "no"}, more...)
		return s.startStore(ctx, socket(name), "PING\r\n", "+PONG", "redis-server", args...)
	}
	if s.Redis, err = redis("redis", "--appendonly", "no"); err != nil {
		return err
	}
	if s.Synced, err = redis("redis-synced", "--appendonly", "yes", "--appendfsync", "always"); err != nil {
		return err
	}
	return s.startMySQL(ctx)
}

var versionRE = regexp.MustCompile(`\d+\.\d+\.\d+`)

// startStore starts a program that is in a Debian package of the same name and answers ping
// with pong on its socket.
func (s *Servers) startStore(ctx context.Context, socket, ping, pong, program string, args ...string) (*Store, error) {
	version, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("no %s found on this machine: install it, e.g. `apt-get install %s`: %w", program, program, err)
	}
	s.Versions[program] = versionRE.FindString(string(version))
	p, err := Start(ctx, exec.Command(program, args...), func() error {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			return err
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(time.Second))
		fmt.Fprint(conn, ping)
		answer := make([]byte, 64)
		n, err := conn.Read(answer)
		if err == nil && !strings.HasPrefix(string(answer[:n]), pong) {
			return fmt.Errorf("%s answers %q", program, answer[:n])
		}
		return err
	})
	return &Store{Process: p, Socket: socket}, err
}

// mysqlSettings give the server a buffer pool for the graph, and so much redo log that no
// peer waits for pages to be flushed. Those of package mysqld are too small for a benchmark.
var mysqlSettings = []string{
	`SET GLOBAL innodb_buffer_pool_size = 2147483648`,
	`SET GLOBAL innodb_log_file_size = 536870912`,
}

// startMySQL returns an error unless each commit is synced.
func (s *Servers) startMySQL(ctx context.Context) (err error) {
	s.mysql, err = mysqld.Start(ctx, mysqld.Options{Dir: filepath.Join(s.Dir, "mysql"), Durable: true})
	if err != nil {
		return err
	}
	pool, err := db.OpenServer(ctx, db.Config{DSN: s.mysql.DSN(""), MaxOpen: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	for _, set := range mysqlSettings {
		if _, err := pool.ExecContext(ctx, set); err != nil {
			return fmt.Errorf("set up the database server: %s: %w", set, err)
		}
	}
	var found struct {
		Version string `db:"version"`
		Sync    int    `db:"sync"`
		Method  string `db:"method"`
	}
	err = pool.GetContext(ctx, &found, `SELECT VERSION() AS version, @@GLOBAL.innodb_flush_log_at_trx_commit AS sync, @@GLOBAL.innodb_flush_method AS method`)
	if err != nil {
		return fmt.Errorf("ask the database server whether it syncs: %w", err)
	}
	if found.Sync != 1 || found.Method == "nosync" {
		return fmt.Errorf("the database server does not sync: got innodb_flush_log_at_trx_commit %d, innodb_flush_method %s", found.Sync, found.Method)
	}
	s.Versions["mariadbd"] = found.Version
	return nil
}

// DSN returns the DSN of the database of a peer.
func (s *Servers) DSN(peer string) string { return s.mysql.DSN(strings.ReplaceAll(peer, "-", "_")) }

// CreateDatabase makes the database of a peer and returns its DSN.
func (s *Servers) CreateDatabase(ctx context.Context, peer string) (dsn string, err error) {
	return s.DSN(peer), s.mysql.CreateDatabase(ctx, strings.ReplaceAll(peer, "-", "_"))
}

// Stop ends the servers, waits for their end and removes their folder. The second time it
// does nothing.
func (s *Servers) Stop() error {
	for _, store := range []*Store{s.Memcached, s.Redis, s.Synced} {
		if store != nil {
			store.Process.Stop()
		}
	}
	var err error
	if s.mysql != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		err = s.mysql.Stop(ctx)
	}
	return errors.Join(err, os.RemoveAll(s.Dir))
}
