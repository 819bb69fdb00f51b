// Package memcache talks to memcached servers, and is the only one that does. It knows keys,
// bytes and commands; what the bytes mean is the business of its callers.
//
//	Client.Get, GetLong    questions: many keys, of many callers together
//	Client.Do              batches of commands, their answers read together
//	Client.Write           the same for what must not be lost: see Dirty keys
//	Client.Touch, Incr     single commands, by gomemcache
//	       │  a key belongs to one server
//	       v
//	server ── session ─┬─ short pool   2 connections, shared questions
//	(breaker,          ├─ single       2 connections of gomemcache
//	 dirty keys)       └─ long pool    12 connections: long values, batches
//
// # Connections
//
// gomemcache waits for each answer before it sends the next command. That is right for
// single commands. But a commit updates hundreds of rows, and a thousand readers each want
// one key: the round trips and system calls would cost more than the work. So for these
// this package has a connection of its own, with two uses. A batch sends up to 128 commands
// and then reads their answers. A question asks for the keys of all callers who wait: while
// the connections are in use, callers queue up, and whoever gets the next one asks for the
// others too. Sixty-four readers of single keys are answered four times as fast as with a
// question each, and one alone waits for nobody.
//
// # Bounded waits
//
// Each wait for a sign of life of a server ends after one time-out. A reader waits at most a
// quarter more than that for its turn, a writer as long as the server answers others. All
// calls that are under way when a server hangs time out together, and the first of them
// closes it for those that follow, who pay nothing.
//
// # When a server is away
//
// Each server has a breaker:
//
//	      a call is not answered, or a key becomes dirty
//	up ──────────────────────────────────────────────────> away <──┐
//	^                                                        │      │ again
//	│ every dirty key is deleted            a probe is answered     │
//	└──────────────────────── repairing <────────────────────┘      │
//	                              └─────────────────────────────────┘
//
// While a server is away, nothing is sent to it but a probe every 250 ms. When that is
// answered, the dirty keys are deleted, while writers may write already, so that dirty keys
// do not become more. Only then may readers read.
//
// The keys of a server that is away do not move to another: when they moved back they would
// find what is outdated. A change of the list of servers may show what is outdated, too,
// until it expires.
//
// # Dirty keys
//
// A key is dirty when a Write was not answered, or a delete was refused (a proxy may do so):
// the server may hold what is outdated. A dirty key is deleted before its server is read
// again, and once more a second later, since commands that timed out may lie in socket
// buffers and be carried out after the return.
//
// Dirty keys are in the memory of the process that could not write. If it ends before the
// server is back, or more than a million keys are dirty, expiry bounds how long what is
// outdated can be read.
package memcache
