// Package cron runs the maintenance jobs by the clock: one file for each job,
// and the scheduler that runs each of them in one process at a time.
//
//	Scheduler ──tick──► Runner ──lease, cursor, row in job_run──► Job.Work
//	                      ▲                                          │
//	                      └──── Step: pace, progress, cursor ◄───────┘
//
// Any number of processes may run a Scheduler. At each tick all of them ask for
// the job's lease (repo/lease); one gets it and works, the others stand by: when
// the lease comes free they look whether the tick has been served, and go on
// where the work stopped if it has not. So a process that is killed is followed
// by another within a term, and one that is stopped in order at once. Ticks are
// moments of UTC that all processes compute alike, so that a tick is served
// once however much their clocks differ.
//
// # Promises
//
//   - A job runs in one process at a time, as nearly as leases can tell.
//   - A job whose lease is lost stops before its next write: Step refuses, and
//     ctx ends. What it writes is guarded by itself all the same.
//   - A job that was stopped or killed goes on at its cursor, which is saved after
//     the first step, every second and at the end, and with it what the run has
//     done. It may see the last second's rows again.
//   - No more rows a second are looked at than the settings allow.
//   - Every run but a dry one leaves a row in job_run. A dry run writes nothing
//     at all, and needs no lease.
//   - A row that cannot be worked on is logged and passed over; the run then
//     counts as failed when it has done the others.
//
// A tick that comes while the job still runs is left out. A tick at which no
// process lives is left out, too; work that was begun is taken up at the start.
package cron
