package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// none stands where there is nothing to show.
const none = "–"

// number shows three digits at least, and thousands apart: 0.042, 0.420, 4.20,
// 42.0, 4,200.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || a == 0:
		return humanize.FormatFloat("#,###.", v)
	case a >= 10:
		return humanize.FormatFloat("#,###.#", v)
	case a >= 1:
		return humanize.FormatFloat("#,###.##", v)
	case a >= 0.1:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// amount is a number without its unit, besides bytes, which come in MiB and the
// like.
func amount(v float64, unit string) string {
	if unit == "bytes" {
		return humanize.IBytesN(uint64(max(v, 0)), 4)
	}
	return number(v)
}

// withUnit is an amount and its unit. No bytes at all are of a peer that has
// nothing of that kind.
func withUnit(v float64, unit string) string {
	switch {
	case unit == "bytes" && v == 0:
		return none
	case unit == "bytes":
		return amount(v, unit)
	}
	return amount(v, unit) + " " + unit
}

// times is a ratio, whichever it is: rounded to the nearest with three digits
// that count. The words beside it go by what it was before.
func times(ratio float64) string {
	if ratio <= 0 {
		return "0 ×"
	}
	text := strconv.FormatFloat(ratio, 'e', 2, 64)
	rounded, _ := strconv.ParseFloat(text, 64)
	exponent, _ := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	if exponent >= 2 {
		return humanize.Comma(int64(rounded)) + " ×"
	}
	return strconv.FormatFloat(rounded, 'f', 2-exponent, 64) + " ×"
}

// millis is a time in milliseconds.
func millis(d time.Duration) string {
	if d == 0 {
		return none
	}
	return number(float64(d) / float64(time.Millisecond))
}

// spread is the range of the samples, nothing if there is but one.
func spread(l Line) string {
	if len(l.Samples()) < 2 {
		return none
	}
	low, high := l.Spread()
	return amount(low, l.Unit) + "–" + amount(high, l.Unit)
}
