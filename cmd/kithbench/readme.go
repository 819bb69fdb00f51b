package main

import (
	"io"

	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
)

// shortColumns and shortRows are what the README of kith shows of a run.
var (
	shortColumns = []report.Column{
		{Text: "kith", Peer: report.Kith}, {Text: "kith, one process", Peer: peer.AloneName},
		{Text: "two tables", Peer: peer.TwoTableName}, {Text: "packed", Peer: peer.PackedName},
		{Text: "Redis", Peer: peer.RedisName}, {Text: "Redis, synced", Peer: peer.SyncedName},
		{Text: "fixed bytes", Peer: "echo, fixed body"},
	}
	shortRows = []report.Shown{
		{Text: "256 clients follow one account with 10,000 followers", Work: "hot", Case: "256 clients"},
		{Text: "256 clients follow and unfollow all over the graph", Work: "spread", Case: "256 clients"},
		{Text: "64 clients do", Work: "spread", Case: "64 clients"},
		{Text: "one follow, one client", Work: "one follow", Case: "1 client"},
		{Text: "states of 100, viewer with 200 edges", Work: "states of 100", Case: "viewer with 200 edges"},
		{Text: "states of 100, viewer with 2,000 edges", Work: "states of 100", Case: "viewer with 2000 edges"},
		{Text: "states of 100, viewer with 20,000 edges", Work: "states of 100", Case: "viewer with 20000 edges"},
		{Text: "first page of 40 followers", Work: "page of 40", Case: "first"},
		{Text: "200th page, by cursor", Work: "page of 40", Case: "200th by key"},
		{Text: "LinkBench's mix", Work: "mixed", Case: "LinkBench"},
		{Text: "TAO's mix", Work: "mixed", Case: "TAO"},
		{Text: "over HTTP, relationships of 40", Work: "http", Case: "relationships of 40"},
		{Text: "over HTTP, page of 40 followers", Work: "http", Case: "followers page"},
		{Text: "seconds to load the graph", Work: "load", Case: asFile},
		{Text: "on disk, bytes an edge, pages of the tables", Work: "space", Case: "on disk, pages in use, " + asFile},
		{Text: "on disk, bytes an edge, files", Work: "space", Case: "on disk, files, " + asFile},
		{Text: "in memory, bytes an edge, as the cache counts", Work: "space", Case: "in memory, " + asFile},
		{Text: "in memory, bytes an edge, the whole cache server", Work: "space", Case: "resident, " + asFile},
	}
)

// writeShort writes what the README shows of a run.
func writeShort(r report.Run, w io.Writer) error { return r.WriteShort(w, shortColumns, shortRows) }
