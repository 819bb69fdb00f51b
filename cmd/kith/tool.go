package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"kith/config"
)

// tool are the settings of commands that work on the database beside the
// servers and end.
type tool struct {
	MySQL config.MySQL `embed:"" group:"MySQL"`
	Cache config.Cache `embed:"" group:"Cache"`
}

func (t *tool) astray() bool { return t.MySQL.DSN.Reveal() == "" }

// toolClose bounds how long a command waits for its last commits.
const toolClose = 20 * time.Second

// with runs fn on the database. It writes no lists.
func (t *tool) with(ctx context.Context, fn func(*stack) error) error {
	return t.run(ctx, config.Relation{}, fn)
}

func (t *tool) run(ctx context.Context, relation config.Relation, fn func(*stack) error) error {
	if err := cmp.Or(besideDev(ctx, &t.MySQL), t.Cache.Check()); err != nil {
		return err
	}
	s, err := openStack(ctx, parts{mysql: t.MySQL, cache: t.Cache, relation: relation, tool: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	err = fn(s)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), toolClose)
	defer cancel()
	return errors.Join(err, s.close(closing))
}

// listTool is a tool that writes lists, and cuts them where a server would.
type listTool struct {
	tool
	Relation config.Relation `embed:"" group:"Relations"`
}

// with runs fn on the database.
func (t *listTool) with(ctx context.Context, fn func(*stack) error) error {
	if err := t.Relation.Check(); err != nil {
		return err
	}
	return t.run(ctx, t.Relation, fn)
}
