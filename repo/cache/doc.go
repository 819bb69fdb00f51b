// Package cache keeps rows near their readers, and never lets a row go back.
//
// MySQL is the truth. A cache holds entries: the packed value of a row and the
// row's ver, or a mark that the row is absent. Whatever happens to the cache,
// no write goes wrong, and a read is late by at most the expiry of an entry:
// a stale row is found out by the next swap, because its ver is too low.
//
// # Who calls what
//
//	reader   Get ── miss ──> Flight.Do ──> database ──> Fill
//	writer   commit ──> Flight.Forget ──> Put (or Drop)
//
// Three implementations stand behind the interface [Cache]: [Memcached] for
// many processes, [Local] for one process, [None] for tools and tests.
// [Flight] sees to it that of many readers that miss a row at once only one
// asks the database. [Reader] puts the three together for one kind of row.
//
// # Heads and bodies
//
// A list may be long, and most questions about a row do not need it. So an entry
// has two parts: a value (the counts of a relation row) and a body (its list). In
// memcached a body of up to 2 KiB stands behind its value. A longer one is stored
// apart, under the key with a plus sign, in an item that is whole again:
//
//	r3abc     ver 7, value              order is kept here, by compare-and-swap
//	r3abc+    ver 7, value, body        written before, in whatever order
//
// A reader takes the first and, where it needs the body, the second, if that is
// of the same ver; else the body counts as missing. So only the short item needs a
// compare-and-swap, and heads of many rows are one short multi-get.
//
// A process keeps the long bodies it has seen near (in its memory). They are used
// only after memcached has said that their ver is current, so they are what it would
// have sent; what is saved is the sending. Heads that are only
// shown are kept near as well, for a second, and used unasked.
//
// Readers share few connections: while a question is on its way, the keys of
// those who come queue up, and the next question asks for all of them. Sixty-four
// readers of single rows are answered four times as fast as with a question
// each, and one alone waits for nobody.
//
// A commit tells many rows. They go through a pipe, one batch of commands and one
// batch of answers, since the client library waits for each. Who read a row from
// the cache has its token (memcached's own), so that the next ver takes its place
// without a look at what is held.
//
// # Why a row does not go back
//
// Fill only adds. Put replaces an entry by memcached's own compare-and-swap
// and only where the held ver is lower. So the order in which readers and
// writers arrive does not matter, with two exceptions that expiry bounds: a
// reader that is very slow, so that the row it read is committed anew, put,
// and evicted again before it fills; and a key dropped by Drop, after which
// nothing remembers its ver.
//
// A value that is too large to be held leaves a hole: an entry that has a ver
// and no value. It reads as a miss, and it keeps the older row from coming
// back through a late Fill.
//
// # When the database goes back
//
// A failover to a replica that was behind, or a restore, takes rows back to lower
// vers, while the cache holds those of the history that is lost. No ver comes twice
// (repo.Step), so the same ver is the same row, and nothing else is taken for it: a
// body of another ver, lower or higher, is none. A swap that begins with a lost row is
// lost. Who commits and finds a higher ver held asks the database ([Reader] does): a
// later commit is there too, a lost one is not, and is disowned. Until somebody
// writes the row, it is shown as it was, for as long as an entry lasts.
//
// For this an operator renews the [Identity] of the database (kith cache renew). It
// stands in every key, so that nothing that was cached is found again, and two
// databases that share servers do not mix. Every process asks for it once a second.
// When it is another, the process forgets what it has near, too. A process that learns
// of it a moment later than others may have committed under the old one while those
// filled the cache under the new: what it told since it last asked is dropped there.
//
// # Who is believed
//
// An edit begins with what the cache says, so whoever could put a row there could make
// it the database's. Every item ends with a checksum of its key and all its bytes, ver
// and kind included, keyed by the secret of the identity, which is only in the
// database. An item that does not verify is dropped, counted
// (kith_cache_refused_total) and read afresh. An item that was true once can be put back
// under its own key by who has kept it: readers are then shown the row as it was, as
// long as that goes on, but a swap that begins with it is lost.
//
// The checksum takes 145 ns for a head of 200 bytes and 13 µs for a list of 80 KiB on an
// idle core with AES instructions (BenchmarkTag). Of what else was tried there,
// HMAC-SHA256 took 305 ns and 48 µs, keyed BLAKE3 340 ns and 22 µs, Poly1305 114 ns and
// 26 µs, HighwayHash, whose strength nobody has proved, 75 ns and 7 µs.
//
// # When a server is away
//
// Each memcached server is a node with a breaker of its own:
//
//	     a call is not answered, or a key could not be told
//	up ─────────────────────────────────────────────────────> away <──┐
//	^                                                          │      │ again
//	│ every untold key is deleted           a probe is answered│      │
//	└───────────────────────── mending <───────────────────────┘      │
//	                              └───────────────────────────────────┘
//
// While a node is away its keys miss at once, and Put and Drop only remember
// the key as untold. A probe asks for the version at once and then every 250
// ms. When it is answered, the node is mending: the untold keys are deleted
// while writers already tell it what they commit, so that the keys do not
// become more; readers still miss. It is up only when nothing is untold: this
// is what makes the first read after its return safe. Calls that timed out may
// lie in socket buffers and be carried out after the return, so the same keys
// are deleted once more a second later; in this second, a Fill of that kind
// may show the row it was given.
//
// A reader waits little more than one time-out at most for its turn, and one for
// each sign of life of the answer. Where nothing comes, a caller pays one
// time-out: all calls to a node that are under way when it hangs time out
// together, and the first of them closes the node for those that follow. At most
// MaxIdle connections to a node are in use at once, so that a burst cannot use up
// memcached's connections.
//
// The keys of a node that is away do not move to another: when they moved
// back they would find stale rows. For the same reason a change of the server
// list may show rows as old as the expiry.
//
// Untold keys live in the memory of the process that could not tell them. If
// it ends before it could, or more than a million are waiting, the expiry
// bounds how long their rows stay stale.
package cache
