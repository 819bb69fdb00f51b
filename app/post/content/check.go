package content

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"kith/app"
	"kith/repo/list"
)

// The bounds of what stands in a post.
const (
	MaxLength     = 500      // characters of the text and its content warning, see Length
	MaxBytes      = 16 << 10 // of the same
	AddressLength = 23       // characters that an address counts as

	MaxMedia       = 4
	MaxMediaURL    = 2048 // bytes
	MaxDescription = 1500 // characters of the description of a picture
)

// Length returns how many characters a text and its content warning have.
func Length(text, spoiler string) int {
	n, at := uniseg.GraphemeClusterCount(spoiler), 0
	for _, p := range Find(text) {
		if p.Kind == Tag {
			continue
		}
		n += uniseg.GraphemeClusterCount(text[at:p.Start])
		at = p.End
		if p.Kind == Address {
			n += AddressLength
		} else {
			n += 1 + len(p.Name) // of @name
		}
	}
	return n + uniseg.GraphemeClusterCount(text[at:])
}

// Check refuses what may not stand in a post. It does not look at the mentions.
func Check(c *Content) error {
	switch {
	case !utf8.ValidString(c.Text) || !utf8.ValidString(c.Spoiler):
		return refuse("Text is not valid UTF-8")
	case strings.TrimFunc(c.Text, unseen) == "" && len(c.Media) == 0:
		return refuse("Text can't be blank")
	case len(c.Text)+len(c.Spoiler) > MaxBytes:
		return refuse("Text is too long (maximum is %d bytes)", MaxBytes)
	case Length(c.Text, c.Spoiler) > MaxLength:
		return refuse("Text character limit of %d exceeded", MaxLength)
	case c.Language != "" && !list.ValidLanguage(c.Language):
		return refuse("Language must be a code such as en or pt-BR")
	case len(c.Media) > MaxMedia:
		return refuse("Cannot attach more than %d files", MaxMedia)
	}
	for _, m := range c.Media {
		if err := checkMedia(m); err != nil {
			return err
		}
	}
	return nil
}

// unseen tells whether a text of such characters shows nothing.
func unseen(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }

func checkMedia(m Media) error {
	switch {
	case !isMediaURL(m.URL):
		return refuse(badMedia, "url", MaxMediaURL)
	case m.Preview != "" && !isMediaURL(m.Preview):
		return refuse(badMedia, "preview_url", MaxMediaURL)
	case !utf8.ValidString(m.Description) || utf8.RuneCountInString(m.Description) > MaxDescription:
		return refuse("Media description is too long (maximum is %d characters)", MaxDescription)
	}
	return nil
}

const badMedia = "Media %s must be an http or https address of at most %d bytes, in which spaces and any of " + notInURL + " are written as %%XX"

// notInURL are the signs that an address has only as %XX. A page that takes an address as it
// is would take them for its own.
const notInURL = "\"<>\\^`{|}"

func isMediaURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && len(s) <= MaxMediaURL && utf8.ValidString(s) && strings.IndexFunc(s, unseen) < 0 && !strings.ContainsAny(s, notInURL) &&
		(u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

func refuse(format string, args ...any) error {
	return app.Refuse(app.Unprocessable, "Validation failed: "+fmt.Sprintf(format, args...))
}
