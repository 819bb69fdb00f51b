package config

import (
	"encoding"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// hidden stands wherever a secret would be printed.
const hidden = "…hidden…"

// Secret is a text that no print, log or encoding shows. The text lies behind
// a pointer, so that printing a struct around an unexported Secret, where fmt
// may not call methods, shows an address.
type Secret struct{ text *string }

// NewSecret hides text.
func NewSecret(text string) Secret { return Secret{text: &text} }

// Reveal returns the text itself, empty where there is none.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Format prints a mark instead of the text, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// String returns a mark instead of the text.
func (s Secret) String() string {
	if s.Reveal() == "" {
		return ""
	}
	return hidden
}

// LogValue returns the mark.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns the mark.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes the text. It never fails: an error would show it.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}

// DSN is the address of a database, printed without its password.
type DSN struct{ Secret }

// NewDSN hides the password of dsn.
func NewDSN(dsn string) DSN { return DSN{NewSecret(dsn)} }

// Format prints the DSN without its password, whatever the verb.
func (d DSN) Format(f fmt.State, _ rune) { io.WriteString(f, d.String()) }

// String returns the DSN without its password and parameters. The password
// ends at the last @ before the last slash, as the driver reads it.
func (d DSN) String() string {
	text := d.Reveal()
	if text == "" {
		return ""
	}
	slash := strings.LastIndexByte(text, '/')
	if slash < 0 {
		return hidden
	}
	head := text[:slash]
	database, _, _ := strings.Cut(text[slash:], "?")
	at := strings.LastIndexByte(head, '@')
	user, _, has := strings.Cut(head[:max(at, 0)], ":")
	if has {
		user += ":" + hidden
	}
	return user + head[max(at, 0):] + database
}

// LogValue returns the DSN without its password.
func (d DSN) LogValue() slog.Value { return slog.StringValue(d.String()) }

// MarshalText returns the DSN without its password.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

var (
	_ fmt.Formatter            = Secret{}
	_ fmt.Formatter            = DSN{}
	_ encoding.TextUnmarshaler = (*Secret)(nil)
	_ encoding.TextUnmarshaler = (*DSN)(nil)
)
