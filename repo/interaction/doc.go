// Package interaction keeps the log of what accounts did with each other, until
// it has been folded into their affinity.
//
// A row is a batch: the events that one process saw of the actors of one bucket
// between two flushes, packed into one blob. All batches of a flush go in one
// statement. Batches sort by time, are read in that order and deleted once they
// are folded, so the table is as long as the time between two folds.
//
//	byte 0       format version, 1
//	uvarint      kinds, then for each a length byte and its name
//	uvarint      events
//	4 bytes      base: the earliest time, unix seconds, big-endian
//	events       each of uvarints, sorted by actor:
//	               kind     its number in the table above
//	               actor    what lies above the bucket, less that of the event before
//	               target
//	               at       seconds after base
//
// Kinds stand by name, so that the log does not depend on the settings of the
// process that wrote it.
//
// On failure: a flush whose outcome is unknown is sent again with the same batch
// ids and changes nothing where it had arrived. Only if it arrived, was folded
// and deleted, and is then sent again, it counts twice. Bytes that cannot be
// read give ErrFormat and never a panic.
package interaction
