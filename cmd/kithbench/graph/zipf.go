package graph

import (
	"math"
	"math/rand/v2"
)

// Zipf draws ids so that the k-th most wanted is wanted k^-exponent times as
// often as the first.
type Zipf struct {
	ids  []uint64
	sums table
}

// NewZipf takes ids in the order of how much they are wanted.
func NewZipf(ids []uint64, exponent float64) *Zipf {
	z := &Zipf{ids: ids, sums: make(table, len(ids))}
	sum := 0.0
	for i := range ids {
		sum += math.Pow(float64(i+1), -exponent)
		z.sums[i] = sum
	}
	return z
}

// Draw draws one id.
func (z *Zipf) Draw(r *rand.Rand) uint64 { return z.ids[z.sums.draw(r)-1] }
