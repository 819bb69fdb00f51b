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

	"kith/app/api"
)

// listen opens the address of the server.
func listen(address string) (net.Listener, error) { return listenOn("KITH_LISTEN", address) }

// listenOn opens the address that a setting gives.
func listenOn(setting, address string) (net.Listener, error) {
	flag := "--" + strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(setting, "KITH_")), "_", "-")
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s (%s): %s is in use by another program: end that or choose another address", setting, flag, address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s (%s): this user may not serve on %s: choose a port from 1024 on", setting, flag, address)
	case err != nil:
		return nil, fmt.Errorf("%s (%s): %w", setting, flag, err)
	}
	return l, nil
}

// server is an HTTP server and what it needs to end well.
type server struct {
	handler http.Handler
	// drain makes the readiness page say that no more requests are wanted.
	drain func()
	grace time.Duration // how long the end may take
	log   *slog.Logger
}

// answer serves until ctx ends, then lets the requests under way finish. A
// nil error means that all of them did.
func (s server) answer(ctx context.Context, l net.Listener) error {
	srv := api.NewHTTPServer("", s.handler)
	// What clients break off is no concern of ours.
	srv.ErrorLog = slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.log.Info("stopping", "grace", s.grace)
	s.drain()
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

// metricsServer serves a page of metrics at /metrics.
func metricsServer(page http.Handler) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", page)
	return api.NewHTTPServer("", mux)
}
