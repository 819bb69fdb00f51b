package relation_test

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/app"
	"kith/app/relation"
	"kith/repo/accepttest"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/dbtest"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
)

// What the two processes share. The long form runs for the time the acceptance
// asks for, the short one in every test run.
const (
	racers      = 64
	racePeople  = 200
	raceFirstID = 5_000_000
)

// Random changes from 64 goroutines in two processes on the same 200 accounts,
// with memcached stopped and started in between: afterwards both sides of every
// edge agree, counts equal lists, and the history is linearizable pair by pair.
func TestAccept_TwoProcesses(t *testing.T) {
	span := 3 * time.Second
	if accepttest.Asked() {
		span = 30 * time.Second
	}
	memcached := memcachetest.Start(t)
	w := newWorld(t, cache.NewNone(), 0)
	ids := raceIDs()
	if _, err := w.Accounts.Ensure(t.Context(), ids, 1); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if id%4 == 0 {
			w.lock(id)
		}
	}
	var wg sync.WaitGroup
	paths := []string{filepath.Join(t.TempDir(), "a.json"), filepath.Join(t.TempDir(), "b.json")}
	made, tell, err := os.Pipe() // a byte for each change
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	for _, path := range paths {
		wg.Go(func() { raceInProcess(t, path, memcached.Addr, span, tell) })
	}
	go func() { wg.Wait(); tell.Close() }()
	faults := []func(){memcached.Stop, memcached.Restart, memcached.Pause, memcached.Resume}
	for n := 0; ; n++ {
		if _, err := io.CopyN(io.Discard, made, 500); err != nil { // both have ended
			break
		}
		faults[n%len(faults)]()
	}
	wg.Wait()
	var calls []call
	for _, path := range paths {
		calls = append(calls, readHistory(t, path)...)
	}
	consistent(t, w.Rows, ids)
	pairs := linearizable(t, calls)
	open := 0
	for _, c := range calls {
		if c.Answer == unknown {
			open++
		}
	}
	t.Logf("%d changes of %d pairs in %v from two processes, %d with unknown outcome", len(calls), pairs, span, open)
	if len(calls) < 1000 {
		t.Errorf("only %d changes were made", len(calls))
	}
}

func raceIDs() []uint64 {
	ids := make([]uint64, racePeople)
	for i := range ids {
		ids[i] = raceFirstID + uint64(i)
	}
	return ids
}

// raceInProcess runs TestRacer in a process of its own.
func raceInProcess(t *testing.T, path, memcached string, span time.Duration, tell *os.File) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestRacer$", "-test.timeout=120s")
	cmd.Env = append(os.Environ(), "KITH_RACER="+strings.Join([]string{path, dbtest.DSN(t), memcached, strconv.Itoa(int(span.Milliseconds()))}, "|"))
	cmd.ExtraFiles = []*os.File{tell}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("racer: %v\n%s", err, out)
	}
}

// TestRacer is one of the two processes; on its own it does nothing.
func TestRacer(t *testing.T) {
	env := os.Getenv("KITH_RACER")
	if env == "" {
		t.Skip("runs as a process of TestAccept_TwoProcesses")
	}
	part := strings.Split(env, "|")
	span, err := strconv.Atoi(part[3])
	if err != nil {
		t.Fatal(err)
	}
	servers, err := memcache.New(memcache.Config{Servers: []string{part[2]}})
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	c, err := cache.NewMemcached(cache.Config{Client: servers})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	calls := race(t, raceService(t, part[1], c), time.Duration(span)*time.Millisecond, os.NewFile(3, "made"))
	b, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(part[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func raceService(t *testing.T, dsn string, c cache.Cache) *relation.Service {
	store := storeOn(t, dsn, c)
	edits := committer.New(store, committer.Config{})
	t.Cleanup(func() { edits.Close(context.Background()) })
	return relation.New(relation.Config{Rows: store, Committer: edits, Accounts: account.New(poolOn(t, dsn), c), Now: time.Now})
}

func race(t *testing.T, s *relation.Service, span time.Duration, made io.Writer) []call {
	done := make([][]call, racers)
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range racers {
		wg.Go(func() {
			for time.Since(begin) < span {
				done[i] = append(done[i], change(t, s))
				if _, err := made.Write([]byte{1}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var all []call
	for _, d := range done {
		all = append(all, d...)
	}
	return all
}

var ops = map[string]func(*relation.Service, context.Context, uint64, uint64) (relation.Relationship, error){
	"follow": func(s *relation.Service, ctx context.Context, a, b uint64) (relation.Relationship, error) {
		return s.Follow(ctx, a, b, relation.FollowOptions{})
	},
	"unfollow":  (*relation.Service).Unfollow,
	"block":     (*relation.Service).Block,
	"unblock":   (*relation.Service).Unblock,
	"remove":    (*relation.Service).RemoveFollower,
	"authorize": (*relation.Service).Authorize,
	"reject":    (*relation.Service).Reject,
}

// drawn holds each op as often as it is drawn.
var drawn = []string{"follow", "follow", "follow", "follow", "follow", "unfollow", "unfollow", "block", "unblock", "unblock", "remove", "authorize", "authorize", "reject"}

// change makes one random change. Few accounts are drawn much more often than
// the others, so that their pairs meet; one in fifty callers leaves early.
func change(t *testing.T, s *relation.Service) call {
	a, b := drawPerson(), drawPerson()
	for a == b {
		b = drawPerson()
	}
	stay := time.Minute
	if rand.IntN(50) == 0 {
		stay = rand.N(2 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), stay)
	defer cancel()
	c := call{Op: drawn[rand.IntN(len(drawn))], Actor: a, Target: b, Locked: b%4 == 0, Start: time.Now().UnixNano()}
	r, err := ops[c.Op](s, ctx, a, b)
	c.End = time.Now().UnixNano()
	c.Answer = answerOf(r, err)
	if app.KindOf(err) == app.Internal && err != nil {
		t.Errorf("%s: %v", c.Op, err)
	}
	return c
}

func drawPerson() uint64 {
	f := rand.Float64()
	return raceFirstID + uint64(f*f*f*racePeople)
}
