package config

import (
	"encoding"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Size is a number of bytes, written as 512MiB, 64KiB, 2GiB or 1000. MB is read as
// MiB.
type Size int64

var _ encoding.TextUnmarshaler = (*Size)(nil)

var sizeRE = regexp.MustCompile(`^(\d+) *(?:([KMG])(?:I?B)?|B)?$`)

// UnmarshalText reads a size, in upper or lower case.
func (s *Size) UnmarshalText(text []byte) error {
	parts := sizeRE.FindStringSubmatch(strings.ToUpper(string(text)))
	if parts == nil {
		return fmt.Errorf("%q is not a size such as 512MiB", text)
	}
	shift := 10 * strings.Index(" KMG", parts[2]) // 0 where there is no letter
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || n > math.MaxInt64>>shift {
		return fmt.Errorf("%q is not a size such as 512MiB", text)
	}
	*s = Size(n << shift)
	return nil
}

// String writes a size in the largest unit that leaves a whole number.
func (s Size) String() string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if shift := 30 - 10*i; s != 0 && s%(1<<shift) == 0 {
			return strconv.FormatInt(int64(s>>shift), 10) + unit
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}
