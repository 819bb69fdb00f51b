package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// minSecret is the shortest token secret in bytes: as long as what HS256 makes
// of it (RFC 7518, 3.2).
const minSecret = 32

// Check refuses what a server cannot be started with, by name. It is nil
// for settings that `kith serve` can use.
func (s Settings) Check() error {
	return cmp.Or(s.MySQL.Required(), s.MySQL.Check(), s.Cache.Check(), s.HTTP.Check(), s.Admin.Check(),
		s.Token.Required(), s.Token.Check(), s.Relation.Check(), s.Affinity.Check(), s.Cron.Check(), s.Log.Check())
}

// Required refuses a missing database.
func (m MySQL) Required() error {
	if m.DSN.Reveal() == "" {
		return refuse("KITH_MYSQL_DSN", "is not set: give it user:password@tcp(host:3306)/database, or start `kith dev`, which has a database of its own")
	}
	return nil
}

// Check refuses values that make no sense; a missing database is no such.
func (m MySQL) Check() error {
	if dsn := m.DSN.Reveal(); dsn != "" && !strings.Contains(dsn, "/") {
		return refuse("KITH_MYSQL_DSN", "does not look like user:password@tcp(host:3306)/database")
	}
	switch {
	case m.TLSCert != "" && m.TLSKey == "":
		return refuse("KITH_MYSQL_TLS_KEY", "is not set, and KITH_MYSQL_TLS_CERT is: they go together")
	case m.TLSCert == "" && m.TLSKey != "":
		return refuse("KITH_MYSQL_TLS_CERT", "is not set, and KITH_MYSQL_TLS_KEY is: they go together")
	case m.TLSName == "*" && m.TLSCA == "":
		return refuse("KITH_MYSQL_TLS_NAME", "is *, any name, which needs KITH_MYSQL_TLS_CA: public CAs sign for everybody")
	}
	return within("KITH_MYSQL_POOL", m.Pool, 4, 1000)
}

// Check refuses values that make no sense.
func (c Cache) Check() error {
	for i, server := range c.Memcached {
		if _, port, err := net.SplitHostPort(server); !strings.HasPrefix(server, "/") && (err != nil || !isPort(port, 1)) {
			return refuse("KITH_MEMCACHED", fmt.Sprintf("%q is neither host:port nor the path of a socket", server))
		}
		if slices.Contains(c.Memcached[:i], server) {
			return refuse("KITH_MEMCACHED", fmt.Sprintf("%q is named twice", server))
		}
	}
	return cmp.Or(
		within("KITH_CACHE_TIMEOUT", c.Timeout, time.Millisecond, 10*time.Second),
		within("KITH_CACHE_EXPIRY", c.Expiry, time.Second, 720*time.Hour),
		within("KITH_LOCAL_CACHE_SIZE", c.LocalSize, 1<<20, 64<<30),
		within("KITH_LOCAL_CACHE_EXPIRY", c.LocalExpiry, time.Second, 24*time.Hour),
	)
}

// Check refuses values that make no sense.
func (h HTTP) Check() error {
	if _, port, err := net.SplitHostPort(h.Listen); err != nil || !isPort(port, 0) {
		return refuse("KITH_LISTEN", fmt.Sprintf("%q is not host:port", h.Listen))
	}
	if u, err := url.Parse(h.BaseURL); h.BaseURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery+u.Fragment != "" || u.User != nil || strings.ContainsAny(h.BaseURL, ",<> \"")) {
		return refuse("KITH_BASE_URL", fmt.Sprintf("%q is not an address such as https://social.example", h.BaseURL))
	}
	if n := utf8.RuneCountInString(h.Title); n < 1 || n > 100 {
		return refuse("KITH_TITLE", fmt.Sprintf("has %d characters, not 1 to 100", n))
	}
	return cmp.Or(
		within("KITH_REQUEST_TIMEOUT", h.RequestTimeout, 100*time.Millisecond, 50*time.Second),
		within("KITH_MAX_BODY", h.MaxBody, 1<<10, 16<<20),
		within("KITH_RATE_LIMIT", h.RateLimit, 1, 1e9),
		within("KITH_MAX_CONNECTIONS", h.MaxConnections, 10, 1_000_000),
		within("KITH_DRAIN", h.Drain, 0, 10*time.Minute),
		within("KITH_SHUTDOWN_GRACE", h.ShutdownGrace, time.Second, 10*time.Minute),
	)
}

// Check refuses an address that is none.
func (a Admin) Check() error {
	if _, port, err := net.SplitHostPort(a.Listen); a.Listen != "" && (err != nil || !isPort(port, 0)) {
		return refuse("KITH_ADMIN_LISTEN", fmt.Sprintf("%q is not host:port", a.Listen))
	}
	return nil
}

// Required refuses a server that could believe no token.
func (t Token) Required() error {
	if t.Secret.Reveal() == "" && t.PublicKey == "" && t.JWKS == "" {
		return refuse("KITH_TOKEN_SECRET", "is not set, nor is KITH_TOKEN_PUBLIC_KEY or KITH_TOKEN_JWKS: set one of them (`openssl rand -hex 32` makes a secret)")
	}
	return nil
}

// Check refuses values that make no sense; missing ones are no such.
func (t Token) Check() error {
	if n := len(t.Secret.Reveal()); n > 0 && n < minSecret {
		return refuse("KITH_TOKEN_SECRET", fmt.Sprintf("has %d bytes, not %d or more", n, minSecret))
	}
	if scheme, rest, ok := strings.Cut(t.JWKS, "://"); ok && scheme != "https" && !(scheme == "http" && onThisMachine(rest)) {
		return refuse("KITH_TOKEN_JWKS", fmt.Sprintf("%q is neither a file nor an https address", t.JWKS))
	}
	return nil
}

// Check refuses values that make no sense.
func (r Relation) Check() error {
	return cmp.Or(
		within("KITH_LIST_CAP", r.ListCap, 10, 100_000),
		within("KITH_FOLLOWING_LIMIT", r.FollowingLimit, 0, 1e9),
	)
}

// Check refuses values that make no sense; Weights were checked as they were read.
func (a Affinity) Check() error {
	return cmp.Or(
		within("KITH_AFFINITY_HALF_LIFE", a.HalfLife, time.Hour, 87600*time.Hour),
		within("KITH_AFFINITY_KEPT", a.Kept, 10, 5000),
		within("KITH_INTERACTION_BUFFER", a.Buffer, 100, 10_000_000),
		within("KITH_INTERACTION_FLUSH", a.Flush, 100*time.Millisecond, 10*time.Minute),
		within("KITH_SUGGEST_SEEN", a.SeenWithin, time.Hour, 87600*time.Hour),
		within("KITH_SUGGEST_REFRESH", a.Refresh, time.Minute, 87600*time.Hour),
	)
}

// Check refuses values that make no sense.
func (c Cron) Check() error {
	if c.RequestExpiry != 0 {
		if err := within("KITH_REQUEST_EXPIRY", c.RequestExpiry, time.Hour, 87600*time.Hour); err != nil {
			return err
		}
	}
	return cmp.Or(
		within("KITH_CRON_RATE", c.Rate, 0, 10_000_000),
		within("KITH_JOB_RUN_KEEP", c.RunKeep, time.Hour, 87600*time.Hour),
	)
}

// Check refuses values that make no sense.
func (l Log) Check() error {
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, l.Level) {
		return refuse("KITH_LOG_LEVEL", fmt.Sprintf("%q is not debug, info, warn or error", l.Level))
	}
	if l.Format != "text" && l.Format != "json" {
		return refuse("KITH_LOG_FORMAT", fmt.Sprintf("%q is not text or json", l.Format))
	}
	return nil
}

// within refuses a value outside its limits.
func within[T cmp.Ordered](name string, v, least, most T) error {
	if v < least || v > most {
		return refuse(name, fmt.Sprintf("%v is not within %v to %v", v, least, most))
	}
	return nil
}

func isPort(text string, least uint64) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n >= least
}

// Error says that a setting cannot be used.
type Error struct {
	Name string // of the setting, as in the environment
	What string // is wrong with it
}

// Error returns the name, the flag and what is wrong.
func (e *Error) Error() string {
	if flag, ok := flagOf(e.Name); ok {
		return fmt.Sprintf("%s (--%s) %s", e.Name, flag, e.What)
	}
	return e.Name + " " + e.What
}

func refuse(name, what string) error { return &Error{name, what} }

// onThisMachine reports whether what follows http:// is a loopback address, where
// nobody can listen in.
func onThisMachine(rest string) bool {
	u, err := url.Parse("http://" + rest)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
