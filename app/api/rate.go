package api

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	rateWindow = 5 * time.Minute
	// maxCounted bounds the memory of a window. Whoever comes when so many
	// others came before is not counted.
	maxCounted = 1 << 20
	// resetFormat is ISO 8601 with microseconds, as clients know it.
	resetFormat = "2006-01-02T15:04:05.000000Z"
)

// rate counts the requests of the present window.
type rate struct {
	limit   int
	text    string // the limit, as a header
	proxies []netip.Prefix

	mu        sync.Mutex
	window    int64  // number of the window since 1970
	reset     string // its end, as a header
	accounts  map[uint64]int
	addresses map[netip.Addr]int
}

func newRate(limit int, proxies []netip.Prefix) *rate {
	return &rate{limit: limit, text: strconv.Itoa(limit), proxies: proxies, window: -1}
}

// count counts a call, tells the caller where it stands and refuses what is
// over the limit.
func (r *rate) count(c *call, now time.Time) error {
	if r.limit <= 0 {
		return nil
	}
	used, reset := r.add(c, now)
	h := c.Response().Header()
	h["X-Ratelimit-Limit"] = []string{r.text}
	h["X-Ratelimit-Remaining"] = []string{strconv.Itoa(max(0, r.limit-used))}
	h["X-Ratelimit-Reset"] = []string{reset}
	if used > r.limit {
		return errTooMany
	}
	return nil
}

func (r *rate) add(c *call, now time.Time) (used int, reset string) {
	account := c.account()
	var address netip.Addr
	if account == 0 {
		address = r.client(c.Request())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn(now)
	if account != 0 {
		return bump(r.accounts, account), r.reset
	}
	return bump(r.addresses, address), r.reset
}

// turn begins a new window when the old one has ended.
func (r *rate) turn(now time.Time) {
	const seconds = int64(rateWindow / time.Second)
	window := now.Unix() / seconds
	if window == r.window {
		return
	}
	r.window = window
	r.reset = time.Unix((window+1)*seconds, 0).UTC().Format(resetFormat)
	r.accounts, r.addresses = map[uint64]int{}, map[netip.Addr]int{}
}

func bump[K comparable](used map[K]int, key K) int {
	n, ok := used[key]
	if !ok && len(used) >= maxCounted {
		return 1
	}
	used[key] = n + 1
	return n + 1
}

// client returns the address a request is counted under: the peer's, or, where
// the peer is a trusted proxy, the last one in X-Forwarded-For that is not.
// An IPv6 client has a network of its own and is counted by it.
func (r *rate) client(req *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(req.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	address := peer.Addr().Unmap()
	if r.trusts(address) {
		address = r.forwarded(req, address)
	}
	if address.Is6() {
		network, err := address.WithZone("").Prefix(64)
		if err == nil {
			return network.Addr()
		}
	}
	return address
}

func (r *rate) forwarded(req *http.Request, peer netip.Addr) netip.Addr {
	hops := strings.Split(strings.Join(req.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		if peer = hop.Unmap(); !r.trusts(peer) {
			break
		}
	}
	return peer
}

func (r *rate) trusts(a netip.Addr) bool {
	for _, p := range r.proxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
