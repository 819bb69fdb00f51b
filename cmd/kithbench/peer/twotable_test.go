package peer

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"kith/cmd/kithbench/graph"
)

// A page reads no more rows than it has, wherever in the list it is, and states
// no more than they are asked for.
func TestTwoTable_RowsRead(t *testing.T) {
	const fans, limit = 5000, 40
	const around = 10 // rows that SHOW STATUS itself reads
	p := loadedTwoTable(t, "rows_read", fans)
	before := Entry{At: fans / 2, ID: fans / 2}
	for name, c := range map[string]struct {
		ask  func(ctx context.Context) error
		most int
	}{
		"Followers": {func(ctx context.Context) error { _, err := p.Page(ctx, Followers, 1<<40, before, limit); return err }, limit + 1},
		"Newest":    {func(ctx context.Context) error { _, err := p.Page(ctx, Followers, 1<<40, Entry{}, limit); return err }, limit + 1},
		"States": {func(ctx context.Context) error {
			_, err := p.States(ctx, 1<<40, []uint64{1, 2, 3, fans + 1})
			return err
		}, 13},
		"Counts": {func(ctx context.Context) error { _, err := p.Counts(ctx, []uint64{1, 2, 3}); return err }, 4},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rowsRead(t, p, c.ask); got == 0 || got > c.most+around {
				t.Errorf("got %d rows read, want at most %d", got, c.most+around)
			}
		})
	}
}

// loadedTwoTable has one connection and one account with many fans.
func loadedTwoTable(t *testing.T, name string, fans int) *twoTable {
	t.Helper()
	dsn, err := servers.CreateDatabase(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := openTwoTable(t.Context(), PackedName, dsn, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	p.pool.SetMaxOpenConns(1)
	g := &graph.Graph{}
	for i := 1; i <= fans; i++ {
		g.Edges = append(g.Edges, graph.Edge{From: uint64(i), To: 1 << 40, At: uint32(i)})
	}
	if err := p.Load(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	return p
}

// rowsRead counts what the only connection reads meanwhile.
func rowsRead(t *testing.T, p *twoTable, ask func(context.Context) error) (sum int) {
	t.Helper()
	if _, err := p.pool.ExecContext(t.Context(), `FLUSH STATUS`); err != nil {
		t.Fatal(err)
	}
	if err := ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	var found []struct {
		Name  string `db:"Variable_name"`
		Value int    `db:"Value"`
	}
	if err := p.pool.SelectContext(t.Context(), &found, `SHOW SESSION STATUS LIKE 'Handler_read%'`); err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		sum += f.Value
	}
	return sum
}

// A transaction that fails half way leaves nothing, even though its connection
// is used again.
func TestTwoTable_FailsHalfWay(t *testing.T) {
	p := loadedTwoTable(t, "half_way", 1)
	if _, err := p.pool.ExecContext(t.Context(), `RENAME TABLE counts TO away`); err != nil {
		t.Fatal(err)
	}
	if err := p.Follow(t.Context(), 7, 8, 9); err == nil {
		t.Error("follow without counts: got no error")
	}
	if _, err := p.pool.ExecContext(t.Context(), `RENAME TABLE away TO counts`); err != nil {
		t.Fatal(err)
	}
	if err := p.Follow(t.Context(), 8, 9, 10); err != nil {
		t.Fatal(err)
	}
	states, err := p.States(t.Context(), 8, []uint64{7, 9})
	equal(t, "states", states, err, []State{{}, {Following: true}})
}

func TestTwoTable_GivesUp(t *testing.T) {
	for _, number := range []uint16{1213, 1205} {
		if err := fmt.Errorf("try: %w", &mysql.MySQLError{Number: number}); !lostToAnother(err) {
			t.Errorf("%v: got that it did not lose", err)
		}
	}
	if lostToAnother(errors.New("another")) || lostToAnother(nil) {
		t.Error("got that another error lost to another transaction")
	}
}
