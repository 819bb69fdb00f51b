package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/app"
	appaccount "kith/app/account"
	"kith/app/graph"
	"kith/app/intake"
	apprelation "kith/app/relation"
	"kith/config"
	"kith/cron"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/mysqld"
	"kith/repo/schema"
)

// serverSettings are hostile settings of a server.
var serverSettings = []struct {
	setting string // of the command line; or a statement
	refused string // what the refusal says
	user    bool   // who has no right to pass over it
}{
	{setting: "autocommit=0"},
	{setting: "completion-type=CHAIN"},
	{setting: "completion-type=RELEASE"},
	{setting: "SET GLOBAL sql_select_limit = 1"},
	{setting: "SET GLOBAL sql_big_selects = 0"},
	{setting: "innodb-lock-wait-timeout=1"},
	{setting: "lock-wait-timeout=1"},
	{setting: "innodb-rollback-on-timeout=1"},
	{setting: "sql-mode="},
	{setting: "sql-mode=ANSI"},
	{setting: "sql-mode=NO_UNSIGNED_SUBTRACTION,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,PAD_CHAR_TO_FULL_LENGTH,NO_ZERO_DATE,NO_ZERO_IN_DATE"},
	{setting: "default-time-zone=-11:00"},
	{setting: "transaction-isolation=SERIALIZABLE"},
	{setting: "transaction-isolation=READ-UNCOMMITTED"},
	{setting: "transaction-read-only=1"},
	{setting: "lower-case-table-names=1"},
	{setting: "character-set-server=latin1"},
	{setting: "collation-server=utf8mb4_bin"},
	{setting: "skip-character-set-client-handshake"},
	{setting: "default-storage-engine=MyISAM"},
	{setting: "explicit-defaults-for-timestamp=0"},
	{setting: "innodb-default-row-format=compact"},
	{setting: "wait-timeout=1"},
	{setting: "net-write-timeout=1"},
	{setting: "max-prepared-stmt-count=0"},
	{setting: "SET GLOBAL sql_safe_updates = 1"},
	{setting: "max-join-size=1"},
	{setting: "max-sort-length=8"},
	// What only one of MariaDB and MySQL has.
	{setting: "loose-sql-mode=ORACLE"},
	{setting: "loose-max-statement-time=0.00001"},
	{setting: "loose-max-execution-time=1"},
	{setting: "loose-innodb-force-primary-key=1"},
	{setting: "loose-sql-require-primary-key=1"},
	{setting: "init-connect=SET autocommit=0, sql_mode='', sql_select_limit=1", user: true},
	{setting: "log-bin=binlog --binlog-format=MIXED"},
	{setting: "log-bin=binlog --binlog-format=STATEMENT", refused: "binlog_format"},
	{setting: "max-allowed-packet=4M"},
	{setting: "max-allowed-packet=1M", refused: "max_allowed_packet"},
	{setting: "init-connect=nonsense", user: true, refused: "init_connect"},
	{setting: "read-only=1", user: true, refused: "read-only"},
}

// Whatever an administrator has set on the server, kith works right or says at its
// start which setting it cannot work with.
func TestServerSettings(t *testing.T) {
	for _, tt := range serverSettings {
		t.Run(tt.setting, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
			defer cancel()
			err := everyday(ctx, serverWith(t, tt.setting, tt.user))
			if tt.refused == "" && err != nil {
				t.Error(err)
			}
			if tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused)) {
				t.Errorf("got %v, want a refusal that names %s", err, tt.refused)
			}
		})
	}
}

// serverWith starts a server with a setting and returns the DSN of a database on it:
// as root, or as a user who may do everything to this database only.
func serverWith(t *testing.T, setting string, user bool) (dsn string) {
	t.Helper()
	o := mysqld.Options{Durable: user} // a throwaway server knows no users
	if user {
		o.Dir = t.TempDir()
	}
	statement := strings.HasPrefix(setting, "SET ")
	if !statement {
		for _, s := range strings.Split(setting, " --") {
			o.Args = append(o.Args, "--"+s)
		}
	}
	server, err := mysqld.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		server.Stop(ctx)
	})
	if err := server.CreateDatabase(t.Context(), "kith"); err != nil {
		t.Fatal(err)
	}
	pool := dbtest.OpenServer(t, server.DSN(""))
	if statement {
		pool.MustExec(setting)
	}
	if !user {
		return server.DSN("kith")
	}
	pool.MustExec(`CREATE USER app@localhost IDENTIFIED BY 'secret'`)
	pool.MustExec(`GRANT ALL ON kith.* TO app@localhost`)
	return "app:secret@unix(" + server.Socket() + ")/kith"
}

// everyday does what is done with a database: migrates it, follows, imports, runs
// all jobs, and looks at what stays when every connection is cut.
func everyday(ctx context.Context, dsn string) error {
	parsed, err := parse(ctx, []string{"serve", "--mysql", dsn, "--list-cap", "10"}, nil)
	if err != nil {
		return err
	}
	c := parsed.Selected().Target.Interface().(serveCmd).Settings
	if err := upAndDown(ctx, c.MySQL); err != nil {
		return err
	}
	err = onStack(ctx, c, func(s *stack) error {
		return cmp.Or(s.changes(ctx), s.runAll(ctx, c), cut(ctx, dsn))
	})
	if err != nil {
		return err
	}
	return onStack(ctx, c, func(s *stack) error { return s.remains(ctx) })
}

func upAndDown(ctx context.Context, c config.MySQL) error {
	return migrate(ctx, c, func(m *schema.Schema) error {
		up := func() error { _, err := m.Up(ctx); return err }
		down := func() error { _, err := m.DownOne(ctx); return err }
		return cmp.Or(up(), down(), up(), m.Check(ctx))
	})
}

func onStack(ctx context.Context, c config.Settings, fn func(*stack) error) error {
	s, err := openStack(ctx, c, false, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer s.close(ctx) // says that connections were cut
	return fn(s)
}

// runAll runs each job once.
func (s *stack) runAll(ctx context.Context, c config.Settings) error {
	runner := s.runner(c.Cron, time.Minute, slog.New(slog.DiscardHandler))
	for _, p := range s.plans(c.Cron, c.Relation.ListCap) {
		if _, err := runner.Run(ctx, p.Job, cron.Options{}); err != nil {
			return fmt.Errorf("job %s: %w", p.Job.Name, err)
		}
	}
	return nil
}

const crowd = 60

// changes makes what remains looks for.
func (s *stack) changes(ctx context.Context) error {
	for id, name := range []string{"", "Ann", "Bob", "Cleo"} {
		if name == "" {
			continue
		}
		if _, err := s.accounts.Add(ctx, appaccount.Fresh{ID: uint64(id), Username: name, DisplayName: name + ` "\'ä😀`}); err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
	}
	if _, err := s.accounts.Add(ctx, appaccount.Fresh{Username: "ANN"}); app.KindOf(err) == app.Internal || err == nil {
		return fmt.Errorf("a name twice: %v", err)
	}
	for _, p := range [][2]uint64{{1, 2}, {2, 1}, {3, 1}} {
		if _, err := s.relations.Follow(ctx, p[0], p[1], apprelation.FollowOptions{}); err != nil {
			return fmt.Errorf("follow: %w", err)
		}
	}
	if _, err := s.relations.Block(ctx, 3, 2); err != nil {
		return fmt.Errorf("block: %w", err)
	}
	if _, err := s.relations.SetNote(ctx, 1, 2, `it's "Bob" \ 😀`); err != nil {
		return fmt.Errorf("note: %w", err)
	}
	var lines strings.Builder
	for id := range crowd {
		fmt.Fprintf(&lines, "%d 1 %d\n", 1000+id, 1_600_000_000+id)
	}
	_, err := graph.Import(ctx, graph.ImportConfig{Config: intake.Config{Reader: strings.NewReader(lines.String()), Memory: 32 << 20}, Accounts: s.people, Rows: s.rows, Relations: s.relations, Now: time.Now})
	return err
}

// remains is nil where every change is there, for a process that has seen none.
func (s *stack) remains(ctx context.Context) error {
	bob, err := s.accounts.ByName(ctx, "bob")
	if err != nil || bob.ID != 2 || bob.DisplayName != `Bob "\'ä😀` {
		return fmt.Errorf("got account %+v, %v, want Bob", bob, err)
	}
	var out strings.Builder
	edges, err := graph.Export(ctx, graph.ExportConfig{Rows: s.rows, Writer: &out})
	if err != nil || edges != crowd+3 || !slices.ContainsFunc(strings.Split(out.String(), "\n"), func(l string) bool { return strings.HasPrefix(l, "1 2 ") }) {
		return fmt.Errorf("exported %d edges, %v, want %d:\n%s", edges, err, crowd+3, out.String())
	}
	all := map[uint64]bool{}
	for r := (apprelation.Range{Limit: 7}); ; {
		page, err := s.relations.Followers(ctx, 0, 1, r)
		if err != nil {
			return err
		}
		for _, p := range page.People {
			all[p.ID] = true
		}
		if !page.Full {
			break
		}
		r.Before = page.Last
	}
	if len(all) != crowd+2 {
		return fmt.Errorf("pages show %d followers, want %d", len(all), crowd+2)
	}
	rels, err := s.relations.Relationships(ctx, 1, []uint64{2, 3})
	if err != nil || !rels[0].Following || !rels[0].FollowedBy || rels[0].Note != `it's "Bob" \ 😀` || rels[1].Following || !rels[1].FollowedBy {
		return fmt.Errorf("got %+v, %v", rels, err)
	}
	blocks, err := s.relations.Blocks(ctx, 3, list.Range{Limit: 10})
	if err != nil || len(blocks.People) != 1 {
		return fmt.Errorf("got blocks %+v, %v, want one", blocks, err)
	}
	return nil
}

// cut ends all connections but its own: what was not committed is gone.
func cut(ctx context.Context, dsn string) error {
	pool, err := db.OpenServer(ctx, db.Config{DSN: dsn, MaxOpen: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	var ids []int64
	if err := pool.SelectContext(ctx, &ids, `SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND command IN ('Sleep', 'Query', 'Execute')`); err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := pool.ExecContext(ctx, fmt.Sprintf(`KILL %d`, id)); err != nil && !strings.Contains(err.Error(), "Unknown thread") {
			return err
		}
	}
	return nil
}
