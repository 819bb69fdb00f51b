package core

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/app/account"
	"kith/app/interaction"
)

// Config is what every route needs. Tokens and Accounts must be set; everything else
// has a default.
type Config struct {
	Tokens   Tokens
	Accounts *account.Service
	// Interactions notes which accounts were seen; nil: nothing is noted.
	Interactions *interaction.Recorder

	// BaseURL is the public address that links begin with. Empty: the Host of each
	// request, and https where it came over TLS. Set it behind a proxy that ends TLS.
	BaseURL string
	// Domain is the name after the @ of an account; empty: the host of BaseURL,
	// or localhost.
	Domain string

	// Log gets a line for each request; nil: nothing is logged.
	Log *slog.Logger
	// Registry gets the metrics; nil: a new one.
	Registry *prometheus.Registry

	// RateLimit is how many requests an account or address may make in five
	// minutes; 0: any number.
	RateLimit int
	// TrustedProxies are the networks of proxies whose X-Forwarded-For names the
	// client; empty: the client is the peer.
	TrustedProxies []netip.Prefix
	// RequestTimeout is how long the work of one request may take; 0: 10 s.
	RequestTimeout time.Duration
	// MaxBody is the longest request body in bytes; 0: 256 KiB.
	MaxBody int64
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

func (cfg Config) checked() (Config, error) {
	if cfg.Accounts == nil || cfg.Tokens == nil {
		return cfg, errors.New("api: Accounts and Tokens must be set")
	}
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	host, err := hostOf(cfg.BaseURL)
	if err != nil {
		return cfg, err
	}
	cfg.Domain = cmp.Or(cfg.Domain, host)
	cfg.RequestTimeout = cmp.Or(cfg.RequestTimeout, 10*time.Second)
	cfg.MaxBody = cmp.Or(cfg.MaxBody, 256<<10)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	cfg.Registry = cmp.Or(cfg.Registry, prometheus.NewRegistry())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return cfg, nil
}

// localName is the domain where none is configured.
const localName = "localhost"

// hostOf returns the host of a base address. Clients split Link headers at commas and
// angle brackets, so an address must have none.
func hostOf(base string) (string, error) {
	if base == "" {
		return localName, nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.RawQuery != "" || u.Fragment != "" || u.User != nil || strings.ContainsAny(base, ",<> \"") {
		return "", fmt.Errorf("api: base address %q must look like https://example.org", base)
	}
	return u.Hostname(), nil
}
