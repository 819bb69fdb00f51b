package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kith/app/audit"
	"kith/repo"
	"kith/repo/dbtest"
	"kith/repo/postcheck"
)

// allOnly are the planted faults that only an audit of all accounts finds.
var allOnly = []string{"Orphans"}

// The audits of the accounts one by one find and repair what an audit of all does.
func TestRun_Posts_OfOne(t *testing.T) {
	for name, c := range planted {
		if slices.Contains(allOnly, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := newWall(t)
			before := w.state()
			c.plant(w)
			var faults []string
			for _, id := range []uint64{w.ada, w.bob, w.cleo} {
				faults = append(faults, w.auditOf(id, true)...)
			}
			w.wants(faults, c.want)
			w.wants(w.audit(false), nil)
			if after := w.state(); !slices.Equal(after, before) {
				t.Errorf("before the fault it was\n%s\nafter the repair it is\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
			}
		})
	}
}

// An audit of one account reads a bounded number of rows, and says so.
func TestRun_Posts_OfOne_Many(t *testing.T) {
	w := newWall(t)
	for most, want := range map[int64]int64{1: 1, 1000: 0} {
		cfg := w.config()
		cfg.Account, cfg.Posts.MaxOfOne = w.ada, most
		var faults []string
		cfg.Report = func(f audit.Fault) { faults = append(faults, f.String()) }
		sum, err := audit.Run(t.Context(), cfg)
		if err != nil || sum.Remain() != want || want > 0 && !strings.Contains(faults[0], "more than 1 rows about its posts") {
			t.Errorf("at most %d rows: got %q, %v; want %d faults", most, faults, err, want)
		}
	}
}

// elsewhere are the tables that Strays does not look at, since their rows lie in no bucket of
// an account or a post, or are looked at one by one.
var elsewhere = []string{`relation`, `post`, `username`, `sequence`, `lease`, `job_run`, `job_cursor`, `cache_identity`, `interaction`}

// A row in a wrong bucket is found, in whatever table.
func TestRun_Strays(t *testing.T) {
	w := newWall(t)
	var found []string
	for _, table := range postcheck.Tables {
		found = append(found, table.Name)
	}
	var all []string
	if err := w.pool.SelectContext(t.Context(), &all, `SELECT table_name FROM information_schema.columns WHERE table_schema = DATABASE() AND column_name = 'bucket' AND table_name NOT LIKE 'saved%'`); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	if known := slices.Sorted(slices.Values(slices.Concat(found, elsewhere))); !slices.Equal(known, all) {
		t.Errorf("the tables with a bucket are %v, Strays and this test know %v", all, known)
	}
	var want []string
	for _, table := range postcheck.Tables {
		w.exec(w.madeUp(table), 7, 12)
		defer w.exec(`DELETE FROM ` + table.Name + ` WHERE bucket = 7 AND ` + table.Column + ` = 12`)
		right := repo.Bucket(12)
		if table.Named != "" {
			right = repo.NameBucket(table.Named)
		}
		want = append(want, fmt.Sprintf("bucket: the rows of %s 12 in table %s lie in bucket 7: it should be %d (not repaired: set its bucket with SQL, or delete it)", table.Column, table.Name, right))
		dbtest.CheckIndex(t, w.pool, `SELECT DISTINCT `+table.Column+` AS id FROM `+table.Name+` WHERE bucket = ? AND `+table.Column+` > ? ORDER BY id LIMIT ?`, 7, 1, 100)
	}
	for _, repair := range []bool{false, true} {
		var got []string
		cfg := w.config()
		cfg.Repair = repair
		cfg.Report = func(f audit.Fault) {
			t.Log(f)
			if f.Kind == audit.Bucket {
				got = append(got, f.String())
			}
		}
		if sum, err := audit.Run(t.Context(), cfg); err != nil || sum.Repaired > 0 {
			t.Errorf("it repaired %d rows that nothing finds, %v", sum.Repaired, err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// madeUp is a statement that inserts a row into a table, in a bucket and of an account or post,
// with anything in its other columns.
func (w *wall) madeUp(table postcheck.Table) string {
	w.Helper()
	var columns []struct {
		Name string `db:"name"`
		Type string `db:"type"`
	}
	err := w.pool.SelectContext(w.Context(), &columns, `SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? ORDER BY column_name = 'bucket' DESC, column_name = ? DESC`,
		table.Name, table.Column)
	if err != nil {
		w.Fatal(err)
	}
	var names, values []string
	for i, c := range columns {
		value := `1`
		switch {
		case i < 2:
			value = `?`
		case strings.HasSuffix(c.Type, "blob"), strings.HasSuffix(c.Type, "binary"):
			value = `''`
		}
		names, values = append(names, c.Name), append(values, value)
	}
	return `INSERT INTO ` + table.Name + ` (` + strings.Join(names, ", ") + `) VALUES (` + strings.Join(values, ",") + `)`
}
