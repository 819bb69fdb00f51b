package repo

import (
	"crypto/rand"
	"encoding/binary"
)

// The ver of a row is no count. Each commit raises it by a random step, the same
// for all rows of one statement, so that ver does not take the same value in two
// histories of a database: that of a primary and that of a replica which took over
// before it had the last commits, or that of a server and that of its backup. A
// swap is guarded by the ver of the row it began with. If that row is from a
// history that was lost (from a cache, from the memory of a process), the swap is
// lost too.
//
// How sure that is: the steps of the history that goes on hit a given lost ver of a
// row with a chance of one in StepMean, 1 in 268 million, and a wrong swap must
// then come while the row stands at that very ver. A failover that loses a million
// commits makes a row with such a ver about once in 250.
//
// How long it lasts: 2^64/StepMean is 68 billion changes of one row, at 100 a
// second 21 years.
const (
	// MinStep is the least step. What a commit makes may be named by the row's ver
	// and a number below MinStep: the names of the next commit are higher.
	MinStep = 1 << 12
	// StepMean is the mean of all steps: ver/StepMean is about how often a row was
	// changed.
	StepMean = stepRange/2 + MinStep

	// MaxVer is past what a row reaches; a higher ver is damage, and it leaves no room
	// for steps.
	MaxVer = 1<<63 - 1

	stepRange = 1 << 29
)

// Step returns the random step by which a commit raises ver. The randomness is the
// system's, so that a machine that was copied while it ran does not repeat itself.
func Step() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return MinStep + binary.LittleEndian.Uint64(b[:])%stepRange
}
