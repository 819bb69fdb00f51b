package main

import (
	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
	"kith/cmd/kithbench/work"
)

// targets are what kith is meant to reach, each as a ratio within one run.
var targets = []report.Target{
	{Work: "hot", Case: "256 clients", Against: peer.NaiveName, AgainstCase: "64 clients", AtLeast: 200, Text: "a full list, read-swap loops of 64 clients"},
	{Work: "hot", Case: "256 clients", Against: peer.TwoTableName, AtLeast: 4},
	{Work: "contend", Case: "4 processes", AgainstCase: "1 process", AtLeast: 0.5},
	{Work: "spread", Case: "64 clients", Against: peer.TwoTableName, AtLeast: 2},
	{Work: "spread", Case: "256 clients", Against: peer.TwoTableName, AtLeast: 2},
	{Work: "one follow", Case: "1 client", Against: peer.TwoTableName, AtLeast: 1 / 1.2, Text: "at most 1.2 times as long"},
	{Work: "one follow", Case: "1 client", Peer: peer.AloneName, Against: peer.TwoTableName, AtLeast: 1 / 1.2, Text: "the same, cache in the process"},
	{Work: "states of 100", Case: "viewer with 200 edges", Against: peer.RedisName, AtLeast: 2},
	{Work: "states of 100", Case: "viewer with 2000 edges", Against: peer.RedisName, AtLeast: 2},
	{Work: "states of 100", Case: "viewer with 20000 edges", Against: peer.RedisName, AtLeast: 0.7},
	{Work: "states of 100", Case: "viewer with 200 edges", Against: peer.TwoTableName, AtLeast: 15},
	{Work: "states of 100", Case: "viewer with 2000 edges", Against: peer.TwoTableName, AtLeast: 15},
	{Work: "page of 40", Case: "first", Against: peer.TwoTableName, AtLeast: 1.5},
	{Work: "page of 40", Case: "first", Against: peer.RedisName, AtLeast: 1},
	{Work: "page of 40", Case: "200th by key", Against: peer.TwoTableName, AtLeast: 1},
	{Work: "page of 40", Case: "200th by key", Against: peer.TwoTableName, AgainstCase: "200th by offset", AtLeast: 5},
	{Work: "space", Case: "on disk, pages in use, " + asFile, Against: peer.TwoTableName, AtLeast: 12, Text: "pages of the tables"},
	{Work: "space", Case: "on disk, files, " + asFile, Against: peer.TwoTableName, AtLeast: 12, Text: "files of the tables"},
	{Work: "space", Case: "in memory, " + asFile, Against: peer.RedisName, AtLeast: 8},
	{Work: "memory", Case: work.MemoryCase, Against: work.Earlier, AtLeast: 0.95, Text: "flat"},
	{Work: "http", Case: "relationships of 40", Against: "echo, fixed body", AtLeast: 0.6},
	{Work: "http", Case: "followers page", Against: "echo, fixed body", AtLeast: 0.6},
	{Work: "http", Case: "relationships of 40", Peer: peer.AloneName, Against: "echo, fixed body", AtLeast: 0.6, Text: "the same, cache in the process"},
	{Work: "http", Case: "followers page", Peer: peer.AloneName, Against: "echo, fixed body", AtLeast: 0.6, Text: "the same, cache in the process"},
}
