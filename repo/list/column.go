package list

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// uvarint reads a number of at most 5 bytes, the most that a column needs.
// n is 0 if b ends early, or if the number is longer than it has to be: equal
// lists must be equal bytes.
func uvarint(b []byte) (x uint64, n int) {
	for i, c := range b[:min(len(b), 5)] {
		x |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if c == 0 && i > 0 {
				return 0, 0
			}
			return x, i + 1
		}
	}
	return 0, 0
}

func zigzag(d int64) uint64   { return uint64(d<<1) ^ uint64(d>>63) }
func unzigzag(x uint64) int64 { return int64(x>>1) ^ -int64(x&1) }

// walker steps through the times of a section, newest first, and reads an id only when
// asked: a page far down passes thousands of entries.
type walker struct {
	view *View
	s    Section
	bad  bool
	ids  []byte
	col  []byte
	at   int    // bytes of the column that are used up
	n    int    // entries of the section
	i    int    // entries stepped onto so far
	key  uint32 // time of the entry that step reached; of a friend, the later
	diff int64  // of a friend: theirs minus mine
}

func (v *View) walk(s Section) walker {
	return walker{view: v, s: s, ids: v.ids(s), col: v.column(s), n: v.Len(s)}
}

// step moves to the next entry. It returns false at the end and on bad bytes;
// err and done tell which.
func (w *walker) step() bool {
	if w.i >= w.n {
		return false
	}
	d, ok := w.number()
	if w.i > 0 {
		d = uint64(w.key) - d // wraps past 32 bits if d is too much
	}
	if !ok || d > math.MaxUint32 {
		w.bad, w.n = true, 0
		return false
	}
	w.key = uint32(d)
	w.i++
	if w.s != Friends {
		return true
	}
	d, ok = w.number()
	if w.diff = unzigzag(d); !ok || w.diff > int64(w.key) || -w.diff > int64(w.key) {
		w.bad, w.n = true, 0
		return false
	}
	return true
}

// number is uvarint without a branch on the length of the number, which no processor can
// predict, except for the last bytes of a column.
func (w *walker) number() (uint64, bool) {
	if w.at+8 > len(w.col) {
		if w.at == len(w.col) {
			return 0, true // the rest is 0 and not written
		}
		x, n := uvarint(w.col[w.at:])
		w.at += n
		return x, n > 0
	}
	x := binary.LittleEndian.Uint64(w.col[w.at:])
	stop := ^x & 0x80_80_80_80_80
	x &= stop ^ (stop - 1)
	x = x&0x7f | x>>1&(0x7f<<7) | x>>2&(0x7f<<14) | x>>3&(0x7f<<21) | x>>4&(0x7f<<28)
	n := bits.TrailingZeros64(stop)>>3 + 1
	w.at += n
	return x, stop != 0 && (x>>(7*(n-1)&63) != 0 || n == 1)
}

// skip steps over entries that are newer than t, three times as fast as step does. It
// stops early at anything unusual and before the last bytes of the column, which it leaves
// to step. Friends, with two times each, are not skipped.
func (w *walker) skip(t uint32) {
	if w.s == Friends {
		return
	}
	at, i, key := w.at, w.i, uint64(w.key)
	for i < w.n && at+8 <= len(w.col) {
		x := binary.LittleEndian.Uint64(w.col[at:])
		stop := ^x & 0x80_80_80_80_80
		x &= stop ^ (stop - 1)
		x = x&0x7f | x>>1&(0x7f<<7) | x>>2&(0x7f<<14) | x>>3&(0x7f<<21) | x>>4&(0x7f<<28)
		n := bits.TrailingZeros64(stop)>>3 + 1
		next := key - x // wraps past 32 bits if x is too much
		if i == 0 {
			next = x
		}
		if stop == 0 || n > 1 && x>>(7*(n-1)&63) == 0 || next > math.MaxUint32 || next <= uint64(t) {
			break
		}
		at, i, key = at+n, i+1, next
	}
	w.at, w.i, w.key = at, i, uint32(key)
}

// err returns what stopped the steps, if it was not the end. It is made here and not kept
// in the walker, which would then move to the heap with its view.
func (w *walker) err() error {
	if w.bad {
		return fmt.Errorf("%w: times of %v, at entry %d", ErrFormat, w.s, w.i)
	}
	return nil
}

// done is err after the last step: the column must be used up as well, and
// must not end in what is left out.
func (w *walker) done() error {
	if err := w.err(); err != nil {
		return err
	}
	if w.at != len(w.col) {
		return fmt.Errorf("%w: column of %v ends late", ErrFormat, w.s)
	}
	if n := len(w.col); n != 0 && w.col[n-1] == 0 {
		return fmt.Errorf("%w: column of %v ends with a 0", ErrFormat, w.s)
	}
	return nil
}

func (w *walker) id() uint64 { return w.view.id(w.ids, w.i-1) }

// times returns when the owner made the edge or entry, and when they did.
func (w *walker) times() (mine, theirs uint32) {
	switch {
	case w.s == Followers:
		return 0, w.key
	case w.s != Friends:
		return w.key, 0
	case w.diff >= 0:
		return w.key - uint32(w.diff), w.key
	default:
		return w.key, w.key - uint32(-w.diff)
	}
}

// appendTimes adds the times of entries, which come oldest first. No number but
// 0 ends in a byte that is 0, so zeros at the end are numbers to leave out.
func appendTimes(col []byte, entries []entry, friends bool) []byte {
	start, last := len(col), uint64(0)
	for i := len(entries) - 1; i >= 0; i-- {
		e := &entries[i]
		key := uint64(e.key())
		d := last - key
		if i == len(entries)-1 {
			d = key
		}
		last = key
		col = appendNumber(col, d)
		if friends {
			col = appendNumber(col, zigzag(int64(e.theirs)-int64(e.mine)))
		}
	}
	for len(col) > start && col[len(col)-1] == 0 {
		col = col[:len(col)-1]
	}
	return col
}

// appendNumber is binary.AppendUvarint for numbers of up to 5 bytes, again
// without branching on the length: it writes 8 bytes and keeps some.
func appendNumber(col []byte, x uint64) []byte {
	n := (bits.Len64(x|1) + 6) / 7
	x = x&0x7f | x&(0x7f<<7)<<1 | x&(0x7f<<14)<<2 | x&(0x7f<<21)<<3 | x&(0x7f<<28)<<4
	x |= (1<<(8*(n-1)) - 1) & 0x80_80_80_80
	return binary.LittleEndian.AppendUint64(col, x)[:len(col)+n]
}
