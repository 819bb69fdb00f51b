// Package suggest keeps whom an account may want to follow, and whom it does not
// want to be shown: one versioned row an account.
//
//	byte 0       format version, 1
//	byte 1       width of an id, 4 while all fit in 32 bits, else 8
//	2 bytes      suggested, big-endian, as everything here
//	2 bytes      dismissed
//	ids          the suggested, best first
//	ids          the dismissed, newest first
//
// There is no score in it: the order says enough. Both lists stand in one row
// because a dismissal takes effect on the suggestions of the same moment, and a
// new set of suggestions must not bring back what was dismissed meanwhile; the
// swap on ver sees to both. Bytes that cannot be read give ErrFormat.
package suggest
