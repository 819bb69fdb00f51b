// Package post keeps posts: a versioned row each, in the bucket of its author.
package post

import (
	"slices"
	"time"

	"kith/repo/event"
	"kith/repo/row"
)

// Visibility says who may see a post.
type Visibility uint8

// The visibilities, in the order of how many may see a post.
const (
	Public    Visibility = iota
	Unlisted             // as public, and left out of public timelines
	Followers            // those who follow the author, and those it mentions
	Direct               // those it mentions
)

// Narrow reports whether a post is not for anybody.
func (v Visibility) Narrow() bool { return v > Unlisted }

// State says whether a post is shown.
type State uint8

// The states.
const (
	Live    State = iota
	Hidden        // by an administrator
	Deleted       // by its author; its text is gone
)

// Post is a post or a repost. Ver 0 means that there is none. It may be shared with the
// cache: nobody changes its slices.
type Post struct {
	row.Meta
	Content

	Author   uint64
	Origin   uint64 // the post that it reposts; then it has no content
	ReplyTo  uint64 // the post that it answers
	ReplyWho uint64 // the author of that post

	Visibility Visibility
	State      State

	Counts

	// Imported says which line of an imported file the post is, 0: it was not imported. It
	// stays when the post is deleted, so that no import brings it back.
	Imported uint64

	attached []change // what a packed draft brings, to be stored with it
}

// Content is what the author wrote.
type Content struct {
	Text      string
	Spoiler   string // the content warning
	Sensitive bool
	Language  string   // a code such as "en"; empty: unknown
	Mentions  []uint64 // accounts
	Media     []Media
}

// Media is a picture, by its address.
type Media struct {
	URL, Preview, Description string
}

// Counts are how often others answered, reposted and favoured a post. Narrow answers are not
// counted: the number would tell of them.
type Counts struct{ Replies, Reposts, Favourites uint32 }

// Event returns the post as an event.
func (p *Post) Event() event.Event {
	return event.Event{ID: p.ID, Author: p.Author, Origin: p.Origin}
}

// Time returns when the post was made.
func (p *Post) Time() time.Time { return event.Time(p.ID) }

// SameAs reports whether two posts say the same, whatever their ids and counts.
func (p *Post) SameAs(o *Post) bool {
	return p.Author == o.Author && p.Origin == o.Origin && p.ReplyTo == o.ReplyTo && p.Visibility == o.Visibility && p.Text == o.Text && p.Spoiler == o.Spoiler &&
		p.Sensitive == o.Sensitive && p.Language == o.Language && slices.Equal(p.Mentions, o.Mentions) && slices.Equal(p.Media, o.Media)
}
