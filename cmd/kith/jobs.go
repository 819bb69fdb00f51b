package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"kith/config"
	"kith/cron"
	"kith/repo/feed"
	"kith/repo/job"
	"kith/repo/lease"
	"kith/repo/marker"
	"kith/repo/seen"
	"kith/repo/task"
	"kith/repo/timeline"
)

// plans are all jobs and when they run. A new job is added here.
func (s *stack) plans(c config.Cron, listCap int) []cron.Plan {
	return []cron.Plan{
		{Job: cron.Trim(s.rows, listCap), Schedule: c.Trim},
		{Job: cron.Affinity(s.folder), Schedule: c.Affinity},
		{Job: cron.Suggest(s.suggestions), Schedule: c.Suggest},
		{Job: cron.Audit(s.auditConfig(false)), Schedule: c.Audit}, // it reports; kith audit --repair repairs
		{Job: cron.Expire(s.expireConfig(c)), Schedule: c.Expire},
		{Job: cron.Checkpoint(cron.CheckpointConfig{Homes: s.posts.homes, Seen: seen.New(s.pool), Now: time.Now}), Schedule: c.Checkpoint},
	}
}

// expireConfig is what the job expire works with.
func (s *stack) expireConfig(c config.Cron) cron.ExpireConfig {
	return cron.ExpireConfig{Rows: s.rows, Relations: s.relations, Requests: c.RequestExpiry, Gone: c.GoneAfter, Now: time.Now,
		Keys: feed.NewKeys(s.pool), Tasks: task.New(s.pool), Timelines: timeline.NewStore(s.pool, time.Now, slog.Default()), Markers: marker.New(s.pool), Seen: seen.New(s.pool)}
}

// runner makes the Runner of the jobs.
func (s *stack) runner(c config.Cron, term time.Duration, log *slog.Logger) *cron.Runner {
	return cron.NewRunner(cron.RunnerConfig{
		Leases: lease.New(lease.Config{DB: s.pool, Process: processName(), Term: term, Log: log}),
		Runs:   job.New(s.pool), Rate: c.Rate, Keep: c.RunKeep, Log: log, Metrics: cron.NewMetrics(s.registry),
	})
}

// processName is the name of this process in leases.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%.100s:%d", host, os.Getpid())
}

// startJobs runs the jobs in the process of a server until the stack is closed.
func (s *stack) startJobs(ctx context.Context, c config.Cron, listCap int, log *slog.Logger) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cron.NewScheduler(s.runner(c, lease.DefaultTerm, log), s.plans(c, listCap)).Run(ctx)
	}()
	s.stopJobs = func() {
		cancel()
		<-ended
	}
}

// planOf finds a job by its name.
func planOf(plans []cron.Plan, name string) (cron.Plan, error) {
	var names []string
	for _, p := range plans {
		if p.Job.Name == name {
			return p, nil
		}
		names = append(names, p.Job.Name)
	}
	return cron.Plan{}, wrong("there is no job %s: the jobs are %s", name, strings.Join(names, ", "))
}
