package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"time"

	"kith/app/api"
	"kith/app/token"
	"kith/config"
)

type serveCmd struct {
	Settings config.Settings `embed:""`
}

// Help is the text above the settings.
func (serveCmd) Help() string {
	return "Answers clients until SIGINT or SIGTERM, then finishes what is under way. Each setting is a flag, a name in the " +
		"environment, or a line of the settings file: the first of these counts. The database must be migrated: kith migrate up."
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
	st, err := openStack(ctx, parts{mysql: s.MySQL, cache: s.Cache, relation: s.Relation, affinity: s.Affinity}, log)
	if err != nil {
		return err
	}
	l, err := listen(s.HTTP.Listen)
	if err != nil {
		return errors.Join(err, st.close(ctx))
	}
	log.Info("serving", "address", l.Addr().String(), "version", versionName(), "database", s.MySQL.DSN, "memcached", s.Cache.Memcached)
	return st.serve(ctx, l, s.HTTP, tokens, log)
}

// serve answers on l until ctx ends, and then closes the stack: no request is
// left that could still need it.
func (s *stack) serve(ctx context.Context, l net.Listener, c config.HTTP, tokens *token.Tokens, log *slog.Logger) error {
	start := time.Now()
	defer roomForGarbage()()
	var ready readiness
	handler, err := api.New(api.Config{
		Relations: s.relations, Accounts: s.accounts, Tokens: tokens,
		Interactions: s.interactions, Affinity: s.order, Suggestions: s.suggestions,
		BaseURL: c.BaseURL, Title: c.Title, Version: versionName(),
		Log: log, Registry: s.registry, Ready: ready.of(s),
		RateLimit: c.RateLimit, TrustedProxies: c.TrustedProxies, RequestTimeout: c.RequestTimeout, MaxBody: int64(c.MaxBody),
	})
	if err != nil {
		return errors.Join(err, l.Close(), s.close(ctx))
	}
	err = server{handler: handler, drain: ready.drain, grace: c.ShutdownGrace, log: log}.answer(ctx, l)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.ShutdownGrace)
	defer cancel()
	err = errors.Join(err, s.close(closing))
	log.Info("stopped", "served", time.Since(start).Round(time.Second))
	return err
}
