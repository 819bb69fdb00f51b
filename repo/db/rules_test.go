package db

import "testing"

// Some settings can be set at the start of a server only.
func TestForbidding(t *testing.T) {
	for _, c := range []struct {
		rules []rule
		want  string
	}{
		{nil, ""},
		{[]rule{{"read_only", "OFF"}, {"tx_read_only", "off"}, {"innodb_read_only", "0"}}, ""},
		{[]rule{{"read_only", "OFF"}, {"innodb_read_only", "ON"}}, "innodb_read_only=ON"},
		{[]rule{{"read_only", "ON"}, {"super_read_only", "1"}}, "read_only=ON, super_read_only=1"},
		{[]rule{{"read_only", "NO_LOCK_NO_ADMIN"}}, "read_only=NO_LOCK_NO_ADMIN"},
	} {
		if got := forbidding(c.rules); got != c.want {
			t.Errorf("%v: got %q, want %q", c.rules, got, c.want)
		}
	}
}
