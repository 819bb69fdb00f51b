package audit_test

import (
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/app/audit"
	app "kith/app/relation"
	"kith/repo"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// world is the database of this package, emptied: an audit reads all of it, so only one
// test uses it at a time.
type world struct {
	*testing.T
	*app.Service
	pool      *sqlx.DB
	rows      *relation.Store
	accounts  *account.Store
	committer *committer.Committer[*relation.Draft, relation.Row]
	now       time.Time
	changes   []app.Change // that the service gave
}

var begin = time.Unix(1_700_000_000, 0)

// tables are those of a world.
var tables = []string{`account`, `username`, `relation`, `relation_archive`, `relation_own`, `note`}

// all runs a statement about a whole table.
func (w *world) all(statement string) {
	w.Helper()
	if _, err := w.pool.ExecContext(w.Context(), statement); err != nil {
		w.Fatal(err)
	}
}

func newWorld(t *testing.T, listCap int) *world {
	t.Helper()
	w := &world{T: t, now: begin, pool: dbtest.DB(t)}
	for _, table := range tables {
		w.all(`DELETE FROM ` + table)
	}
	w.use(relation.New(w.pool, cache.NewNone(), listCap, func() time.Time { return w.now }), account.New(w.pool, cache.NewNone()))
	return w
}

func (w *world) use(rows *relation.Store, accounts *account.Store) {
	w.rows, w.accounts = rows, accounts
	now := func() time.Time { return w.now }
	w.committer = committer.New(rows, committer.Config{})
	w.Cleanup(func() { w.committer.Close(context.Background()) })
	w.Service = app.New(app.Config{Rows: rows, Committer: w.committer, Accounts: accounts, Now: now,
		Listeners: []func(app.Change){func(c app.Change) { w.changes = append(w.changes, c) }}})
}

func (w *world) config() audit.Config {
	return audit.Config{Rows: w.rows, Relations: w.Service, Now: func() time.Time { return w.now }, Slices: 64}
}

// audit runs an audit and returns its faults.
func (w *world) audit(repair bool) (audit.Summary, []audit.Fault) {
	w.Helper()
	cfg := w.config()
	cfg.Repair = repair
	return w.run(cfg)
}

func (w *world) run(cfg audit.Config) (audit.Summary, []audit.Fault) {
	w.Helper()
	var faults []audit.Fault
	cfg.Report = func(f audit.Fault) { faults = append(faults, f) }
	sum, err := audit.Run(w.Context(), cfg)
	if err != nil {
		w.Fatal(err)
	}
	if int(sum.Found) != len(faults) {
		w.Errorf("%d faults in the summary, %d reported", sum.Found, len(faults))
	}
	return sum, faults
}

// clean wants that an audit finds nothing.
func (w *world) clean() audit.Summary {
	w.Helper()
	sum, faults := w.audit(false)
	for _, f := range faults {
		w.Errorf("found %v", f)
	}
	return sum
}

const firstPerson = 1001

// people makes n accounts.
func (w *world) people(n int) []uint64 {
	w.Helper()
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = firstPerson + uint64(i)
	}
	w.exist(ids...)
	return ids
}

// exist makes accounts.
func (w *world) exist(ids ...uint64) {
	w.Helper()
	if _, err := w.accounts.Ensure(w.Context(), ids, 1); err != nil {
		w.Fatal(err)
	}
}

func (w *world) must(_ app.Relationship, err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) follow(a, b uint64) {
	w.Helper()
	w.now = w.now.Add(time.Second)
	w.must(w.Follow(w.Context(), a, b, app.FollowOptions{}))
}

// row reads one row.
func (w *world) row(id uint64) relation.Row {
	w.Helper()
	rows, err := w.rows.Fresh(w.Context(), []uint64{id})
	if err != nil {
		w.Fatal(err)
	}
	return rows[id]
}

// plant edits one row alone.
func (w *world) plant(id uint64, edit func(*relation.Draft)) {
	w.Helper()
	d, err := relation.Open(w.row(id))
	if err != nil {
		w.Fatal(err)
	}
	edit(d)
	r, err := d.Pack(1, 0, 2)
	if err != nil {
		w.Fatal(err)
	}
	if won, err := w.rows.Swap(w.Context(), []relation.Row{r}); !won || err != nil {
		w.Fatal(won, err)
	}
}

func (w *world) exec(query string, args ...any) { w.Helper(); changes(w, w.pool, query, args...) }

// changes changes the tables directly, and wants a row changed.
func changes(t testing.TB, pool *sqlx.DB, query string, args ...any) {
	t.Helper()
	res, err := pool.ExecContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := res.RowsAffected(); n == 0 || err != nil {
		t.Fatalf("%s: %d rows changed, %v", query, n, err)
	}
}

// loseSegment deletes the archive of one section, and wants it to be there.
func (w *world) loseSegment(id uint64, s list.Section) {
	w.Helper()
	table := `relation_archive`
	if relation.Own(s) {
		table = `relation_own`
	}
	w.exec(`DELETE FROM `+table+` WHERE bucket = ? AND account_id = ? AND section = ?`, repo.Bucket(id), id, s)
}

// overwriteOwn makes an archived entry of what an account did itself one about
// somebody else.
func (w *world) overwriteOwn(id, other, by uint64) {
	w.Helper()
	w.exec(`UPDATE relation_own SET other_id = ? WHERE bucket = ? AND account_id = ? AND other_id = ?`, by, repo.Bucket(id), id, other)
}

// rewriteList changes the bytes of a list behind everybody's back.
func (w *world) rewriteList(id uint64, edit func(b []byte) []byte) {
	w.Helper()
	b := edit(append([]byte(nil), w.row(id).List...))
	w.exec(`UPDATE relation SET list = ? WHERE bucket = ? AND account_id = ?`, b, repo.Bucket(id), id)
}
