package main

import (
	"cmp"
	"context"
	"fmt"

	"kith/repo/schema"
)

type migrateCmd struct {
	Up     migrateUpCmd     `cmd:"" help:"Apply every migration that is not applied yet. Many processes may run it at once."`
	Status migrateStatusCmd `cmd:"" help:"Show which migrations are applied."`
	Down   migrateDownCmd   `cmd:"" help:"Undo the migration applied last, and lose the data of its table."`
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
			last, down, err := s.Last(ctx)
			if err != nil {
				return err
			}
			return wrong("this would undo %s and lose its data: %s Add --yes to do it", last.Name, down)
		}
		one, err := s.DownOne(ctx)
		if err == nil {
			fmt.Println("undone", one.Name)
		}
		return err
	})
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
		return printAll(m.asJSON, "", all, func(one schema.Migration) any {
			return migrationObject{one.Version, one.Name, one.Applied, atMilli(one.AppliedAt * 1000)}
		}, func(one schema.Migration) string {
			state := "not applied"
			if one.Applied {
				state = "applied " + atMilli(one.AppliedAt*1000).String()
			}
			return fmt.Sprintf("%d\t%s\t%s", one.Version, cmp.Or(one.Name, "(of a newer program)"), state)
		})
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
