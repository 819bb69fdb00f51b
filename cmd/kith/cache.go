package main

import (
	"context"
	"errors"
	"fmt"

	"kith/repo/identity"
)

type cacheCmd struct {
	Renew cacheRenewCmd `cmd:"" help:"Make all processes forget what they have cached: after a failover that lost commits, or a restore."`
}

type cacheRenewCmd struct{ database }

// Help is the text above the settings.
func (cacheRenewCmd) Help() string {
	return "Gives the database a new identity, which is part of every cache key. Running processes notice within " +
		"about two seconds and start with an empty cache; nothing needs to be stopped or flushed. It is needed when the database goes back: after a failover " +
		"to a replica that was behind, after a restore, and in a copy of a database that uses the memcached of the original. " +
		"It does no harm at other times, but reads come from the database until the cache is filled again."
}

// Run renews the identity.
func (c *cacheRenewCmd) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	pool, err := openDatabase(ctx, c.MySQL, nil)
	if err != nil {
		return err
	}
	err = identity.New(pool).Renew(ctx)
	if err == nil {
		fmt.Println("the cache starts empty: every process forgets what it has cached within about two seconds")
	}
	return errors.Join(err, pool.Close())
}
