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
	"kith/repo/job"
	"kith/repo/lease"
	"kith/repo/relation"
)

// plans are all jobs and when they run. A new job is added here.
func (s *stack) plans(c config.Cron, listCap int) ([]cron.Plan, error) {
	runs := job.New(s.pools.small)
	expire := cron.ExpireConfig{Rows: s.rows, Relations: s.relations, Requests: c.RequestExpiry,
		Runs: runs, Keep: c.RunKeep, Now: time.Now}
	jobs := []struct {
		job  cron.Job
		when string
	}{
		{cron.Trim(s.rows, relation.NewEdits(s.rows, time.Now), listCap), c.Trim},
		{cron.Affinity(s.folder), c.Affinity},
		{cron.Suggest(s.suggestions), c.Suggest},
		{cron.Audit(s.auditConfig(false)), c.Audit}, // it reports; kith audit --repair mends
		{cron.Expire(&expire), c.Expire},
	}
	out := make([]cron.Plan, len(jobs))
	for i, j := range jobs {
		expire.Jobs = append(expire.Jobs, j.job.Name)
		when, err := cron.ParseSchedule(j.when)
		if err != nil {
			return nil, fmt.Errorf("KITH_CRON_%s: %w", strings.ToUpper(j.job.Name), err)
		}
		out[i] = cron.Plan{Job: j.job, Schedule: when}
	}
	return out, nil
}

// runner makes what runs jobs on the stack.
func (s *stack) runner(c config.Cron, term time.Duration, log *slog.Logger) *cron.Runner {
	return cron.NewRunner(cron.RunnerConfig{
		Leases: lease.New(lease.Config{DB: s.pools.small, Process: processName(), Term: term, Log: log}),
		Runs:   job.New(s.pools.small), Rate: c.Rate, Log: log, Metrics: cron.NewMetrics(s.registry),
	})
}

// processName names this process among those that run jobs.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%.100s:%d", host, os.Getpid())
}

// startJobs runs the jobs beside a server until the stack is closed.
func (s *stack) startJobs(ctx context.Context, c config.Cron, listCap int, log *slog.Logger) error {
	plans, err := s.plans(c, listCap)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- cron.NewScheduler(s.runner(c, lease.DefaultTerm, log), plans).Run(ctx) }()
	s.stopJobs = func() error {
		cancel()
		return <-ended
	}
	return nil
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
