package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	appaccount "kith/app/account"
	apprelation "kith/app/relation"
	"kith/config"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/db"
	"kith/repo/identity"
	"kith/repo/memcache"
	"kith/repo/relation"
)

// stack is everything between the settings and the answers, put together.
type stack struct {
	pool      *sqlx.DB
	servers   *memcache.Client // nil where there are none
	cache     cache.Cache
	registry  *prometheus.Registry
	rows      *relation.Store
	people    *account.Store
	committer *committer.Committer[*relation.Draft, relation.Row]
	accounts  *appaccount.Service
	relations *apprelation.Service
	near
	stopJobs func() error // nil where this process runs no jobs beside others
}

// parts are the settings of a stack.
type parts struct {
	mysql    config.MySQL
	cache    config.Cache
	relation config.Relation
	affinity config.Affinity
	// tool says that the process comes and goes: without memcached it keeps
	// no rows at all, because nobody would tell it of changes.
	tool bool
}

// openStack opens the database, which must be migrated, and puts the rest on
// it. Close it.
func openStack(ctx context.Context, p parts, log *slog.Logger) (*stack, error) {
	s := &stack{registry: prometheus.NewRegistry()}
	var err error
	if s.pool, err = openDatabase(ctx, p.mysql, db.NewMetrics(s.registry)); err != nil {
		return nil, err
	}
	if err := s.openCache(ctx, p, log); err != nil {
		return nil, errors.Join(err, s.closeServers(), s.pool.Close())
	}
	s.registry.MustRegister(buildInfo(), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewDBStatsCollector(s.pool.DB, "mysql"))
	s.rows = relation.New(s.pool, s.cache, p.relation.ListCap, time.Now)
	s.people = account.New(s.pool, s.cache)
	s.committer = committer.New(s.rows,
		committer.Config{Log: log, Metrics: committer.NewMetrics(s.registry)})
	s.accounts = appaccount.New(s.people, time.Now)
	s.near = s.openNear(p.affinity, log)
	s.relations = s.relationsAt(time.Now, p.relation.FollowingLimit, s.interactions.Changed)
	return s, nil
}

// relationsAt makes the service that decides about relations, with a clock.
func (s *stack) relationsAt(now func() time.Time, limit int, listeners ...func(apprelation.Change)) *apprelation.Service {
	return apprelation.New(apprelation.Config{
		Rows: s.rows, Committer: s.committer, Accounts: s.people, Now: now, FollowingLimit: limit, Listeners: listeners,
	})
}

// openCache opens memcached where it is configured, else a cache in memory.
func (s *stack) openCache(ctx context.Context, p parts, log *slog.Logger) error {
	c, of := p.cache, identity.New(s.pool)
	if p.tool && len(c.Memcached) == 0 {
		s.cache = cache.NewNone()
		return nil
	}
	id, err := of.Open(ctx)
	if err != nil {
		return err
	}
	cfg := cache.Config{MaxBytes: int64(c.LocalSize), Expiry: c.LocalExpiry, AbsentExpiry: min(c.LocalExpiry, absentExpiry),
		Identity: id, Identify: of.Open, Log: log, Registerer: s.registry}
	if len(c.Memcached) == 0 {
		if s.cache, err = cache.NewLocal(cfg); err != nil {
			return fmt.Errorf("make the cache in memory: %w", err)
		}
		return nil
	}
	s.servers, err = memcache.New(memcache.Config{Servers: c.Memcached, Timeout: c.Timeout, Log: log, Registerer: s.registry})
	if err == nil {
		cfg.Client, cfg.Expiry, cfg.AbsentExpiry = s.servers, c.Expiry, min(c.Expiry, absentExpiry)
		s.cache, err = cache.NewMemcached(cfg)
	}
	if err != nil {
		return fmt.Errorf("KITH_MEMCACHED (--memcached): %w", err)
	}
	return nil
}

// closeServers lets go of memcached, if there is one.
func (s *stack) closeServers() error {
	if s.servers == nil {
		return nil
	}
	return s.servers.Close()
}

// absentExpiry is how long a cache believes that there is no such row.
const absentExpiry = 30 * time.Second

// close commits and writes what waits, then lets go of the cache and the database. ctx
// bounds the wait for commits.
func (s *stack) close(ctx context.Context) error {
	var jobs error
	if s.stopJobs != nil {
		jobs = s.stopJobs()
	}
	return errors.Join(jobs, s.committer.Close(ctx), s.interactions.Close(ctx), s.cache.Close(), s.closeServers(), s.pool.Close())
}
