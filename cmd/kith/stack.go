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
	appaffinity "kith/app/affinity"
	appinteraction "kith/app/interaction"
	apprelation "kith/app/relation"
	appsuggest "kith/app/suggest"
	"kith/config"
	"kith/repo/account"
	"kith/repo/affinity"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/db"
	"kith/repo/identity"
	"kith/repo/interaction"
	"kith/repo/memcache"
	"kith/repo/relation"
	"kith/repo/seen"
	"kith/repo/suggest"
)

// stack is all stores and services, put together.
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
	posts     posts

	interactions *appinteraction.Recorder
	folder       *appaffinity.Folder
	order        *appaffinity.Service
	suggestions  *appsuggest.Service

	stopJobs func() // nil if this process runs no jobs
}

// openStack opens the database, which must be migrated, and makes the rest. Close it. A
// tool is a command that ends soon: without memcached it caches no rows, because it would
// not notice that they change.
func openStack(ctx context.Context, c config.Settings, tool bool, log *slog.Logger) (*stack, error) {
	s := &stack{registry: prometheus.NewRegistry()}
	var err error
	if s.pool, err = openDatabase(ctx, c.MySQL, db.NewMetrics(s.registry)); err != nil {
		return nil, err
	}
	if err := s.openCache(ctx, c.Cache, tool, log); err != nil {
		return nil, errors.Join(err, s.pool.Close())
	}
	s.registry.MustRegister(buildInfo(), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewDBStatsCollector(s.pool.DB, "mysql"))
	s.rows = relation.New(s.pool, s.cache, c.Relation.ListCap, time.Now)
	s.people = account.New(s.pool, s.cache)
	s.committer = committer.New(s.rows, committer.Config{Metrics: committer.NewMetrics(prometheus.WrapRegistererWith(prometheus.Labels{"rows": "relation"}, s.registry))})
	s.accounts = appaccount.New(s.people, time.Now)
	s.openAffinity(c.Affinity, log)
	if err := s.openPosts(c, tool, log); err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	s.relations = s.relationsAt(time.Now, c.Relation.FollowingLimit, log, s.interactions.Changed)
	return s, nil
}

// relationsAt makes the service that decides about relations, with a clock.
func (s *stack) relationsAt(now func() time.Time, limit int, log *slog.Logger, listeners ...func(apprelation.Change)) *apprelation.Service {
	return apprelation.New(apprelation.Config{
		Rows: s.rows, Committer: s.committer, Accounts: s.people, Now: now, FollowingLimit: limit, Listeners: listeners, Log: log,
	})
}

// openCache opens memcached where it is configured, else a cache in memory.
func (s *stack) openCache(ctx context.Context, c config.Cache, tool bool, log *slog.Logger) error {
	of := identity.New(s.pool)
	if tool && len(c.Memcached) == 0 {
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
	if s.servers, err = memcache.New(memcache.Config{Servers: c.Memcached, Timeout: c.Timeout, Log: log, Registerer: s.registry}); err != nil {
		return fmt.Errorf("KITH_MEMCACHED (--memcached): %w", err)
	}
	cfg.Client, cfg.Expiry, cfg.AbsentExpiry = s.servers, c.Expiry, min(c.Expiry, absentExpiry)
	if s.cache, err = cache.NewMemcached(cfg); err != nil {
		return errors.Join(fmt.Errorf("make the cache: %w", err), s.servers.Close())
	}
	return nil
}

// absentExpiry is how long a cache remembers that a row does not exist.
const absentExpiry = 30 * time.Second

// openAffinity makes the parts of affinity: the recorder and the order for servers, the
// folder and the suggestions for their jobs.
func (s *stack) openAffinity(c config.Affinity, log *slog.Logger) {
	worth := appaffinity.Config{Weights: c.Weights, HalfLife: c.HalfLife, Kept: c.Kept}
	events := interaction.New(s.pool)
	rows := affinity.New(s.pool, s.cache, log)
	marks := seen.New(s.pool)
	s.interactions = appinteraction.New(appinteraction.Config{Log: events, Marks: marks, Accounts: s.people, Weighs: worth.Weighs,
		Buffer: c.Buffer, Every: c.Flush, Logger: log, Metrics: appinteraction.NewMetrics(s.registry)})
	s.folder = appaffinity.NewFolder(worth, events, rows, time.Now, log)
	s.order = appaffinity.NewService(rows, s.rows)
	s.suggestions = appsuggest.New(appsuggest.Config{Rows: suggest.New(s.pool, s.cache, time.Now, log), Relations: s.rows,
		Affinities: rows, Seen: marks, Now: time.Now, HalfLife: c.HalfLife, SeenWithin: c.SeenWithin, Refresh: c.Refresh})
}

// close commits and writes all that waits, then closes the cache and the database. ctx
// bounds the wait for commits.
func (s *stack) close(ctx context.Context) error {
	if s.stopJobs != nil {
		s.stopJobs()
	}
	err := errors.Join(s.posts.close(ctx), s.committer.Close(ctx), s.interactions.Close(ctx), s.cache.Close(), s.pool.Close())
	if s.servers != nil {
		err = errors.Join(err, s.servers.Close())
	}
	return err
}
