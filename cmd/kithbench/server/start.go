package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
	"kith/repo/mysqld"
)

// mysqlSettings are what package mysqld sets too small for a benchmark, or not
// at all: a buffer pool that holds the graph, and a redo log as large, so that
// no peer waits for pages to be flushed.
var mysqlSettings = []string{
	`SET GLOBAL innodb_buffer_pool_size = 2147483648`,
	`SET GLOBAL innodb_log_file_size = 536870912`,
}

func (s *Servers) startMySQL(ctx context.Context) (err error) {
	s.mysql, err = mysqld.Start(ctx, mysqld.Options{Dir: filepath.Join(s.dir, string(MySQL)), Durable: true})
	if err != nil {
		return err
	}
	pool, err := db.OpenServer(ctx, db.Config{DSN: s.MySQLDSN(""), MaxOpen: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	for _, set := range mysqlSettings {
		if _, err := pool.ExecContext(ctx, set); err != nil {
			return fmt.Errorf("set up the database server: %s: %w", set, err)
		}
	}
	return checkDurable(ctx, pool)
}

// checkDurable returns an error unless each commit is synced.
func checkDurable(ctx context.Context, pool *sqlx.DB) error {
	var found struct {
		Sync   int    `db:"sync"`
		Method string `db:"method"`
	}
	err := pool.GetContext(ctx, &found, `SELECT @@GLOBAL.innodb_flush_log_at_trx_commit AS sync, @@GLOBAL.innodb_flush_method AS method`)
	if err != nil {
		return fmt.Errorf("ask the database server whether it syncs: %w", err)
	}
	if found.Sync != 1 || found.Method == "nosync" {
		return fmt.Errorf("the database server does not sync: got innodb_flush_log_at_trx_commit %d, innodb_flush_method %s", found.Sync, found.Method)
	}
	return nil
}

// startMemcached gives it the memory of the whole graph, values up to 16 MB, for
// the largest of kith's rows, and slabs whose chunks grow by 15 per cent instead
// of 25: rows are of all sizes, and each leaves some of its chunk empty.
func (s *Servers) startMemcached(ctx context.Context) error {
	args := []string{"-s", s.Memcached(), "-a", "700", "-m", "1024", "-I", "16m", "-f", "1.15", "-t", "2", "-c", "2048"}
	if os.Geteuid() == 0 {
		args = append(args, "-u", "root") // it refuses root unless told
	}
	return s.startChild(ctx, Memcached, program{name: "memcached", from: "memcached", ping: "version\r\n", pong: "VERSION"}, args)
}

func (s *Servers) startRedis(ctx context.Context, w Which, more ...string) error {
	args := append([]string{"--port", "0", "--unixsocket", s.socket(w), "--unixsocketperm", "700",
		"--dir", s.folder(w), "--save", "", "--daemonize", "no"}, more...)
	return s.startChild(ctx, w, program{name: "redis-server", from: "redis-server", ping: "PING\r\n", pong: "+PONG"}, args)
}

func (s *Servers) startChild(ctx context.Context, w Which, p program, args []string) error {
	if err := os.MkdirAll(s.folder(w), 0o700); err != nil {
		return err
	}
	c, err := startChild(p, s.folder(w), args)
	if err != nil {
		return err
	}
	s.others[w] = c
	return c.await(ctx, s.socket(w))
}

func (s *Servers) folder(w Which) string { return filepath.Join(s.dir, string(w)) }
