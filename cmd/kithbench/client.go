package main

import (
	"context"
	"errors"
	"os"
	"time"

	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/work"
)

// clientCmd is one process of the work contend: a store and a committer of its
// own over the same database and memcached.
type clientCmd struct {
	DSN       string        `name:"dsn" required:""`
	Memcached string        `required:""`
	Star      uint64        `required:""`
	First     uint64        `required:""`
	Warm      uint64        `required:""`
	Clients   int           `required:""`
	Span      time.Duration `required:""`
}

// Run waits for the start on standard input and answers with its figures.
func (c clientCmd) Run(ctx context.Context) error {
	memcached, err := peer.OnMemcached(c.Memcached, 0)
	if err != nil {
		return err
	}
	k, err := peer.NewKith(ctx, peer.KithName, c.DSN, memcached)
	if err != nil {
		return err
	}
	part := work.Part{Star: c.Star, First: c.First, Warm: c.Warm, Clients: c.Clients, Span: c.Span}
	return errors.Join(work.Serve(ctx, k, part, os.Stdin, os.Stdout), k.Close())
}
