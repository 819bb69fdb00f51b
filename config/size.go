package config

import (
	"encoding"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, written as 512MiB, 64KiB, 2GiB or 1000.
type Size int64

var _ encoding.TextUnmarshaler = (*Size)(nil)

// units of a Size, largest first. MB is read as MiB: nobody who types it
// means the difference.
var units = []struct {
	names []string
	bytes int64
}{
	{[]string{"GiB", "GB", "G"}, 1 << 30},
	{[]string{"MiB", "MB", "M"}, 1 << 20},
	{[]string{"KiB", "KB", "K"}, 1 << 10},
	{[]string{"B", ""}, 1},
}

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(text []byte) error {
	for _, unit := range units {
		for _, name := range unit.names {
			number, ok := strings.CutSuffix(strings.ToLower(string(text)), strings.ToLower(name))
			if !ok {
				continue
			}
			n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
			if err != nil || n < 0 || n > math.MaxInt64/unit.bytes {
				return fmt.Errorf("%q is not a size such as 512MiB", text)
			}
			*s = Size(n * unit.bytes)
			return nil
		}
	}
	return fmt.Errorf("%q is not a size such as 512MiB", text)
}

// String writes a size in the largest unit that leaves a whole number.
func (s Size) String() string {
	for _, unit := range units {
		if n := int64(s); n != 0 && n%unit.bytes == 0 {
			return strconv.FormatInt(n/unit.bytes, 10) + unit.names[0]
		}
	}
	return "0B"
}
