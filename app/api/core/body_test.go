package core

import (
	"strings"
	"testing"
)

// What is allowed is let through, and brackets in texts do not count.
func TestBody_Fits(t *testing.T) {
	for _, c := range []struct {
		json string
		most int
		want bool
	}{
		{`{"a":1}`, 1, true},
		{`{"a":1,"b":2}`, 2, true}, {`{"a":1,"b":2}`, 1, false},
		{`{"a":[1,2,3]}`, 4, true}, {`{"a":[1,2,3]}`, 3, false},
		{`{"a":",,[[{{","b":"\",[\\"}`, 2, true},
		{strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), 99, true},
		{strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), 99, false},
		{`"\`, 0, true}, {``, 0, true},
	} {
		if got := fits([]byte(c.json), c.most); got != c.want {
			t.Errorf("%s, at most %d: got %v, want %v", c.json, c.most, got, c.want)
		}
	}
}
