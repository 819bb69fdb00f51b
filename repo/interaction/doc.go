// Package interaction keeps the log of what accounts did with each other, until it is
// folded into their affinity.
//
// A row is a batch: the packed events that one process recorded of the actors of one
// bucket between two flushes. All batches of a flush go in one statement. They sort by
// time, are read in that order and deleted once they are folded, so the table holds no
// more than came since the last fold.
//
//	byte 0       format version, 1
//	uvarint      kinds, then for each a length byte and its name
//	uvarint      events
//	4 bytes      base: the earliest time, unix seconds, big-endian
//	events       each of uvarints, sorted by actor:
//	               kind     its number in the table above
//	               actor    its bits above the bucket, less those of the event before
//	               target
//	               at       seconds after base
//
// Kinds are stored by name, so that the log does not depend on the settings of the process
// that wrote it.
//
// A flush whose outcome is unknown is sent again with the same batch ids and changes
// nothing where it had arrived. It counts twice only if it was folded and deleted in
// between. Bytes that cannot be read give ErrFormat, never a panic.
package interaction
