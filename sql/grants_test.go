package sql_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"kith/app/graph"
	"kith/app/intake"
	apprelation "kith/app/relation"
	"kith/repo/account"
	"kith/repo/affinity"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/identity"
	"kith/repo/interaction"
	"kith/repo/job"
	"kith/repo/lease"
	"kith/repo/list"
	"kith/repo/relation"
	"kith/repo/row"
	"kith/repo/schema"
	"kith/repo/seen"
	"kith/repo/suggest"
	"kith/sql"
)

// guarded is a server that knows its users, with the three of grants.sql.
type guarded struct {
	t     *testing.T
	root  *sqlx.DB
	addr  string
	users map[string]string // passwords
}

const database = "kith_x" // an underscore is a wildcard in some grants

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	server := dbtest.Durable(t)
	if err := server.CreateDatabase(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	g := &guarded{t: t, root: open(t, server.DSN(database)), addr: server.Socket(),
		users: map[string]string{"app": `it's "a" \ secret`, "jobs": "jobs-secret", "read": "read-secret"}}
	dbtest.Migrate(t, g.root)
	// First without a password for two: they are not made, not even without one.
	script := filepath.Join(folder, "grants.sql")
	shown, err := usual()(t.Context(), server.DSN(database), script, map[string]string{"database": quote(database), "jobs_password": quote(g.users["jobs"])})
	if err == nil {
		t.Error("rights were given to users who do not exist")
	}
	if len(shown) == 0 || len(shown[0]) != 2 || !strings.Contains(shown[0][0]["missing"], "give @app_password") || !strings.Contains(shown[0][1]["missing"], "give @read_password") {
		t.Errorf("without two of the passwords it shows %v, want which they are", shown)
	}
	given := run(t, usual(), server.DSN(database), "grants.sql", map[string]string{"database": quote(database),
		"app_password": quote(g.users["app"]), "jobs_password": quote(g.users["jobs"]), "read_password": quote(g.users["read"])})
	again := run(t, usual(), server.DSN(database), "grants.sql", map[string]string{"database": quote(database)})
	same(t, "rights after the second run", again, given)
	return g
}

func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// dsn is how one of the users connects.
func (g *guarded) dsn(user string) string {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = "kith_"+user, g.users[user], "unix", g.addr, database
	return c.FormatDSN()
}

func (g *guarded) tables() (out []string) {
	g.t.Helper()
	if err := g.root.SelectContext(g.t.Context(), &out, `SHOW TABLES`); err != nil {
		g.t.Fatal(err)
	}
	return out
}

func TestGrants(t *testing.T) {
	g := newGuarded(t)
	t.Run("Tables", g.everyTable)
	t.Run("App", g.app)
	t.Run("Jobs", g.jobs)
	t.Run("Left", g.left)
	t.Run("Scripts", g.scripts)
	t.Run("Refused", g.refused)
}

// secret is the table that a person who reads may not read.
const secret = "cache_identity"

// everyTable: a table that a migration makes must be thought of.
func (g *guarded) everyTable(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(folder, "grants.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range g.tables() {
		if mayRead := strings.Contains(string(content), "@on, '"+name+" TO ', @read)"); name == secret && mayRead {
			t.Errorf("kith_read may read table %s, which has a secret", name)
		} else if name != secret && !mayRead {
			t.Errorf("kith_read may not read table %s: say in grants.sql who may do what with it", name)
		}
		if !strings.Contains(string(content), "@on, '"+name+" TO ', @app)") && !strings.Contains(string(content), "@on, '"+name+" TO ', @jobs)") {
			t.Errorf("neither kith_app nor kith_jobs may do anything with table %s: say in grants.sql who may do what with it", name)
		}
	}
}

// left: the two have deleted all that they wrote into the archive and the notes.
func (g *guarded) left(t *testing.T) {
	for _, table := range []string{"relation_archive", "relation_own", "note"} {
		var n int
		if err := g.root.GetContext(t.Context(), &n, `SELECT COUNT(*) FROM `+table); err != nil || n != 0 {
			t.Errorf("%s has %d rows, %v, want none", table, n, err)
		}
	}
}

func now() time.Time { return time.Unix(start, 0) }

// must fails the test on the first error; it names what was being done.
func must(t *testing.T, doing string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", doing, err)
	}
}

// service is the product's relations on one user's connection.
type service struct {
	*apprelation.Service
	pool     *sqlx.DB
	accounts *account.Store
	rows     *relation.Store
	commits  *committer.Committer[*relation.Draft, relation.Row]
}

func (g *guarded) service(t *testing.T, user string) *service {
	pool := open(t, g.dsn(user))
	s := &service{pool: pool, accounts: account.New(pool, cache.NewNone()), rows: relation.New(pool, cache.NewNone(), 0, now)}
	s.commits = committer.New(s.rows, committer.Config{})
	t.Cleanup(func() { s.commits.Close(context.Background()) })
	s.Service = apprelation.New(apprelation.Config{Rows: s.rows, Committer: s.commits, Accounts: s.accounts, Now: now})
	return s
}

// app does what the program does as kith_app.
func (g *guarded) app(t *testing.T) {
	ctx, s := t.Context(), g.service(t, "app")
	m, err := schema.New(s.pool, sql.Migrations)
	must(t, "schema", err)
	must(t, "check the schema", m.Check(ctx))
	_, err = identity.New(s.pool).Open(ctx)
	must(t, "make the identity", err)
	must(t, "renew the cache", identity.New(s.pool).Renew(ctx))
	s.people(t)
	s.relations(t)
	s.imports(t)
	batches := interaction.Batches([]interaction.Event{{Actor: 101, Target: 102, Kind: "visit", At: start}, {Actor: 102, Target: 103, Kind: "visit", At: start}},
		func() uint64 { return interaction.NewID(start*1000, 7) })
	must(t, "record interactions", interaction.New(s.pool).Append(ctx, batches))
	_, err = affinity.New(s.pool, cache.NewNone(), slog.New(slog.DiscardHandler)).Row(ctx, 101)
	must(t, "read an affinity", err)
	must(t, "dismiss a suggestion", editSuggestion(ctx, s.pool))
	for range 2 {
		must(t, "note who was seen", seen.New(s.pool).Put(ctx, []seen.Mark{{AccountID: 101, At: start}}))
	}
	s.posts(t)
}

func editSuggestion(ctx context.Context, pool *sqlx.DB) error {
	store := suggest.New(pool, cache.NewNone(), time.Now, slog.New(slog.DiscardHandler))
	return store.Edit(ctx, 101, func(r *suggest.Row) bool {
		r.MadeAt++
		return true
	})
}

func (s *service) people(t *testing.T) {
	ctx := t.Context()
	a, err := s.accounts.Create(ctx, account.Account{Username: "Ada"})
	must(t, "create an account", err)
	_, err = s.accounts.Create(ctx, account.Account{ID: 777, Username: "Bob"})
	must(t, "create an account with an id", err)
	_, err = s.accounts.ByName(ctx, "ada")
	must(t, "look up a name", err)
	_, err = s.accounts.SetLocked(ctx, a.ID, true)
	must(t, "lock an account", err)
	_, err = s.accounts.Ensure(ctx, []uint64{101, 102, 103, 104, 105, 106}, 1)
	must(t, "make accounts", err)
	_, err = s.accounts.Walk(ctx, 0, 10)
	must(t, "walk accounts", err)
}

func (s *service) relations(t *testing.T) {
	ctx := t.Context()
	for _, follower := range []uint64{102, 103, 104} {
		_, err := s.Follow(ctx, follower, 101, apprelation.FollowOptions{})
		must(t, "follow", err)
	}
	for _, followee := range []uint64{105, 106} {
		_, err := s.Follow(ctx, 101, followee, apprelation.FollowOptions{})
		must(t, "follow", err)
	}
	s.trim(t, 101, 3)
	_, err := s.Relationships(ctx, 101, []uint64{102, 103, 104, 105})
	must(t, "ask", err)
	if page, err := s.rows.Page(ctx, s.row(t, 101), list.ByFollower, list.Range{Limit: 10}); err != nil || len(page) != 3 {
		t.Fatalf("page followers: %d, %v, want 3", len(page), err)
	}
	_, err = s.Unfollow(ctx, 102, 101) // of the archive
	must(t, "unfollow", err)
	_, err = s.Unfollow(ctx, 103, 101) // which leaves a segment empty
	must(t, "unfollow", err)
	_, err = s.Unfollow(ctx, 101, 105) // of relation_own
	must(t, "unfollow", err)
	_, err = s.Block(ctx, 104, 101)
	must(t, "block", err)
	for _, note := range []string{"one", "another", ""} {
		_, err = s.SetNote(ctx, 101, 103, note)
		must(t, "note "+note, err)
	}
	must(t, "note about nobody", s.commits.Do(ctx, []uint64{101}, func(rows map[uint64]*relation.Draft) error {
		_, err := rows[101].SetNote(nobody, "private")
		return err
	}))
}

// nobody is no account.
const nobody = 999

// trim moves all but one entry of each section of an account to the archive.
func (s *service) trim(t *testing.T, id uint64, entries int) {
	t.Helper()
	if done, err := s.rows.Trim(t.Context(), id, 1); err != nil || done != entries {
		t.Fatalf("trim %d: %+v, %v, want %d entries moved", id, done, err, entries)
	}
}

func (s *service) row(t *testing.T, id uint64) relation.Row {
	t.Helper()
	row, err := s.rows.Row(t.Context(), id)
	must(t, "read a row", err)
	return row
}

func (s *service) imports(t *testing.T) {
	sum, err := graph.Import(t.Context(), graph.ImportConfig{
		Config:   intake.Config{Reader: strings.NewReader("201 202\n203 202 5\n202 201\n201 101\n201 103\n104 201\n"), TempDir: t.TempDir(), Memory: 32 << 20},
		Accounts: s.accounts, Rows: s.rows, Relations: s.Service, Log: slog.New(slog.DiscardHandler), Now: now,
	})
	if err != nil || sum.EdgesNew != 6 {
		t.Fatalf("import: %d edges, %v, want 6", sum.EdgesNew, err)
	}
	var out bytes.Buffer
	_, err = graph.Export(t.Context(), graph.ExportConfig{Writer: &out, Rows: s.rows})
	must(t, "export", err)
	if strings.Count(out.String(), "\n") < 4 {
		t.Errorf("exported %q, want 4 edges", out.String())
	}
}

// jobs does what the jobs do as kith_jobs.
func (g *guarded) jobs(t *testing.T) {
	ctx, s := t.Context(), g.service(t, "jobs")
	_, err := g.root.ExecContext(ctx, `UPDATE idempotency SET made_at = 1`)
	must(t, "make keys old", err)
	m, err := schema.New(s.pool, sql.Migrations)
	must(t, "schema", err)
	must(t, "check the schema", m.Check(ctx))
	_, err = s.rows.Long(ctx, 1, relation.Outline{}, 10)
	must(t, "find long rows", err)
	must(t, "repair through the write path", s.commits.Do(ctx, []uint64{201, 203}, func(rows map[uint64]*relation.Draft) error {
		if !relation.Settle(rows[201], rows[203]) {
			return relation.ErrRecall
		}
		rows[203].AddFollowing(201, start)
		rows[201].AddFollower(203, start)
		return nil
	}))
	s.trim(t, 201, 2)
	for follower, followee := range map[uint64]uint64{201: 101, 104: 201} {
		must(t, "repair what lies in the archive", s.commits.Do(ctx, []uint64{follower, followee}, func(rows map[uint64]*relation.Draft) error {
			if !relation.Settle(rows[follower], rows[followee]) {
				return relation.ErrRecall
			}
			if !rows[follower].DropFollowing(followee) || !rows[followee].DropFollower(follower) {
				return errors.New("the edge is not there")
			}
			return nil
		}))
	}
	ev := &relation.Evidence{KeepOwn: true, Unknown: []uint64{nobody}}
	if done, err := s.rows.Rebuild(ctx, 101, ev); err != nil || len(done.Unknown) != 1 {
		t.Errorf("take out an unknown account: %v, %v", done, err)
	}
	_, err = s.rows.Empty(ctx, nobody)
	must(t, "empty the row of an unknown account", err)
	_, err = s.accounts.Load(ctx, []uint64{101})
	must(t, "load accounts", err)
	s.names(t)
	s.fold(t)
	must(t, "suggest", editSuggestion(ctx, s.pool))
	s.expires(t)
	g.mendsPosts(t, s)
	_, err = seen.New(s.pool).Walk(ctx, 0, 10)
	must(t, "walk the seen", err)
	_, err = identity.New(s.pool).Open(ctx)
	must(t, "read the identity", err)
	s.keepsBooks(t)
}

// names is what an audit repairs of them.
func (s *service) names(t *testing.T) {
	ctx := t.Context()
	page, err := s.accounts.Names(ctx, account.Name{}, 100)
	must(t, "walk names", err)
	at := slices.IndexFunc(page, func(n account.Name) bool { return n.ID == 101 })
	if at < 0 {
		t.Fatalf("the names are %+v", page)
	}
	if _, err := s.pool.ExecContext(ctx, `DELETE FROM username WHERE bucket = ? AND name = ?`, page[at].Bucket, page[at].Name); err != nil {
		t.Fatal(err)
	}
	given, err := s.accounts.GiveName(ctx, 101, false)
	if err != nil || !given {
		t.Fatalf("give a name: %v, %v", given, err)
	}
	_, err = s.pool.ExecContext(ctx, `INSERT INTO username (bucket, name, account_id) VALUES (1, 'nobody', 909)`)
	must(t, "plant a name", err)
	dropped, err := s.accounts.DropName(ctx, account.Name{Bucket: 1, Name: "nobody", ID: 909}, false)
	if err != nil || !dropped {
		t.Fatalf("drop a name: %v, %v", dropped, err)
	}
}

func (s *service) fold(t *testing.T) {
	ctx, log := t.Context(), interaction.New(s.pool)
	bucket, err := log.Next(ctx, 0)
	must(t, "find interactions", err)
	batches, err := log.Load(ctx, bucket, 0, 1<<63, 10)
	must(t, "load interactions", err)
	store := affinity.New(s.pool, cache.NewNone(), slog.New(slog.DiscardHandler))
	won, err := store.Fold(ctx, bucket, []affinity.Row{{Meta: row.Meta{ID: uint64(bucket)}}}, batches, start)
	if err != nil || !won || len(batches) == 0 {
		t.Fatalf("fold %d batches: %v, %v", len(batches), won, err)
	}
	must(t, "drop a batch", log.Drop(ctx, interaction.Batch{Bucket: 1, ID: 1}))
}

// keepsBooks is what the scheduler writes.
func (s *service) keepsBooks(t *testing.T) {
	ctx := t.Context()
	leases := lease.New(lease.Config{DB: s.pool, Process: "here:1"})
	for range 2 {
		held, err := leases.Take(ctx, "trim")
		must(t, "take a lease", err)
		must(t, "release a lease", held.Release(ctx))
	}
	runs := job.New(s.pool)
	for i := range 2 {
		r := job.Run{Name: "trim", Started: int64(1 + i), Holder: "here:1:a", Result: job.Running}
		must(t, "note a run", runs.Save(ctx, r))
		must(t, "note a run again", runs.Save(ctx, r))
		must(t, "bury a run", runs.Bury(ctx, r, 9))
		must(t, "save a cursor", runs.SaveCursor(ctx, "trim", "12", 1, 9))
	}
	_, err := runs.Cursor(ctx, "trim")
	must(t, "read a cursor", err)
	if n, err := runs.Expire(ctx, "trim", 9, 10); err != nil || n != 1 {
		t.Fatalf("expire runs: %d, %v, want 1", n, err)
	}
}

// scripts: kith_read can run all of them.
func (g *guarded) scripts(t *testing.T) {
	for name := range scripts {
		run(t, usual(), g.dsn("read"), name, required[name])
	}
}

// refused: what each of the users must not do.
func (g *guarded) refused(t *testing.T) {
	var none, all []string
	for _, name := range g.tables() {
		all = append(all, `DROP TABLE `+name, `ALTER TABLE `+name+` COMMENT = ''`, `TRUNCATE TABLE `+name)
		none = append(none, `DELETE FROM `+name, `INSERT INTO `+name+` SELECT * FROM `+name)
	}
	none = append(none, `SELECT body FROM note`)
	all = append(all, `CREATE TABLE more (id INT)`, `CREATE USER nobody`, `DROP DATABASE `+database, `CREATE INDEX more ON relation (ver)`,
		`GRANT SELECT ON `+database+`.relation TO CURRENT_USER()`, `SELECT 1 FROM mysql.user`, `SET GLOBAL max_connections = 10`,
		`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`)
	for user, statements := range map[string][]string{
		"read": slices.Concat(none, all, []string{`SELECT id FROM cache_identity`}),
		"app": slices.Concat(all, []string{`DELETE FROM account`, `DELETE FROM post`, `DELETE FROM author_feed`, `DELETE FROM idempotency`, `DELETE FROM relation`, `UPDATE username SET account_id = 1`, `SELECT 1 FROM lease`,
			`DELETE FROM interaction`, `DELETE FROM seen`, `INSERT INTO affinity SELECT * FROM affinity`}),
		"jobs": slices.Concat(all, []string{`DELETE FROM relation`, `DELETE FROM post`, `DELETE FROM author_feed`, `INSERT INTO idempotency SELECT * FROM idempotency`, `INSERT INTO account SELECT * FROM account`, `UPDATE username SET account_id = 1`, `DELETE FROM lease`,
			`UPDATE interaction SET n = 1`, `UPDATE cache_identity SET id = 1`, `UPDATE seen SET at = 1`, `SELECT body FROM note`, `UPDATE note SET updated_at = 1`,
			`INSERT INTO note (bucket, account_id, other_id, body, updated_at) VALUES (1, 1, 1, '', 1)`}),
	} {
		pool := open(t, g.dsn(user))
		for _, statement := range statements {
			if err := refusal(t.Context(), pool, statement); err != nil {
				t.Errorf("kith_%s: %s: %v", user, statement, err)
			}
		}
	}
	// What a person wrote into the tables would be there now.
	var n int
	if err := g.root.GetContext(t.Context(), &n, `SELECT COUNT(*) FROM relation`); err != nil || n < 7 {
		t.Errorf("%d relations are left, %v", n, err)
	}
}

// refusal returns nil where the server said that the user may not.
func refusal(ctx context.Context, pool *sqlx.DB, statement string) error {
	_, err := pool.ExecContext(ctx, statement)
	var said *mysql.MySQLError
	switch {
	case err == nil:
		return errors.New("was carried out")
	case !errors.As(err, &said):
		return err
	}
	switch said.Number {
	case 1044, 1142, 1143, 1227, 1370, 1410: // denied: database, table, column, global right; routine; GRANT
		return nil
	}
	return fmt.Errorf("was refused for another reason: %w", db.Wrap(err))
}
