// Package cache keeps rows close to their readers, and never lets a row go back.
//
// MySQL is the truth. A cache holds entries: the packed value of a row and the
// row's ver, or a mark that the row is absent. Whatever happens to the cache,
// no write goes wrong, and a read is late by at most the expiry of an entry:
// a stale row is found out by the next swap, because its ver is too low.
//
// # Who calls what
//
//	reader   Reader.Read ──> Cache.Get or Heads ── miss ──> Flight.Do ──> database ──> Cache.Fill
//	writer   commit ──> Reader.Put ──> Flight.Forget, Cache.Put
//
//	Cache   Memcached: memory (this process) in front of repo/memcache (all processes)
//	        Local:     memory alone, for one process
//	        None:      nothing, for tools and tests
//
// [Flight] sees to it that of many readers that miss a row at once only one
// asks the database. [Reader] puts both together for one kind of row.
//
// # Heads and bodies
//
// A list may be long, and most questions about a row do not need it. So an entry
// has two parts: a value (the counts of a relation row) and a body (its list). In
// memcached a body of up to 2 KiB stands behind its value. A longer one is stored
// apart, under the key with a plus sign, in an item that is whole again:
//
//	r4abc     ver 7, value              order is kept here, by compare-and-swap
//	r4abc+    ver 7, value, body        written before, in whatever order
//
// A reader takes the first and, where it needs the body, the second, if that is
// of the same ver; else the body counts as missing. So only the short item needs a
// compare-and-swap, and heads of many rows are one short multi-get.
//
// The memory of a process has the long bodies it has seen. They are used only after
// memcached has said that their ver is current; what is saved is the sending. Heads that
// are only shown stay fresh there for a second, and are used unasked.
//
// A commit is one trip to memcached: a batch of all its rows, bodies before heads. Whoever
// read a row from the cache has its token (memcached's own), so that the next ver replaces
// it without a look at what is held.
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
// A server that does not answer a Put may hold an older row: its key is dirty, and is
// deleted before that server is read again (repo/memcache says how).
//
// # When the database goes back
//
// A failover to a replica that was behind, or a restore, takes rows back to lower
// vers, while the cache holds those of the history that is lost. No ver comes twice
// (repo.Step), so the same ver is the same row, and a body of another ver, lower or
// higher, is none. A swap that begins with a lost row is lost. Who commits and finds a
// higher ver held asks the database ([Reader] does): a later commit is there too, a lost
// one is not, and is disowned. Until somebody writes the row, it is shown as it was, for
// as long as an entry lasts.
//
// For this an operator renews the [Identity] of the database (kith cache renew). It
// stands in every key, so that nothing that was cached is found again, and two
// databases that share servers do not mix. Every process asks for it once a second.
// When it is another, the process forgets what its memory has, too. A process that learns
// of it a moment later than others may have committed under the old one while those
// filled the cache under the new: what it put since it last asked is dropped there.
//
// # Forged items
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
package cache
