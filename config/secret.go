package config

import (
	"encoding"
	"fmt"
	"io"
	"strings"
)

// hidden is printed in place of a secret.
const hidden = "…hidden…"

// Secret is a text that no print, log or encoding shows. The text is behind a
// pointer, so that printing a struct around an unexported Secret, where fmt
// may not call methods, shows an address.
type Secret struct {
	text  *string
	shown string // printed in place of the text
}

// NewSecret hides text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text, hidden}
}

// Reveal returns the text itself, empty where there is none.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Format prints a mark instead of the text, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.shown) }

// String returns the mark.
func (s Secret) String() string { return s.shown }

// MarshalText returns the mark.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.shown), nil }

// UnmarshalText takes the text. It never fails: an error would show it.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}

// DSN is the address of a database, printed without its password.
type DSN struct{ Secret }

// NewDSN hides the password of dsn. It ends at the last @ before the last slash, as
// the driver reads it; the parameters are not shown either.
func NewDSN(dsn string) DSN {
	d := DSN{NewSecret(dsn)}
	slash := strings.LastIndexByte(dsn, '/')
	if slash < 0 {
		return d
	}
	head := dsn[:slash]
	database, _, _ := strings.Cut(dsn[slash:], "?")
	at := max(strings.LastIndexByte(head, '@'), 0)
	user, _, has := strings.Cut(head[:at], ":")
	if has {
		user += ":" + hidden
	}
	d.shown = user + head[at:] + database
	return d
}

// UnmarshalText takes the DSN. It never fails: an error would show it.
func (d *DSN) UnmarshalText(text []byte) error {
	*d = NewDSN(string(text))
	return nil
}

var (
	_ fmt.Formatter            = Secret{}
	_ encoding.TextUnmarshaler = (*Secret)(nil)
	_ encoding.TextUnmarshaler = (*DSN)(nil)
)
