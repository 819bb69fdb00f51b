// Package interaction records what accounts do with each other in the log, and never makes
// a caller wait.
//
//	Changed, Record, Visit, Seen ─► buffer (bounded) ─► flush: every few seconds, or half full ─► log
//	                                  │                  │
//	                                  │                  └─ no such account: counted and dropped
//	                                  └─ full: counted and dropped
//
// Changed listens to app/relation for new follows. Record takes what the product's servers
// report.
//
// Promises:
//
//   - Recording takes a short lock and no more: no database, no error. What does not fit
//     into the buffer is dropped and counted.
//   - A failed flush is retried with the next one, with the same batch ids, so that
//     batches which had arrived do not count twice. Until then its events take room in
//     the buffer.
//   - An event with an unknown account does not get into the log. The flush looks
//     accounts up through their cache: one made in the last seconds may count as unknown.
//   - Close flushes what is left. A killed process loses what it recorded since its last
//     flush: a few seconds.
//
// A visit counts once an hour for each pair, and an account is seen once an hour, within
// this process and its bounded memory.
package interaction
