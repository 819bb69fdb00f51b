package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"kith/repo/schema"
)

type migrateCmd struct {
	Up     migrateUpCmd     `cmd:"" help:"Apply every migration that is not applied. Safe to run from many processes at once."`
	Status migrateStatusCmd `cmd:"" help:"Show which migrations are applied."`
	Down   migrateDownCmd   `cmd:"" help:"Take back the migration applied last, with the data of its table."`
}

type migrateUpCmd struct{ database }

// Run applies what is not applied.
func (m *migrateUpCmd) Run(ctx context.Context) error {
	return m.migrate(ctx, func(s *schema.Schema) error {
		done, err := s.Up(ctx)
		for _, one := range done {
			fmt.Println("applied", one.Name)
		}
		if err == nil && len(done) == 0 {
			fmt.Println("nothing to apply")
		}
		return err
	})
}

type migrateDownCmd struct {
	database
	Yes bool `help:"Do it. Without it the command only says what it would drop."`
}

// Run takes one migration back.
func (m *migrateDownCmd) Run(ctx context.Context) error {
	return m.migrate(ctx, func(s *schema.Schema) error {
		if !m.Yes {
			return wouldDrop(ctx, s)
		}
		one, err := s.DownOne(ctx)
		if err == nil {
			fmt.Println("took back", one.Name)
		}
		return err
	})
}

// wouldDrop refuses to go down without --yes.
func wouldDrop(ctx context.Context, s *schema.Schema) error {
	last, down, err := s.Last(ctx)
	if err != nil {
		return err
	}
	return wrong("this would take back %s and lose its data: %s Add --yes to do it", last.Name, down)
}

type migrateStatusCmd struct {
	database
	asJSON
}

// Run shows every migration that the program or the database knows.
func (m *migrateStatusCmd) Run(ctx context.Context) error {
	return m.migrate(ctx, func(s *schema.Schema) error {
		all, err := s.Status(ctx)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		for _, one := range all {
			if !m.JSON {
				fmt.Fprintf(w, "%d\t%s\t%s\n", one.Version, name(one), state(one))
			} else if err := m.line(migrationLine(one)); err != nil {
				return err
			}
		}
		return w.Flush()
	})
}

// migrationObject is a migration as a JSON object; the name is empty where only
// a newer program knows it.
type migrationObject struct {
	Version   int64  `json:"version"`
	Name      string `json:"name"`
	Applied   bool   `json:"applied"`
	AppliedAt moment `json:"applied_at"`
}

func migrationLine(m schema.Migration) migrationObject {
	return migrationObject{m.Version, m.Name, m.Applied, atMilli(m.AppliedAt * 1000)}
}

func name(m schema.Migration) string {
	if m.Name == "" {
		return "(of a newer program)"
	}
	return m.Name
}

func state(m schema.Migration) string {
	if !m.Applied {
		return "not applied"
	}
	return "applied " + time.Unix(m.AppliedAt, 0).UTC().Format(time.RFC3339)
}
