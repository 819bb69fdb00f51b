package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"kith/app/token"
	"kith/cmd/kithbench/server"
	"kith/cmd/kithbench/work"
)

// secret signs the tokens of a server that lives as long as the benchmark.
const secret = "a secret of the benchmark, at least 32 bytes"

// site is a `kith serve` built from this checkout.
type site struct {
	work.Site
	process *server.Process
	log     bytes.Buffer
}

// buildKith builds the program into a folder.
func buildKith(ctx context.Context, root, dir string) (string, error) {
	path := filepath.Join(dir, "kith")
	out, err := exec.CommandContext(ctx, "go", "build", "-C", root, "-o", path, "./cmd/kith").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build kith: %w: %s", err, out)
	}
	return path, nil
}

// startSite serves a database and returns when the server is ready.
func startSite(ctx context.Context, program, name, dsn, memcached string) (*site, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	tokens, err := token.New(ctx, token.Config{Secret: []byte(secret), Now: time.Now})
	if err != nil {
		return nil, err
	}
	s, cmd := &site{}, exec.CommandContext(ctx, program, "serve")
	s.Name, s.URL = name, "http://"+address
	s.Token = func(account uint64) (string, error) {
		return tokens.Sign(account, []string{"read", "write", "follow"}, time.Hour)
	}
	cmd.Env = append(os.Environ(), "KITH_MYSQL_DSN="+dsn, "KITH_MEMCACHED="+memcached, "KITH_LISTEN="+address,
		"KITH_TOKEN_SECRET="+secret, "KITH_RATE_LIMIT=1000000000", "KITH_LOG_LEVEL=warn")
	cmd.Stderr = &s.log
	if s.process, err = server.StartProcess(cmd); err != nil {
		return nil, err
	}
	return s, s.await(ctx)
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (s *site) await(ctx context.Context) error {
	for range 200 {
		resp, err := http.Get(s.URL + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	s.stop()
	return fmt.Errorf("kith serve was not ready in 10 s: %s", s.log.String())
}

// weigh returns the resident bytes of the server.
func (s *site) weigh() (int64, error) {
	p, err := process.NewProcess(int32(s.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	m, err := p.MemoryInfo()
	if err != nil {
		return 0, err
	}
	return int64(m.RSS), nil
}

func (s *site) stop() error {
	_ = s.process.Process.Signal(os.Interrupt)
	return s.process.Wait()
}

// startFixed starts the handler that always sends body.
func startFixed(ctx context.Context, body []byte) (url string, stop func() error, err error) {
	cmd := exec.CommandContext(ctx, os.Args[0], "fixed")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(body), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	p, err := server.StartProcess(cmd)
	if err != nil {
		return "", nil, err
	}
	stop = func() error { return errors.Join(p.Process.Signal(os.Interrupt), p.Wait()) }
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("start the fixed handler: %w", err), stop())
	}
	return strings.TrimSpace(line), stop, nil
}
