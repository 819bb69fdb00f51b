package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"kith/cron"
	"kith/repo/job"
	"kith/repo/lease"
)

type cronListCmd struct {
	cronOn
	asJSON
}

// Run shows the jobs.
func (c *cronListCmd) Run(ctx context.Context) error {
	return c.with(ctx, func(j jobs) error {
		all, err := j.runner.List(ctx, j.plans)
		if err != nil {
			return err
		}
		if c.JSON {
			for _, s := range all {
				if err := c.line(jobLine(s)); err != nil {
					return err
				}
			}
			return nil
		}
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "JOB\tSCHEDULE (UTC)\tLAST RUN (UTC)\tTOOK\tROWS\tCHANGED\tRESULT\tNEXT RUN (UTC)\tWHAT IT DOES")
		for _, s := range all {
			fmt.Fprintln(w, listed(s, time.Now()))
		}
		return w.Flush()
	})
}

// listed is a job as a line of the table.
func listed(s cron.Status, now time.Time) string {
	next := "-"
	if !s.Next.IsZero() {
		next = clock(s.Next)
	}
	last := "never\t-\t-\t-\t-"
	if r := s.Last; r != nil {
		last = fmt.Sprintf("%s\t%v\t%d\t%d\t%s", clock(time.UnixMilli(r.Started)), took(*r, s.Dead, now), r.Rows, r.Done, outcome(s))
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", s.Job.Name, s.Schedule, last, next, s.Job.About)
}

// outcome is the result of the last run in words.
func outcome(s cron.Status) string {
	r := s.Last
	text := string(r.Result)
	switch {
	case s.Dead:
		text = "killed on " + lease.Who(r.Holder)
	case r.Result == job.Running:
		text = "running on " + lease.Who(r.Holder)
	case r.Failure != "":
		text += ": " + r.Failure
	}
	if s.Cursor != "" && (s.Dead || r.Result != job.Running) {
		text += " (goes on at " + s.Cursor + ")"
	}
	return text
}

// took is how long a run took, or has taken so far.
func took(r job.Run, dead bool, now time.Time) string {
	switch {
	case r.Ended != 0:
		return (time.Duration(r.Ended-r.Started) * time.Millisecond).String()
	case dead:
		return "-"
	}
	return now.Sub(time.UnixMilli(r.Started)).Round(time.Second).String()
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// jobObject is a job as a JSON object.
type jobObject struct {
	Job      string     `json:"job"`
	About    string     `json:"about"`
	Schedule string     `json:"schedule"` // off: never
	NextRun  moment     `json:"next_run_at"`
	GoesOn   string     `json:"goes_on_at"` // empty: at the beginning
	Last     *runObject `json:"last_run"`
}

// runObject is the last run of a job.
type runObject struct {
	Started moment `json:"started_at"`
	Ended   moment `json:"ended_at"`
	Rows    int64  `json:"rows"`
	Changed int64  `json:"changed"`
	Result  string `json:"result"` // ok, failed, stopped, lost, running, or killed
	Failure string `json:"failure"`
	Holder  string `json:"holder"` // host:process
}

func jobLine(s cron.Status) jobObject {
	out := jobObject{Job: s.Job.Name, About: s.Job.About, Schedule: s.Schedule.String(), NextRun: moment{s.Next}, GoesOn: s.Cursor}
	if r := s.Last; r != nil {
		out.Last = &runObject{atMilli(r.Started), atMilli(r.Ended), r.Rows, r.Done, string(r.Result), r.Failure, lease.Who(r.Holder)}
		if s.Dead {
			out.Last.Result = "killed"
		}
	}
	return out
}
