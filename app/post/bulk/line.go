package bulk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"kith/app"
	"kith/app/intake"
	"kith/app/post/content"
	"kith/repo"
	"kith/repo/event"
	"kith/repo/list"
	"kith/repo/post"
)

// Line is what stands in a line.
type Line struct {
	// Account is the id of its author, as a string or a number, or @name.
	Account    accountRef `json:"account"`
	Text       string     `json:"text"`
	CreatedAt  string     `json:"created_at"` // RFC 3339
	Key        string     `json:"key"`        // any text that no other line has
	Visibility string     `json:"visibility"` // as in the API; empty: public
	Language   string     `json:"language"`
	Spoiler    string     `json:"spoiler_text"`
	Sensitive  bool       `json:"sensitive"`
	Media      []Media    `json:"media"`
	ReplyTo    string     `json:"reply_to"`  // the key of another line
	RepostOf   string     `json:"repost_of"` // the key of another line; then there is no text
}

// Media is a picture, as in the API.
type Media struct {
	URL         string `json:"url"`
	Preview     string `json:"preview_url"`
	Description string `json:"description"`
}

// accountRef is an id, or a name after an @.
type accountRef string

// UnmarshalJSON takes a number or a string.
func (a *accountRef) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '"' {
		*a = accountRef(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(a))
}

const (
	// maxLine is the longest line: all that a post can have, escaped.
	maxLine = 256 << 10
	maxKey  = 512
)

// bad is why a line is rejected, in a few words.
type bad string

func (b bad) Error() string { return string(b) }

// decode reads a line as JSON. Names that it does not know are an error: one that is
// misspelt would be lost.
func (l *Line) decode(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(l); err != nil {
		return bad("no object of a post: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return bad("more than one object")
	}
	return nil
}

// check says what a line is. What is wrong with it is a bad.
func (im *importer) check(ctx context.Context, h *header, l *Line) (c post.Content, err error) {
	if err := im.time(h, l.CreatedAt); err != nil {
		return c, err
	}
	if h.Account, err = im.author(ctx, string(l.Account)); err != nil {
		return c, err
	}
	if c, err = l.content(); err != nil {
		return c, err
	}
	v, ok := post.ParseVisibility(l.Visibility)
	if !ok && l.Visibility != "" {
		return c, bad("visibility must be public, unlisted, private or direct")
	}
	h.Visibility = uint8(v)
	if err := h.refer(l); err != nil || h.Kind == isRepost {
		return c, err
	}
	if err := content.Check(&c); err != nil {
		return c, refused(err)
	}
	c.Mentions, err = im.mentions(ctx, c.Text)
	return c, err
}

// refused turns a refusal of the product into the reason of a reject.
func refused(err error) error {
	var refusal *app.Error
	if errors.As(err, &refusal) && refusal.Kind != app.Internal && refusal.Kind != app.Busy {
		return bad(strings.TrimPrefix(refusal.Sentence, "Validation failed: "))
	}
	return err
}

// time reads when a post was made.
func (im *importer) time(h *header, text string) error {
	at, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return bad("created_at must be a time such as 2026-01-31T12:00:00Z")
	case at.Before(event.Epoch):
		return bad("created_at is before 2000")
	case at.After(im.now):
		return bad("created_at is in the future")
	}
	h.Created = max(at.Sub(event.Epoch).Milliseconds(), 1)
	h.At = h.Created
	return nil
}

// content trims what was written, as the API does.
func (l *Line) content() (c post.Content, err error) {
	c = post.Content{Text: strings.TrimSpace(l.Text), Spoiler: strings.TrimSpace(l.Spoiler), Language: strings.TrimSpace(l.Language)}
	if c.Text == "" {
		c.Text, c.Spoiler = c.Spoiler, ""
	}
	c.Sensitive = l.Sensitive || c.Spoiler != ""
	for _, m := range l.Media {
		c.Media = append(c.Media, post.Media{URL: m.URL, Preview: m.Preview, Description: m.Description})
	}
	if l.RepostOf != "" && (c.Text != "" || len(c.Media) > 0) {
		return c, bad("a repost has no text and no media of its own")
	}
	return c, nil
}

// refer notes the key of a line, and that of the one that it answers or reposts.
func (h *header) refer(l *Line) error {
	switch {
	case max(len(l.Key), len(l.ReplyTo), len(l.RepostOf)) > maxKey:
		return bad(fmt.Sprintf("a key has at most %d bytes", maxKey))
	case l.ReplyTo != "" && l.RepostOf != "":
		return bad("reply_to and repost_of are both there")
	case l.Key != "" && (l.Key == l.ReplyTo || l.Key == l.RepostOf):
		return bad("it names itself")
	case l.ReplyTo != "":
		h.Kind, h.Ref = isReply, hashOf("key", l.ReplyTo)
	case l.RepostOf != "":
		h.Kind, h.Ref = isRepost, hashOf("key", l.RepostOf)
	}
	if l.Key != "" {
		h.Key = hashOf("key", l.Key)
		return nil
	}
	rest := *l
	rest.Account, rest.CreatedAt = accountRef(strconv.FormatUint(h.Account, 10)), strconv.FormatInt(h.Created, 10) // however they are written
	whole, err := json.Marshal(rest)
	h.Key = hashOf("line", string(whole))
	return err
}

// hash is one number for a key, not 0.
type hash struct {
	High uint64
	Low  uint32
}

func hashOf(kind, text string) hash {
	sum := sha256.Sum256([]byte(kind + "\x00" + text))
	return hash{max(binary.BigEndian.Uint64(sum[:]), 1), binary.BigEndian.Uint32(sum[8:])}
}

// maxKnown is how many accounts are remembered.
const maxKnown = 100_000

// author returns the account that a line names.
func (im *importer) author(ctx context.Context, who string) (uint64, error) {
	if name, ok := strings.CutPrefix(who, "@"); ok {
		id, err := im.byName(ctx, name)
		if err == nil && id == 0 {
			err = bad("there is no such account")
		}
		return id, err
	}
	id, err := parseAccount(who)
	if err == nil && !im.ids[id] {
		err = bad("there is no such account")
	}
	return id, err
}

func parseAccount(who string) (uint64, error) {
	id, err := strconv.ParseUint(who, 10, 64)
	if err != nil || id == 0 || id > list.MaxID {
		return 0, bad("account must be an id or @name")
	}
	return id, nil
}

// know finds out which accounts there are of those that lines name by id.
func (im *importer) know(ctx context.Context, some []rawLine) error {
	if len(im.ids) >= maxKnown {
		clear(im.ids)
	}
	var ask []uint64
	for i := range some {
		id, err := parseAccount(string(some[i].line.Account))
		if _, known := im.ids[id]; err == nil && !known {
			ask = append(ask, id)
			im.ids[id] = true
		}
	}
	if len(ask) == 0 {
		return nil
	}
	missing, err := intake.Retry(ctx, func(ctx context.Context) (map[uint64]bool, error) { return im.cfg.Accounts.Missing(ctx, ask) })
	for id := range missing {
		im.ids[id] = false
	}
	return err
}

// byName returns the account of a name, 0 for none.
func (im *importer) byName(ctx context.Context, name string) (uint64, error) {
	name = strings.ToLower(name)
	if id, ok := im.names[name]; ok {
		return id, nil
	}
	found, err := intake.Retry(ctx, func(ctx context.Context) (uint64, error) {
		a, err := im.cfg.Accounts.ByName(ctx, name)
		if errors.Is(err, repo.ErrNotFound) {
			return 0, nil
		}
		return a.ID, err
	})
	if err != nil {
		return 0, err
	}
	if len(im.names) >= maxKnown {
		clear(im.names)
	}
	im.names[name] = found
	return found, nil
}

// maxMentions is how many accounts a post mentions.
const maxMentions = 50

func (im *importer) mentions(ctx context.Context, text string) (ids []uint64, err error) {
	names := content.Mentions(text, "")
	if len(names) > maxMentions {
		return nil, bad(fmt.Sprintf("a post mentions at most %d accounts", maxMentions))
	}
	seen := map[uint64]bool{0: true}
	for _, name := range names {
		id, err := im.byName(ctx, name)
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, nil
}
