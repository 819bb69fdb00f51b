// Package cache keeps rows close to their readers, and never lets a row go back.
//
// MySQL is the truth. An entry is the packed value of a row and its ver, or a mark that the
// row is absent. Whatever happens to the cache, no write goes wrong, and a read is late by
// at most the expiry of an entry: the next swap finds out a stale row, whose ver is too low.
//
//	reader   Reader.Read ──> Cache.Get or Heads ── miss ──> Flight.Do ──> database ──> Cache.Fill
//	writer   commit ──> Reader.Put ──> Flight.Forget, Cache.Put
//
//	Cache   Memcached: memory (this process) in front of repo/memcache (all processes)
//	        Local:     memory alone, for one process
//	        None:      nothing, for tools and tests
//
// # Heads and bodies
//
// A list may be long, and most questions about a row do not need it. So an entry has a value
// (the counts of a relation row) and a body (its list). In memcached a body of up to 2 KiB
// stands behind its value. A longer one is stored apart, in an item that is whole again:
//
//	r4abc     ver 7, value              order is kept here, by compare-and-swap
//	r4abc+    ver 7, value, body        written before, in whatever order
//
// A body of another ver than the value's counts as missing. So only the short item needs a
// compare-and-swap, and heads of many rows are one short multi-get.
//
// The memory of a process has the long bodies it has seen, to be used only after memcached
// has said that their ver is current: what is saved is the sending. Heads that are only
// shown stay fresh there for a second, and are used unasked.
//
// A commit is one trip to memcached, a batch of all its rows. Whoever read a row from the
// cache has its token (memcached's own), so that the next ver replaces it without a question.
//
// # Why a row does not go back
//
// Fill only adds. Put replaces an entry by compare-and-swap, and only where the held ver is
// lower. So the order in which readers and writers arrive does not matter, with two
// exceptions that expiry bounds: a reader so slow that the row it read is committed anew,
// put and evicted before it fills; and a dropped key, whose ver nothing remembers.
//
// A value that is too large to be held leaves a hole, which has a ver and reads as a miss: a
// late Fill cannot bring the older row back. A server that does not answer a Put may hold an
// older row: its key is dirty (repo/memcache).
//
// # When the database goes back
//
// A failover to a replica that was behind, or a restore, takes rows back to lower vers,
// while the cache holds those of the history that is lost. No ver comes twice (repo.Step),
// so a swap that begins with a lost row is lost. Who commits and finds a higher ver held
// asks the database ([Reader] does): a later commit is there too, a lost one is not, and is
// disowned. Until somebody writes the row, it is shown as it was until its entry expires.
//
// For this an operator renews the [Identity] of the database (kith cache renew). It stands
// in every key, so that nothing cached before is found again, and databases that share
// servers do not mix. Every process asks for it once a second. When it is another, the
// process empties its memory, and drops under the new one what it put since it last asked:
// others may have filled the cache meanwhile with rows from before.
//
// # Forged items
//
// An edit begins with what the cache says, so whoever could put a row there could make it
// the database's. Every item ends with a checksum of its key and all its bytes, keyed by the
// secret of the identity, which is only in the database. An item that does not verify is
// dropped, counted (kith_cache_refused_total) and read afresh. An old item can be put back
// under its own key: readers are then shown the row as it was, but a swap that begins with
// it is lost.
//
// The checksum takes 145 ns for a head of 200 bytes and 13 µs for a list of 80 KiB on an
// idle core with AES instructions (BenchmarkTag). Of what else was tried there,
// HMAC-SHA256 took 305 ns and 48 µs, keyed BLAKE3 340 ns and 22 µs, Poly1305 114 ns and
// 26 µs, HighwayHash, whose strength nobody has proved, 75 ns and 7 µs.
package cache
