package api

import (
	"errors"
	"strconv"
	"strings"

	"kith/app/relation"
	"kith/repo/list"
)

// How long pages are.
const (
	defaultLimit = 40
	maxLimit     = 80
)

// pageRange reads limit, max_id, since_id and min_id. Of the last two min_id
// wins, as in Mastodon: the page then begins right after it.
func (v values) pageRange() (relation.Range, error) {
	var r relation.Range
	var err error
	if r.Limit, err = v.limit(); err != nil {
		return r, err
	}
	if r.Before, err = v.cursor("max_id"); err != nil {
		return r, err
	}
	if r.After, err = v.cursor("min_id"); err != nil {
		return r, err
	}
	if r.Oldest = r.After.ID != 0; r.Oldest {
		return r, nil
	}
	r.After, err = v.cursor("since_id")
	return r, err
}

// limit reads how many are wanted: a minus is passed over, too many are cut.
func (v values) limit() (int, error) {
	text := strings.TrimPrefix(v.get("limit"), "-")
	if text == "" {
		return defaultLimit, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if errors.Is(err, strconv.ErrRange) {
		return maxLimit, nil
	}
	if err != nil {
		return 0, invalid("limit must be a number")
	}
	return int(min(n, maxLimit)), nil
}

func (v values) cursor(name string) (list.Cursor, error) {
	text := v.get(name)
	if text == "" {
		return list.Cursor{}, nil
	}
	at, err := list.ParseCursor(text)
	if err != nil {
		return at, invalid("%s must come from the Link header of another page", name)
	}
	return at, nil
}

// link sets the Link header of a page: next where the page is full, prev where
// it covers anything. Entries that were left out for the viewer count, so that
// nobody is skipped and nobody comes twice.
func (c *call) link(limit int, p relation.Page) {
	if p.First.ID == 0 {
		return
	}
	base := c.base() + c.Request().URL.EscapedPath() + "?limit=" + strconv.Itoa(limit)
	links := "<" + base + "&since_id=" + p.First.String() + `>; rel="prev"`
	if p.Full {
		links = "<" + base + "&max_id=" + p.Last.String() + `>; rel="next", ` + links
	}
	c.Response().Header().Set("Link", links)
}
