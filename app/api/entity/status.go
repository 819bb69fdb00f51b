package entity

import (
	"cmp"
	"strconv"

	"kith/app/post/content"
)

// Status is a post or a repost as clients see it. A repost has no text of its own.
type Status struct {
	Post     *content.Post
	Account  Account           // the author, or who reposts
	Reblog   *Status           // what a repost shows
	Mentions []content.Account // of the accounts that the post mentions, those that exist
	Viewer   *Viewer           // nil: nobody is signed in

	// In a home timeline: the accounts that reposted the post, the newest first, and how
	// many there are, which may be more.
	RepostedBy      []Account
	RepostedByCount int

	Promoted bool
	Source   bool // for who deletes the post: its text as it was written stands beside
}

// Viewer is what a post is to the account that reads it.
type Viewer struct {
	ID                                      uint64
	Favourited, Reposted, Bookmarked, Muted bool
	Pinned                                  bool // only said of one's own posts
}

// AppendStatus appends a Status. It is written by hand because a page of the home timeline
// has up to 40: see BenchmarkStatuses. What kith has not, such as polls and cards, is there
// and empty, as strict clients want every key.
func AppendStatus(b []byte, s *Status) []byte {
	p := s.Post
	b = strconv.AppendUint(append(b, `{"id":"`...), p.ID, 10)
	b = s.appendURL(append(b, `","uri":"`...))
	b = s.appendURL(append(b, `","url":"`...))
	b = appendTime(append(b, `","created_at":`...), p.Time().UnixMilli())
	b = AppendAccount(append(b, `,"edited_at":null,"account":`...), s.Account)
	b = s.appendContent(b)
	b = append(append(append(b, `,"visibility":"`...), p.Visibility.String()...), '"')
	b = strconv.AppendBool(append(b, `,"sensitive":`...), p.Sensitive)
	b = appendString(append(b, `,"spoiler_text":`...), p.Spoiler)
	b = appendOrNull(append(b, `,"language":`...), p.Language)
	b = appendID(append(b, `,"in_reply_to_id":`...), p.ReplyTo)
	b = appendID(append(b, `,"in_reply_to_account_id":`...), p.ReplyWho)
	b = s.appendMedia(append(b, `,"media_attachments":`...))
	b = strconv.AppendUint(append(b, `,"replies_count":`...), uint64(p.Replies), 10)
	b = strconv.AppendUint(append(b, `,"reblogs_count":`...), uint64(p.Reposts), 10)
	b = strconv.AppendUint(append(b, `,"favourites_count":`...), uint64(p.Favourites), 10)
	b = append(b, `,"quotes_count":0,"emojis":[],"poll":null,"card":null,"reblog":`...)
	if s.Reblog == nil {
		b = append(b, "null"...)
	} else {
		b = AppendStatus(b, s.Reblog)
	}
	b = s.appendViewer(b)
	if s.RepostedByCount > 0 {
		b = AppendArray(append(b, `,"reposted_by":`...), s.RepostedBy, AppendAccount)
		b = strconv.AppendInt(append(b, `,"reposted_by_count":`...), int64(s.RepostedByCount), 10)
	}
	if s.Promoted {
		b = append(b, `,"promoted":true`...)
	}
	return append(b, '}')
}

func (s *Status) appendURL(b []byte) []byte {
	b = append(append(b, s.Account.site.base...), `/@`...)
	b = append(append(b, s.Account.Username...), '/')
	return strconv.AppendUint(b, s.Post.ID, 10)
}

// appendContent appends the text and what is found in it.
func (s *Status) appendContent(b []byte) []byte {
	text, here := s.Post.Text, s.Account.site
	parts := content.Find(text)
	var room [2 << 10]byte // most posts fit
	html := content.AppendHTML(room[:0], text, parts, content.Links{Base: here.base, Domain: here.domain, Accounts: s.Mentions})
	b = appendString(append(b, `,"content":`...), string(html))
	if s.Source {
		b = appendString(append(b, `,"text":`...), text)
	}
	b = AppendArray(append(b, `,"mentions":`...), s.Mentions, func(b []byte, a content.Account) []byte {
		b = strconv.AppendUint(append(b, `{"id":"`...), a.ID, 10)
		b = appendString(append(b, `","username":`...), a.Username)
		b = append(append(append(b, `,"url":"`...), here.base...), `/@`...)
		b = appendString(append(append(b, a.Username...), `","acct":`...), a.Username)
		return append(b, '}')
	})
	return AppendArray(append(b, `,"tags":`...), content.Tags(parts), func(b []byte, name string) []byte {
		b = appendString(append(b, `{"name":`...), name)
		b = appendString(append(b, `,"url":`...), content.TagURL(here.base, name))
		return append(b, '}')
	})
}

// appendMedia appends the pictures. Their ids are the id of the post and a digit.
func (s *Status) appendMedia(b []byte) []byte {
	b = append(b, '[')
	for i, m := range s.Post.Media {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(append(b, `{"id":"`...), s.Post.ID, 10)
		b = strconv.AppendInt(b, int64(i), 10)
		b = appendString(append(b, `","type":"image","url":`...), m.URL)
		b = appendString(append(b, `,"preview_url":`...), cmp.Or(m.Preview, m.URL))
		b = appendOrNull(append(b, `,"remote_url":null,"meta":{},"description":`...), m.Description)
		b = append(b, `,"blurhash":null}`...)
	}
	return append(b, ']')
}

// appendViewer appends what is said to those who are signed in.
func (s *Status) appendViewer(b []byte) []byte {
	v := s.Viewer
	if v == nil {
		return b
	}
	b = strconv.AppendBool(append(b, `,"favourited":`...), v.Favourited)
	b = strconv.AppendBool(append(b, `,"reblogged":`...), v.Reposted)
	b = strconv.AppendBool(append(b, `,"muted":`...), v.Muted)
	b = strconv.AppendBool(append(b, `,"bookmarked":`...), v.Bookmarked)
	if v.ID == s.Post.Author && s.Reblog == nil {
		b = strconv.AppendBool(append(b, `,"pinned":`...), v.Pinned)
	}
	return append(b, `,"filtered":[]`...)
}
