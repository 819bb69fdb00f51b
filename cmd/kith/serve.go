package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"runtime"
	"time"

	"kith/app/api"
	"kith/app/api/core"
	"kith/app/api/instance"
	"kith/app/api/socket"
	"kith/app/token"
	"kith/config"
)

type serveCmd struct {
	Settings config.Settings `embed:""`
}

// Help is the text above the settings.
func (serveCmd) Help() string {
	return "Answers clients until SIGINT or SIGTERM, and for KITH_DRAIN longer, while /readyz says 503; then it ends the requests under way. " +
		"Each setting is a flag, a name in the environment, or a line of the settings file: the first of these counts. " +
		"The database must be migrated: kith migrate up."
}

// Run serves until ctx ends.
func (c *serveCmd) Run(ctx context.Context) error {
	s := c.Settings
	if err := s.Check(); err != nil {
		return err
	}
	log := newLog(os.Stderr, s.Log)
	tokens, err := openTokens(ctx, s.Token, func(err error) { log.Warn("token keys", "error", err) })
	if err != nil {
		return err
	}
	st, err := openStack(ctx, s, false, log)
	if err != nil {
		return err
	}
	l, err := listen("KITH_LISTEN", s.HTTP.Listen)
	if err != nil {
		return errors.Join(err, st.close(ctx))
	}
	log.Info("serving", "address", l.Addr().String(), "version", versionName(), "database", s.MySQL.DSN, "memcached", s.Cache.Memcached)
	return st.serve(ctx, l, s, tokens, log)
}

// serve answers on l until ctx ends, and then closes the stack: no request needs it any
// more.
func (s *stack) serve(ctx context.Context, l net.Listener, c config.Settings, tokens *token.Tokens, log *slog.Logger) error {
	start := time.Now()
	defer roomForGarbage()()
	ready := s.readiness(log)
	clients := socket.New(l, maxConnections(c.HTTP.MaxConnections, c.MySQL.Pool, log), log)
	handler, err := s.handler(c, tokens, ready, log)
	err = errors.Join(err, clients.Register(s.registry))
	done := func() {}
	if err == nil {
		done, err = s.admin(c.Admin.Listen, ready, log)
	}
	if err != nil {
		return errors.Join(err, l.Close(), s.close(ctx))
	}
	err = server{handler: handler, ready: ready, drain: c.HTTP.Drain, grace: c.HTTP.ShutdownGrace, log: log}.answer(ctx, clients)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.HTTP.ShutdownGrace)
	defer cancel()
	err = errors.Join(err, s.close(closing))
	done()
	log.Info("stopped", "served_seconds", int(time.Since(start).Seconds()))
	return err
}

// handler makes the API over the stack.
func (s *stack) handler(c config.Settings, tokens *token.Tokens, ready *readiness, log *slog.Logger) (*core.Server, error) {
	return api.New(api.Config{
		Config: core.Config{
			Tokens: tokens, Accounts: s.accounts, Interactions: s.interactions, BaseURL: c.HTTP.BaseURL, Log: log, Registry: s.registry,
			RateLimit: c.HTTP.RateLimit, TrustedProxies: c.HTTP.TrustedProxies, RequestTimeout: c.HTTP.RequestTimeout, MaxBody: int64(c.HTTP.MaxBody),
		},
		Relations: s.relations, Posts: s.posts.service, Homes: s.posts.homes, Markers: s.posts.markers, Promotions: s.posts.promotions, Affinity: s.order, Suggestions: s.suggestions,
		About: instance.About{Title: c.HTTP.Title, Version: versionName()}, HideMetrics: c.Admin.Listen != "", Ready: ready.missing,
	})
}

// garbageRoom is how much garbage a server has at least before it collects.
const garbageRoom = 64 << 20

// roomForGarbage makes the collector run less often while a server has little data. Without
// it the collector ran thirty times a second: it runs when there is as much garbage as
// data. What is allocated here counts as data, and takes no memory of the system, since it
// is never written to. Requests take a quarter less processor time. If GOGC or GOMEMLIMIT
// is set, only that counts. Call free at the end.
func roomForGarbage() (free func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	room := make([]byte, garbageRoom)
	return func() { runtime.KeepAlive(room) }
}
