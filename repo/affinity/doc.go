// Package affinity keeps with whom each account has to do, and how much: one
// versioned row for each account that did anything, with the others of the
// highest scores. The score is for ordering only and never leaves the program.
//
// A score fades with a half-life H: what weighs w at time t weighs
// w·2^-((u-t)/H) at time u. All scores of a row stand as of one moment, At, so
// fading does not change their order, and adding something new means fading all
// of them to the newer moment first.
//
//	byte 0       format version, 1
//	byte 1       width of an id, 4 while all fit in 32 bits, else 8
//	2 bytes      entries, big-endian, as everything here
//	4 bytes      At, unix seconds
//	ids          highest score first, then by id
//	scores       float32 each, in the order of the ids
//
// A fold swaps the rows of many accounts of one bucket and deletes the batches
// that were folded, in one transaction of one bucket. Each swap is guarded by
// ver and each batch must still be there, so a batch is folded once: after a
// crash or a lost connection it is either folded and gone, or untouched and
// folded by the next run.
package affinity
