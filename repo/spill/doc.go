// Package spill sorts more records than fit in memory.
//
// A Sorter takes fixed-size records in any order and gives them back sorted by
// (Hi, Lo, Val), as often as asked. While they fit into its share of memory they
// stay there; else each full buffer is sorted and written to disk as a run, and
// walking merges the runs with a heap.
//
//	Add ──► buffer ──full──► sort ──► run 1, run 2, … ──► heap ──► Walk
//	           └── never full: sort ────────────────────────────────┘
//
// Equal records are all kept; what a repeat means is for the caller to say.
//
// # Sorting
//
// A buffer is split in place by the top bits in which its Hi differ, into up
// to 2,048 parts, and the parts are sorted by all processors. That is about
// three times as fast as one comparison sort, and needs no second buffer.
//
// # Runs
//
// A run is a file of blocks of up to 3,276 records:
//
//	4 bytes  records in the block, little-endian
//	4 bytes  CRC-32C of what follows
//	20 bytes a record: Hi, Lo, Val, little-endian
//
// Reading checks the counts, the sums and the order, so that a disk that gives
// back other bytes than it took is an error (ErrDamaged), not wrong records.
// 64 runs of one level are merged into one of the next as soon as they are
// there, so that few files are open however much is sorted.
//
// # What is left behind
//
// Nothing. A run's file loses its name as soon as it is made and lives on as an
// open file, which the system frees also after kill -9. Where a system does not
// let go of names of open files, Close removes them.
package spill
