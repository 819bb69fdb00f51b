package spill

import (
	"cmp"
	"encoding/binary"
)

// Record is what is sorted: by Hi, then Lo, then Val.
type Record struct {
	Hi, Lo uint64
	Val    uint32
}

// memoryBytes and diskBytes are the sizes of a record.
const (
	memoryBytes = 24
	diskBytes   = 20
)

// Compare orders records by Hi, Lo and Val.
func Compare(a, b Record) int {
	if a.Hi != b.Hi {
		return cmp.Compare(a.Hi, b.Hi)
	}
	if a.Lo != b.Lo {
		return cmp.Compare(a.Lo, b.Lo)
	}
	return cmp.Compare(a.Val, b.Val)
}

func (r Record) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, r.Hi)
	b = binary.LittleEndian.AppendUint64(b, r.Lo)
	return binary.LittleEndian.AppendUint32(b, r.Val)
}

func readRecord(b []byte) Record {
	_ = b[diskBytes-1]
	return Record{
		Hi:  binary.LittleEndian.Uint64(b),
		Lo:  binary.LittleEndian.Uint64(b[8:]),
		Val: binary.LittleEndian.Uint32(b[16:]),
	}
}
