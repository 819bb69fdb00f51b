package core

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// Whoever comes after more accounts and addresses than are counted one by one is
// counted all the same.
func TestRate_Crowd(t *testing.T) {
	c := newCounter[netip.Addr](2)
	address := netip.MustParseAddr("192.0.2.1")
	for range 10_000 {
		c.add(address)
		address = address.Next()
	}
	if len(c.own) != 2 || len(c.shared) != sharedCounters {
		t.Errorf("%d counters of their own and %d shared, want 2 and %d", len(c.own), len(c.shared), sharedCounters)
	}
	late := netip.MustParseAddr("198.51.100.1")
	before := c.add(late)
	for i := 1; i <= 5; i++ {
		if got := c.add(late); got != before+i {
			t.Errorf("request %d of a late address: got %d, want %d", i, got, before+i)
		}
	}
}

func TestRate_Client(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, c := range []struct{ peer, forwarded, want string }{
		{"192.0.2.1:5", "", "192.0.2.1"},
		{"192.0.2.1:5", "203.0.113.9", "192.0.2.1"},
		{"10.0.0.1:5", "203.0.113.9", "203.0.113.9"},
		{"10.0.0.1:5", "198.51.100.1, 203.0.113.9, 10.2.2.2", "203.0.113.9"},
		{"10.0.0.1:5", "", "10.0.0.1"},
		{"10.0.0.1:5", "junk", "10.0.0.1"},
		{"10.0.0.1:5", "203.0.113.9, junk, 10.2.2.2", "10.0.0.1"},
		{"10.0.0.1:5", "203.0.113.9:4711", "203.0.113.9"},
		{"10.0.0.1:5", "198.51.100.1:1,203.0.113.9:4711, 10.2.2.2:80", "203.0.113.9"},
		{"10.0.0.1:5", "junk, 203.0.113.9", "203.0.113.9"},
		{"10.0.0.1:5", "[2001:db8:5:6::7]:4711", "2001:db8:5:6::"},
		{"10.0.0.1:5", "[2001:db8:5:6::7]", "2001:db8:5:6::"},
		{"10.0.0.1:5", "2001:db8:5:6::7", "2001:db8:5:6::"},
		{"10.0.0.1:5", "fe80::1%eth0", "fe80::"},
		{"10.0.0.1:5", "[::ffff:203.0.113.9]:1", "203.0.113.9"},
		{"10.0.0.1:5", "203.0.113.9:x", "10.0.0.1"},
		{"10.0.0.1:5", "[203.0.113.9", "10.0.0.1"},
		{"10.0.0.1:5", "10.3.3.3, 10.2.2.2", "10.3.3.3"},
		{"[2001:db8:1:2:3::4]:5", "", "2001:db8:1:2::"},
		{"[::ffff:192.0.2.1]:5", "", "192.0.2.1"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = c.peer
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := newRate(1, proxies).client(r).String(); got != c.want {
			t.Errorf("%s with %q: got %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
}
