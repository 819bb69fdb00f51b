package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"

	"kith/repo/db"
)

// residentRE finds the resident size in /proc/PID/status.
var residentRE = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB$`)

// Memory returns the bytes of a server that are resident, with its buffers,
// connections and whatever its allocator has not given back.
func (s *Servers) Memory(w Which) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid(w)))
	if err != nil {
		return 0, fmt.Errorf("memory of %s: %w", w, err)
	}
	found := residentRE.FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("memory of %s: no VmRSS in its status", w)
	}
	kb, err := strconv.ParseInt(string(found[1]), 10, 64)
	return kb << 10, err
}

func (s *Servers) pid(w Which) int {
	if w == MySQL {
		return s.mysql.Pid()
	}
	if c := s.others[w]; c != nil {
		return c.cmd.Process.Pid
	}
	return 0
}

// versionRE finds the version in what programs print of it.
var versionRE = regexp.MustCompile(`\d+\.\d+\.\d+`)

// Versions returns the version of each program, by its name.
func (s *Servers) Versions(ctx context.Context) (map[string]string, error) {
	versions := map[string]string{}
	for _, name := range []string{"memcached", "redis-server"} {
		out, err := exec.CommandContext(ctx, name, "--version").Output()
		if err != nil {
			return nil, fmt.Errorf("version of %s: %w", name, err)
		}
		versions[name] = versionRE.FindString(string(out))
	}
	pool, err := db.OpenServer(ctx, db.Config{DSN: s.MySQLDSN(""), MaxOpen: 1})
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	var version string
	if err := pool.GetContext(ctx, &version, `SELECT VERSION()`); err != nil {
		return nil, fmt.Errorf("version of the database server: %w", err)
	}
	versions["mariadbd"] = version
	return versions, nil
}
