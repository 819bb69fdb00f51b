package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"kith/app/api/operations"
	"kith/app/api/socket"
)

// listen opens the address that a setting gives.
func listen(setting, address string) (net.Listener, error) {
	flag := "--" + strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(setting, "KITH_")), "_", "-")
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s (%s): %s is in use already: end the program that listens there, or choose another address", setting, flag, address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s (%s): this user may not serve on %s: choose a port from 1024 on", setting, flag, address)
	case err != nil:
		return nil, fmt.Errorf("%s (%s): %w", setting, flag, err)
	}
	return l, nil
}

// server is an HTTP server that ends in order.
type server struct {
	handler      http.Handler
	ready        *readiness
	drain, grace time.Duration // how long requests are still served, and how long those under way may then take
	log          *slog.Logger
}

// answer serves until ctx ends, and for drain longer, so that balancers notice; then it
// waits for the requests under way. A nil error means that all of them were answered.
func (s server) answer(ctx context.Context, l *socket.Listener) error {
	srv := socket.Server(s.ready.parting(s.handler), l)
	// A connection that a client breaks off is not an error of the server.
	srv.ErrorLog = slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.ready.draining.Store(true)
	s.log.Info("stopping", "drain_seconds", s.drain.Seconds(), "grace_seconds", s.grace.Seconds())
	select {
	case <-time.After(s.drain):
	case <-again:
		s.log.Info("the drain is cut short")
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.grace)
	defer cancel()
	err := srv.Shutdown(grace)
	if err != nil {
		srv.Close()
		err = fmt.Errorf("requests were still under way after KITH_SHUTDOWN_GRACE (%v)", s.grace)
	}
	<-ended
	return err
}

// adminConnections is how many connections the admin address takes at once.
const adminConnections = 64

// admin serves the pages for operators on an address of their own, if any, until done
// is called.
func (s *stack) admin(address string, ready *readiness, log *slog.Logger) (done func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	raw, err := listen("KITH_ADMIN_LISTEN", address)
	if err != nil {
		return nil, err
	}
	l := socket.New(raw, adminConnections, log)
	srv := socket.Server(operations.Handler(s.registry, ready.missing), l)
	srv.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	log.Info("admin", "address", raw.Addr().String())
	return func() {
		srv.Close()
		<-ended
	}, nil
}

// otherFiles is how many files a server opens besides connections of clients and of
// MySQL: memcached, logs, keys, and connections that are just being accepted.
const otherFiles = 64

// connectionsFor is how many connections of clients a process may have, where files is
// how many files it may open and pool how many of them are for MySQL.
func connectionsFor(wanted, files, pool int) int {
	return max(min(wanted, files-pool-otherFiles), 1)
}

// maxConnections is connectionsFor this process. Go has raised the soft limit of files
// to the hard one when the program started.
func maxConnections(wanted, pool int, log *slog.Logger) int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		log.Warn("read the limit of open files", "err", err)
		return wanted
	}
	most := connectionsFor(wanted, int(min(uint64(files.Cur), 1<<30)), pool)
	if most < wanted {
		log.Warn("the limit of open files (ulimit -n) allows fewer connections than KITH_MAX_CONNECTIONS",
			"files", files.Cur, "wanted", wanted, "max", most)
	}
	return most
}
