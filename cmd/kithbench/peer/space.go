package peer

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
)

// tableSpace is what tables take on disk, rows and indexes.
func tableSpace(ctx context.Context, pool *sqlx.DB, tables ...string) (sum Space, err error) {
	for _, table := range tables {
		pages, err := pageBytes(ctx, pool, table)
		if err != nil {
			return sum, fmt.Errorf("size of %s: %w", table, err)
		}
		file, err := fileBytes(ctx, pool, table)
		if err != nil {
			return sum, fmt.Errorf("size of the file of %s: %w", table, err)
		}
		sum.Pages, sum.Files = sum.Pages+pages, sum.Files+file
	}
	return sum, nil
}

// pageBytes are the pages that a table has in use, as the server counts them
// when it looks at the table.
func pageBytes(ctx context.Context, pool *sqlx.DB, table string) (n int64, err error) {
	if _, err := pool.ExecContext(ctx, `ANALYZE TABLE `+table); err != nil {
		return 0, err
	}
	err = pool.GetContext(ctx, &n, `SELECT DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?`, table)
	return n, err
}

// fileBytes is the size of a table's file, which MariaDB and MySQL tell in tables
// of different names. A file grows by up to 4 MB at once.
func fileBytes(ctx context.Context, pool *sqlx.DB, table string) (n int64, err error) {
	var version string
	if err := pool.GetContext(ctx, &version, `SELECT VERSION()`); err != nil {
		return 0, err
	}
	query := `SELECT FILE_SIZE FROM information_schema.INNODB_TABLESPACES WHERE NAME = CONCAT(DATABASE(), '/', ?)`
	if strings.Contains(version, "MariaDB") {
		query = `SELECT FILE_SIZE FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME = CONCAT(DATABASE(), '/', ?)`
	}
	err = pool.GetContext(ctx, &n, query, table)
	return n, err
}

// hashAtStart is the table of keys of an empty memcached.
const hashAtStart = 8 << 16

// memcachedBytes is what a memcached has handed out for its items: whole chunks,
// of which items fill a part, and what its table of keys has grown by. It is the
// like of Redis' used_memory, which counts what its allocator has handed out.
func memcachedBytes(socket string) (sum int64, err error) {
	slabs, err := memcachedStats(socket, "stats slabs")
	if err != nil {
		return 0, err
	}
	for name, chunks := range slabs {
		if class, ok := strings.CutSuffix(name, ":used_chunks"); ok {
			sum += chunks * slabs[class+":chunk_size"]
		}
	}
	all, err := memcachedStats(socket, "stats")
	return sum + max(all["hash_bytes"]-hashAtStart, 0), err
}

// memcachedStats are the numbers that a memcached answers with.
func memcachedStats(socket, command string) (map[string]int64, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("ask memcached: %w", err)
	}
	defer conn.Close()
	fmt.Fprint(conn, command+"\r\n")
	stats := map[string]int64{}
	lines := bufio.NewScanner(conn)
	for lines.Scan() && lines.Text() != "END" {
		words := strings.Fields(lines.Text())
		if len(words) != 3 {
			continue
		}
		if n, err := strconv.ParseInt(words[2], 10, 64); err == nil {
			stats[words[1]] = n
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("ask memcached for its %s: %w", command, err)
	}
	if len(stats) == 0 {
		return nil, fmt.Errorf("memcached has no %s", command)
	}
	return stats, nil
}
