package job_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kith/repo/dbtest"
	"kith/repo/job"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func name(t *testing.T) string { return fmt.Sprintf("job%d", dbtest.IDs(t, 1)[0]) }

func save(t *testing.T, s *job.Store, r job.Run) {
	t.Helper()
	if err := s.Save(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

func last(t *testing.T, s *job.Store, name string) []job.Run {
	t.Helper()
	runs, err := s.Last(t.Context(), name, 10)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func TestStore_Save(t *testing.T) {
	s, n := job.New(dbtest.DB(t)), name(t)
	first := job.Run{Name: n, Started: 1000, Holder: "a:1:x", Tick: 999, Result: job.Running}
	second := job.Run{Name: n, Started: 2000, Holder: "b:2:y", Result: job.Running}
	save(t, s, first)
	save(t, s, second)
	second.Ended, second.Rows, second.Done, second.Result, second.Failure = 3000, 7, 5, job.Failed, strings.Repeat("ä", 400)
	save(t, s, second)
	save(t, s, second) // twice is harmless
	second.Failure = strings.Repeat("ä", 250)
	if diff := cmp.Diff([]job.Run{second, first}, last(t, s, n)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestStore_Bury(t *testing.T) {
	s, n := job.New(dbtest.DB(t)), name(t)
	open := job.Run{Name: n, Started: 1000, Holder: "a", Result: job.Running}
	ended := job.Run{Name: n, Started: 2000, Holder: "a", Ended: 2500, Result: job.OK}
	for _, r := range []job.Run{open, ended} {
		save(t, s, r)
		if err := s.Bury(t.Context(), r, 9000); err != nil {
			t.Fatal(err)
		}
	}
	open.Ended, open.Result = 9000, job.Lost
	if diff := cmp.Diff([]job.Run{ended, open}, last(t, s, n)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestStore_Expire(t *testing.T) {
	s, n, other := job.New(dbtest.DB(t)), name(t), name(t)
	for at := range int64(5) {
		save(t, s, job.Run{Name: n, Started: 1000 + at, Result: job.OK})
	}
	save(t, s, job.Run{Name: other, Started: 1, Result: job.OK})
	for _, c := range []struct{ before, deleted, left int64 }{
		{1000, 0, 5}, {1003, 2, 3}, {1003, 1, 2}, {9999, 1, 1}, {9999, 0, 1}, // the newest stays
	} {
		if got, err := s.Expire(t.Context(), n, c.before, 2); err != nil || got != c.deleted {
			t.Errorf("before %d: %d deleted, %v, want %d", c.before, got, err, c.deleted)
		}
		if left := int64(len(last(t, s, n))); left != c.left {
			t.Errorf("before %d: %d left, want %d", c.before, left, c.left)
		}
	}
	if len(last(t, s, other)) != 1 {
		t.Error("the run of another job is gone")
	}
}

func TestStore_Cursor(t *testing.T) {
	s, n := job.New(dbtest.DB(t)), name(t)
	for _, c := range []struct {
		cursor string
		ver    uint64
		want   string
	}{{"10", 5, "10"}, {"20", 5, "20"}, {"15", 4, "20"}, {"30", 6, "30"}, {"", 5, "30"}, {"", 6, ""}} {
		if err := s.SaveCursor(t.Context(), n, c.cursor, c.ver, 1000); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Cursor(t.Context(), n); err != nil || got != c.want {
			t.Errorf("after %q under ver %d: %q, %v, want %q", c.cursor, c.ver, got, err, c.want)
		}
	}
	if got, err := s.Cursor(t.Context(), name(t)); got != "" || err != nil {
		t.Errorf("the cursor of a job that never ran is %q, %v", got, err)
	}
	if err := s.SaveCursor(t.Context(), n, strings.Repeat("x", job.MaxCursor+1), 9, 0); err == nil {
		t.Error("a cursor that does not fit was taken")
	}
}

func TestStore_Index(t *testing.T) {
	pool := dbtest.DB(t)
	dbtest.CheckIndex(t, pool, `SELECT name, started_ms, holder, tick_ms, ended_ms, looked_at, changed, result, failure FROM job_run WHERE bucket = ? AND name = ? ORDER BY started_ms DESC, holder DESC LIMIT ?`, 1, "x", 20)
	dbtest.CheckIndex(t, pool, `UPDATE job_run SET ended_ms = ?, result = ? WHERE bucket = ? AND name = ? AND started_ms = ? AND holder = ? AND ended_ms = 0`, 9, "lost", 1, "x", 20, "a")
	dbtest.CheckIndex(t, pool, `DELETE FROM job_run WHERE bucket = ? AND name = ? AND started_ms < ? ORDER BY started_ms LIMIT ?`, 1, "x", 20, 10)
	dbtest.CheckIndex(t, pool, `SELECT resume_at FROM job_cursor WHERE bucket = ? AND name = ?`, 1, "x")
}
