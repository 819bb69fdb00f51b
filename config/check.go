package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// minSecret is the shortest token secret in bytes: as long as what HS256 makes
// of it (RFC 7518, 3.2).
const minSecret = 32

// Check refuses settings that a server cannot be started with, by name.
func (s Settings) Check() error {
	return cmp.Or(s.MySQL.Required(), s.Token.Required(), Check(s))
}

// Required refuses a missing database.
func (m MySQL) Required() error {
	if m.DSN.Reveal() == "" {
		return refuse("KITH_MYSQL_DSN", "is not set: give it user:password@tcp(host:3306)/database, or start `kith dev`, which has a database of its own")
	}
	return nil
}

// Required refuses a server that could accept no token.
func (t Token) Required() error {
	if t.Secret.Reveal() == "" && t.PublicKey == "" && t.JWKS == "" {
		return refuse("KITH_TOKEN_SECRET", "is not set, nor is KITH_TOKEN_PUBLIC_KEY or KITH_TOKEN_JWKS: set one of them (`openssl rand -hex 32` makes a secret)")
	}
	return nil
}

// Check refuses values that make no sense, by name, in sections of Settings or in all
// of it. A value that is missing is not among them.
func Check(sections ...any) error {
	for _, section := range sections {
		for field, value := range reflect.ValueOf(section).Fields() {
			err := withinLimits(field.Tag, value)
			if _, nested := field.Tag.Lookup("embed"); nested {
				err = Check(value.Interface())
			}
			if err != nil {
				return err
			}
		}
		if own, ok := section.(interface{ check() error }); ok {
			if err := own.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// withinLimits refuses a value outside the limits of its tag.
func withinLimits(tag reflect.StructTag, value reflect.Value) error {
	least, most, ok := strings.Cut(tag.Get("limits"), " ")
	if !ok || tag.Get("or") == "0" && value.IsZero() {
		return nil
	}
	from, to := limit(value.Type(), least), limit(value.Type(), most)
	if value.Int() < from.Int() || value.Int() > to.Int() {
		return refuse(tag.Get("env"), fmt.Sprintf("%v is not within %v to %v", value, from, to))
	}
	return nil
}

// limit reads a limit of a number, a time or a Size. One that cannot be read is 0: a
// test reads all of them.
func limit(of reflect.Type, text string) reflect.Value {
	v := reflect.New(of)
	switch to := v.Interface().(type) {
	case *time.Duration:
		*to, _ = time.ParseDuration(text)
	case *Size:
		_ = to.UnmarshalText([]byte(text))
	default:
		fmt.Sscan(text, to)
	}
	return v.Elem()
}

func (m MySQL) check() error {
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
	return nil
}

func (c Cache) check() error {
	for i, server := range c.Memcached {
		if !strings.HasPrefix(server, "/") && !isAddress(server, 1) {
			return refuse("KITH_MEMCACHED", fmt.Sprintf("%q is neither host:port nor the path of a socket", server))
		}
		if slices.Contains(c.Memcached[:i], server) {
			return refuse("KITH_MEMCACHED", fmt.Sprintf("%q is named twice", server))
		}
	}
	return nil
}

func (h HTTP) check() error {
	if !isAddress(h.Listen, 0) {
		return refuse("KITH_LISTEN", fmt.Sprintf("%q is not host:port", h.Listen))
	}
	if u, err := url.Parse(h.BaseURL); h.BaseURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery+u.Fragment != "" || u.User != nil || strings.ContainsAny(h.BaseURL, ",<> \"")) {
		return refuse("KITH_BASE_URL", fmt.Sprintf("%q is not an address such as https://social.example", h.BaseURL))
	}
	if n := utf8.RuneCountInString(h.Title); n < 1 || n > 100 {
		return refuse("KITH_TITLE", fmt.Sprintf("has %d characters, not 1 to 100", n))
	}
	return nil
}

func (a Admin) check() error {
	if a.Listen != "" && !isAddress(a.Listen, 0) {
		return refuse("KITH_ADMIN_LISTEN", fmt.Sprintf("%q is not host:port", a.Listen))
	}
	return nil
}

func (t Token) check() error {
	if n := len(t.Secret.Reveal()); n > 0 && n < minSecret {
		return refuse("KITH_TOKEN_SECRET", fmt.Sprintf("has %d bytes, not %d or more", n, minSecret))
	}
	if scheme, _, ok := strings.Cut(t.JWKS, "://"); ok && scheme != "https" && !(scheme == "http" && onThisMachine(t.JWKS)) {
		return refuse("KITH_TOKEN_JWKS", fmt.Sprintf("%q is neither a file nor an https address", t.JWKS))
	}
	return nil
}

// isAddress reports whether text is host:port, with a port from least on.
func isAddress(text string, least uint64) bool {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n >= least
}

// onThisMachine reports whether an address is one of loopback, where nobody can
// listen in.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
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
