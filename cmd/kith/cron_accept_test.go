package main

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kith/repo"
	"kith/repo/accepttest"
	"kith/repo/affinity"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/interaction"
	"kith/repo/seen"
)

const (
	killRounds  = 10
	killPeople  = 60 // who are followed by 30 others each
	killBatches = 300
)

// Two processes run each job; ten times the one at work is killed in the middle
// and the other takes over. Afterwards audit finds nothing and every
// interaction was folded exactly once.
func TestAccept_CronKilled(t *testing.T) {
	accepttest.Long(t)
	env := append(never(migrated(t)), "KITH_LIST_CAP=10", "KITH_AFFINITY_HALF_LIFE=87600h")
	k := &killer{t: t, env: env, dir: t.TempDir(), dsn: dsnOf(t, env)}
	runKith(t, k.dir, env, strings.NewReader(crowds(killPeople)), "import", "-", "--list-cap", "100000").wants(t)
	for _, job := range killedJobs() {
		begin := time.Now()
		for round := range killRounds {
			k.feed(round)
			k.round(job)
		}
		t.Logf("%s: killed %d times in %v, taken over each time", job, killRounds, time.Since(begin).Round(time.Second))
	}
	runKith(t, k.dir, env, nil, "cron", "run", "affinity", "--wait").wants(t)
	t.Logf("audit: %s", strings.TrimSpace(runKith(t, k.dir, env, nil, "audit").wants(t)))
	k.folded()
}

type killer struct {
	t    *testing.T
	env  []string
	dir  string
	dsn  string
	sent int
}

func dsnOf(t *testing.T, env []string) string {
	t.Helper()
	for _, e := range env {
		if dsn, ok := strings.CutPrefix(e, "KITH_MYSQL_DSN="); ok {
			return dsn
		}
	}
	t.Fatal("no DSN in the environment of the tests")
	return ""
}

// feed gives every job something to do: follows past the cap, interactions.
func (k *killer) feed(round int) {
	k.t.Helper()
	var follows strings.Builder
	for star := 1; star <= killPeople; star++ {
		for f := range 12 {
			fmt.Fprintf(&follows, "%d %d %d\n", 2000+f+rand.IntN(5000), star, 1_600_001_000+round)
		}
	}
	// What an import cuts itself would be nothing for trim.
	runKith(k.t, k.dir, k.env, strings.NewReader(follows.String()), "import", "-", "--list-cap", "100000").wants(k.t)
	pool, err := db.Open(k.t.Context(), db.Config{DSN: k.dsn})
	if err != nil {
		k.t.Fatal(err)
	}
	defer pool.Close()
	var marks []seen.Mark
	for id := range uint64(600) { // others each time: suggestions are not made again so soon
		marks = append(marks, seen.Mark{AccountID: 1000 + 600*uint64(k.sent) + id, At: uint32(time.Now().Unix())})
	}
	for some := range slices.Chunk(marks, seen.MaxRows) {
		if err := seen.New(pool).Put(k.t.Context(), some); err != nil {
			k.t.Fatal(err)
		}
	}
	log := interaction.New(pool)
	for n := range killBatches / 100 {
		var events []interaction.Event
		for star := 1; star <= 100; star++ {
			events = append(events, interaction.Event{Actor: uint64(star), Target: 9_000_000, Kind: "message", At: uint32(time.Now().Unix())})
		}
		id := uint64(time.Now().UnixMilli())<<22 | uint64(n)<<16
		batches := interaction.Batches(events, func() uint64 { id++; return id })
		if err := log.Append(k.t.Context(), batches); err != nil {
			k.t.Fatal(err)
		}
		k.sent++
	}
}

// round has two processes run a job, kills the one at work at a random moment
// and waits until the other has ended a run.
func (k *killer) round(job string) {
	k.t.Helper()
	env := append(k.env, "KITH_CRON_RATE=1500", "KITH_CRON_"+strings.ToUpper(job)+"=* * * * * *")
	first := startKith(k.t, k.dir, env, "cron", "--lease-term", "1s", "--log-level", "debug")
	second := startKith(k.t, k.dir, env, "cron", "--lease-term", "1s", "--log-level", "debug")
	line := waitListed(k.t, k.dir, env, job, "running on ")
	time.Sleep(rand.N(150 * time.Millisecond))
	victim, heir := first, second
	if holder := regexp.MustCompile(`running on \S+:(\d+)`).FindStringSubmatch(line); holder != nil && holder[1] == strconv.Itoa(second.cmd.Process.Pid) {
		victim, heir = second, first
	}
	if err := victim.cmd.Process.Kill(); err != nil {
		k.t.Fatal(err)
	}
	heir.waitFor(k.t, `msg="job done" job=`+job)
	if code := heir.interrupt(k.t); code != 0 {
		k.t.Errorf("%s: the heir ends with code %d", job, code)
	}
	victim.wait(k.t)
}

// folded checks that the log is empty and each actor's score is that of all
// its messages, each once.
func (k *killer) folded() {
	pool, err := db.Open(k.t.Context(), db.Config{DSN: k.dsn})
	if err != nil {
		k.t.Fatal(err)
	}
	defer pool.Close()
	if left, err := interaction.New(pool).Count(k.t.Context(), 0, repo.Buckets-1); err != nil || left != 0 {
		k.t.Errorf("%d interactions are left in the log, %v", left, err)
	}
	store := affinity.New(pool, cache.NewNone(), slog.New(slog.DiscardHandler))
	var one float64
	for star := uint64(1); star <= 100; star++ {
		row, err := store.Row(k.t.Context(), star)
		if err != nil {
			k.t.Fatal(err)
		}
		got := math.NaN()
		for _, e := range row.Entries {
			if e.ID == 9_000_000 {
				got = float64(e.Score)
			}
		}
		if one == 0 {
			one = got / float64(k.sent)
			k.t.Logf("%d messages of each of 100 actors, %.3f for each", k.sent, one)
		}
		if want := one * float64(k.sent); math.Abs(got-want) > want/1000 || one != one {
			k.t.Errorf("score of actor %d: %v, want %v", star, got, want)
		}
	}
}

// killedJobs are all jobs, or those that KITH_ACCEPT_JOBS names.
func killedJobs() []string {
	if some := os.Getenv("KITH_ACCEPT_JOBS"); some != "" {
		return strings.Fields(some)
	}
	return []string{"trim", "affinity", "suggest", "expire", "audit", "checkpoint"}
}
