// Package cron runs the maintenance jobs by the clock: one file for each job,
// and the scheduler that runs each of them in one process at a time.
//
//	Scheduler ──tick──► Runner ──lease, cursor, row in job_run──► Job.Work
//	                      ▲                                          │
//	                      └── Run.Step: pace, progress, cursor ◄─────┘
//
// A new job is a file here and a line in cmd/kith/jobs.go, with a setting for its
// schedule.
//
// Any number of processes may run a Scheduler. At each tick all of them ask for
// the job's lease (repo/lease); one gets it and works, the others wait. When the
// lease is free again they check whether the tick has been served, and if not, one
// of them continues where the work stopped. So the work of a process that was killed
// continues within a term of the lease, and that of one that was stopped in order at
// once. All processes compute the same ticks, in UTC, so that a tick is served once
// however much their clocks differ.
//
// # Promises
//
//   - A job runs in one process at a time, as far as leases can ensure it.
//   - A job whose lease is lost stops before its next write: Step refuses, and
//     ctx ends. Its writes are safe without the lease, too.
//   - A job that was stopped or killed continues at its cursor, which is saved after
//     the first step, every second and at the end, together with the numbers of
//     the run. It may read the rows of the last second again.
//   - No more rows a second are read than the settings allow.
//   - Every run but a dry one leaves a row in job_run, and deletes those of its job
//     that are too old. A dry run writes nothing at all, and needs no lease.
//   - A row that cannot be worked on is logged and skipped (Run.Skip); the run then
//     counts as failed when it has done the others.
//
// A tick that comes while the job still runs is left out, and so is one at which no
// process runs. Work that was begun continues when a process starts.
package cron
