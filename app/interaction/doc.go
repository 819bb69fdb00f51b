// Package interaction takes what accounts do with each other and brings it into
// the log, without ever making anybody wait.
//
//	Changed, Record, Visit, Seen ─► buffer (bounded) ─► flush: every few seconds, or half full ─► log
//	                                  │                  │
//	                                  │                  └─ no such account: counted and dropped
//	                                  └─ full: counted and dropped
//
// Changed listens to app/relation: each follow that is new, also after a request. Record
// takes what the product's servers saw.
//
// Promises:
//
//   - Recording takes a short lock and no more: no database, no error. What does
//     not fit into the buffer is dropped and counted.
//   - A flush that fails is tried again with the next one, with the same batch
//     ids, so that one which had arrived is not counted twice. Meanwhile its
//     events take up room in the buffer.
//   - What an account does with one that does not exist, or the other way round,
//     does not get into the log. The accounts are looked up by the flush, through
//     their cache: one made in the last seconds may count as missing still.
//   - Close flushes what is left. A process that is killed loses what it had
//     recorded since its last flush: a few seconds.
//
// A visit counts once an hour for each pair, and an account is noted as seen
// once an hour; both in this process and as far as its memory of bounded size
// reaches.
package interaction
