// Package job keeps what maintenance jobs did and how far they came: a row for
// each run, and for each job the cursor at which it goes on after a stop.
//
// Both are written while the job holds its lease (repo/lease) and lie in the
// bucket of the lease; runs for one account (OfOne) lie in a bucket of their own.
// A process that lost the lease without knowing it yet can do no harm: its run is
// a row of its own, and a cursor is only replaced under a lease with a ver as high.
package job
