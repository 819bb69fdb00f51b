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

// toolClose bounds how long a command waits for its last commits.
const toolClose = 20 * time.Second

// with runs fn on the database.
func (t *tool) with(ctx context.Context, fn func(*stack) error) error {
	if err := cmp.Or(besideDev(ctx, &t.MySQL), t.Cache.Check()); err != nil {
		return err
	}
	s, err := openStack(ctx, parts{mysql: t.MySQL, cache: t.Cache, tool: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	err = fn(s)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), toolClose)
	defer cancel()
	return errors.Join(err, s.close(closing))
}
