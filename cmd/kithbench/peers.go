package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/server"
	"kith/repo/cache"
)

// say tells whoever waits how far the run is.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// databaseOf is the database that a peer on MySQL has for itself.
func databaseOf(name string) string { return strings.ReplaceAll(name, "-", "_") }

// openPeers opens the peers named, on fresh servers.
func openPeers(ctx context.Context, s *server.Servers, names ...string) (peers []peer.Peer, err error) {
	for _, name := range names {
		p, err := openPeer(ctx, s, name)
		if err != nil {
			closePeers(peers)
			return nil, fmt.Errorf("open %s: %w", name, err)
		}
		peers = append(peers, p)
	}
	return peers, nil
}

func openPeer(ctx context.Context, s *server.Servers, name string) (peer.Peer, error) {
	switch name {
	case peer.RedisName:
		return peer.NewRedis(name, s.Redis())
	case peer.SyncedName:
		return peer.NewRedis(name, s.RedisSynced())
	}
	if err := s.CreateDatabase(ctx, databaseOf(name)); err != nil {
		return nil, err
	}
	dsn := s.MySQLDSN(databaseOf(name))
	if name == peer.TwoTableName || name == peer.PackedName {
		return peer.NewTwoTable(ctx, name, dsn, name == peer.PackedName)
	}
	if err := peer.Migrate(ctx, dsn); err != nil {
		return nil, err
	}
	return openKith(ctx, s, name, dsn)
}

// openFresh opens the variant of the peer kith on its database and memcached.
func openFresh(ctx context.Context, s *server.Servers) (peer.Peer, error) {
	c, err := peer.OnMemcached(s.Memcached(), -1)
	if err != nil {
		return nil, err
	}
	return peer.NewKith(ctx, peer.FreshName, s.MySQLDSN(databaseOf(peer.KithName)), c)
}

func openKith(ctx context.Context, s *server.Servers, name, dsn string) (peer.Peer, error) {
	switch name {
	case peer.KithName:
		c, err := peer.OnMemcached(s.Memcached(), 0)
		if err != nil {
			return nil, err
		}
		k, err := peer.NewKith(ctx, name, dsn, c)
		if err == nil {
			k.Memcached = s.Memcached()
		}
		return k, err
	case peer.AloneName:
		c, err := peer.InProcess()
		if err != nil {
			return nil, err
		}
		return peer.NewKith(ctx, name, dsn, c)
	default:
		k, err := peer.NewKith(ctx, name, dsn, cache.NewNone())
		return &peer.Naive{Kith: k}, err
	}
}

// residentOf weighs the memory server of a peer, where it has one.
func residentOf(s *server.Servers) func(name string) (int64, error) {
	of := map[string]server.Which{peer.KithName: server.Memcached, peer.RedisName: server.Redis, peer.SyncedName: server.RedisSynced}
	return func(name string) (int64, error) {
		if which, ok := of[name]; ok {
			return s.Memory(which)
		}
		return 0, nil
	}
}

func closePeers(peers []peer.Peer) {
	for _, p := range peers {
		if err := p.Close(); err != nil {
			say("close %s: %v", p.Name(), err)
		}
	}
}
