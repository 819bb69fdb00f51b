package core

import (
	"hash/maphash"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	rateWindow = 5 * time.Minute
	// maxCounted is how many accounts, and how many addresses, have a counter of their
	// own: some 80 MB each when all are used.
	maxCounted = 1 << 20
	// sharedCounters is how many counters the others share.
	sharedCounters = 4096
	// resetFormat is ISO 8601 with microseconds, as clients know it.
	resetFormat = "2006-01-02T15:04:05.000000Z"
)

// rate counts the requests of the current window.
type rate struct {
	limit   int
	text    string // the limit, as a header
	proxies []netip.Prefix

	mu        sync.Mutex
	window    int64  // number of the window since 1970
	reset     string // its end, as a header
	accounts  counter[uint64]
	addresses counter[netip.Addr]
}

func newRate(limit int, proxies []netip.Prefix) *rate {
	return &rate{limit: limit, text: strconv.Itoa(limit), proxies: proxies, window: -1}
}

const rateSeconds = int64(rateWindow / time.Second)

// count counts a call, sets the headers of the rate limit and refuses a call over it.
func (r *rate) count(c *Call, now time.Time) error {
	if r.limit <= 0 {
		return nil
	}
	var address netip.Addr
	if c.Account == 0 {
		address = r.client(c.Request)
	}
	r.mu.Lock()
	if window := now.Unix() / rateSeconds; window != r.window {
		r.window = window
		r.reset = time.Unix((window+1)*rateSeconds, 0).UTC().Format(resetFormat)
		r.accounts, r.addresses = newCounter[uint64](maxCounted), newCounter[netip.Addr](maxCounted)
	}
	var used int
	if c.Account != 0 {
		used = r.accounts.add(c.Account)
	} else {
		used = r.addresses.add(address)
	}
	reset := r.reset
	r.mu.Unlock()
	h := c.Response.Header()
	h["X-Ratelimit-Limit"] = []string{r.text}
	h["X-Ratelimit-Remaining"] = []string{strconv.Itoa(max(0, r.limit-used))}
	h["X-Ratelimit-Reset"] = []string{reset}
	if used > r.limit {
		h["Retry-After"] = []string{strconv.FormatInt(rateSeconds-now.Unix()%rateSeconds, 10)}
		return errTooMany
	}
	return nil
}

// counter counts by key in bounded memory: the first keys have a counter each, later
// ones share some by their hash, so that all are counted.
type counter[K comparable] struct {
	most   int
	own    map[K]int
	seed   maphash.Seed
	shared []int
}

func newCounter[K comparable](most int) counter[K] {
	return counter[K]{most: most, own: map[K]int{}, seed: maphash.MakeSeed(), shared: make([]int, sharedCounters)}
}

func (c *counter[K]) add(key K) int {
	n, ok := c.own[key]
	if ok || len(c.own) < c.most {
		c.own[key] = n + 1
		return n + 1
	}
	at := &c.shared[maphash.Comparable(c.seed, key)%sharedCounters]
	*at++
	return *at
}

// client returns the address that a request counts for: the peer, or, where that is a
// trusted proxy, the last one in X-Forwarded-For that is none. A header with anything
// else than addresses is ignored. An IPv6 client counts by its network of 64 bits.
func (r *rate) client(req *http.Request) netip.Addr {
	peer, err := parseHop(req.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	address := peer
	hops := strings.Split(strings.Join(req.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && r.trusts(address); i-- {
		if address, err = parseHop(strings.TrimSpace(hops[i])); err != nil {
			address = peer
			break
		}
	}
	if network, err := address.Prefix(64); err == nil && address.Is6() {
		return network.Addr()
	}
	return address
}

// parseHop reads an address in the forms that proxies use: alone, with a port, or IPv6 in
// brackets with or without a port.
func parseHop(text string) (netip.Addr, error) {
	if whole, ok := strings.CutPrefix(text, "["); ok {
		if whole, ok = strings.CutSuffix(whole, "]"); ok {
			text = whole
		}
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		var with netip.AddrPort
		with, err = netip.ParseAddrPort(text)
		a = with.Addr()
	}
	// With a zone or in the IPv6 form of IPv4 one address would look like two.
	return a.WithZone("").Unmap(), err
}

func (r *rate) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(r.proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}
