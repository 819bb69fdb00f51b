package entity

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kith/app/post/content"
	"kith/repo/event"
	"kith/repo/post"
)

// statusJSON is a Status as encoding/json would write it.
type statusJSON struct {
	ID              string         `json:"id"`
	URI             string         `json:"uri"`
	URL             string         `json:"url"`
	CreatedAt       string         `json:"created_at"`
	EditedAt        *string        `json:"edited_at"`
	Account         accountJSON    `json:"account"`
	Content         string         `json:"content"`
	Text            *string        `json:"text,omitempty"`
	Mentions        []mentionJSON  `json:"mentions"`
	Tags            []tagJSON      `json:"tags"`
	Visibility      string         `json:"visibility"`
	Sensitive       bool           `json:"sensitive"`
	SpoilerText     string         `json:"spoiler_text"`
	Language        *string        `json:"language"`
	ReplyTo         *string        `json:"in_reply_to_id"`
	ReplyWho        *string        `json:"in_reply_to_account_id"`
	Media           []mediaJSON    `json:"media_attachments"`
	Replies         uint32         `json:"replies_count"`
	Reblogs         uint32         `json:"reblogs_count"`
	Favourites      uint32         `json:"favourites_count"`
	Quotes          int            `json:"quotes_count"`
	Emojis          []string       `json:"emojis"`
	Poll            *string        `json:"poll"`
	Card            *string        `json:"card"`
	Reblog          *statusJSON    `json:"reblog"`
	Favourited      *bool          `json:"favourited,omitempty"`
	Reblogged       *bool          `json:"reblogged,omitempty"`
	Muted           *bool          `json:"muted,omitempty"`
	Bookmarked      *bool          `json:"bookmarked,omitempty"`
	Pinned          *bool          `json:"pinned,omitempty"`
	Filtered        *[]string      `json:"filtered,omitempty"`
	RepostedBy      *[]accountJSON `json:"reposted_by,omitempty"`
	RepostedByCount int            `json:"reposted_by_count,omitempty"`
	Promoted        bool           `json:"promoted,omitempty"`
}

type mentionJSON struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	URL      string `json:"url"`
	Acct     string `json:"acct"`
}

type tagJSON struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type mediaJSON struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"`
	URL         string   `json:"url"`
	Preview     string   `json:"preview_url"`
	Remote      *string  `json:"remote_url"`
	Meta        struct{} `json:"meta"`
	Description *string  `json:"description"`
	Blurhash    *string  `json:"blurhash"`
}

// orNull returns a pointer to v, nil where it is empty.
func orNull[T comparable](v T) *string {
	var none T
	if v == none {
		return nil
	}
	text := fmt.Sprint(v)
	return &text
}

func (s *Status) asJSON() *statusJSON {
	p, base := s.Post, s.Account.site.base
	at := fmt.Sprintf("%s/@%s/%d", base, s.Account.Username, p.ID)
	out := &statusJSON{
		ID: fmt.Sprint(p.ID), URI: at, URL: at, CreatedAt: event.Time(p.ID).Format(layout), Account: s.Account.asJSON(),
		Content:  content.HTML(p.Text, content.Links{Base: base, Domain: "kith.example", Accounts: s.Mentions}),
		Mentions: []mentionJSON{}, Tags: []tagJSON{}, Visibility: []string{"public", "unlisted", "private", "direct"}[p.Visibility],
		Sensitive: p.Sensitive, SpoilerText: p.Spoiler, Language: orNull(p.Language), ReplyTo: orNull(p.ReplyTo), ReplyWho: orNull(p.ReplyWho),
		Media: []mediaJSON{}, Replies: p.Replies, Reblogs: p.Reposts, Favourites: p.Favourites, Emojis: []string{},
		RepostedByCount: s.RepostedByCount, Promoted: s.Promoted,
	}
	if s.Source {
		out.Text = &p.Text
	}
	for _, m := range s.Mentions {
		out.Mentions = append(out.Mentions, mentionJSON{fmt.Sprint(m.ID), m.Username, base + "/@" + m.Username, m.Username})
	}
	for _, name := range content.Tags(content.Find(p.Text)) {
		out.Tags = append(out.Tags, tagJSON{name, content.TagURL(base, name)})
	}
	for i, m := range p.Media {
		preview := m.Preview
		if preview == "" {
			preview = m.URL
		}
		out.Media = append(out.Media, mediaJSON{ID: fmt.Sprintf("%d%d", p.ID, i), Type: "image", URL: m.URL, Preview: preview, Description: orNull(m.Description)})
	}
	if s.Reblog != nil {
		out.Reblog = s.Reblog.asJSON()
	}
	if v := s.Viewer; v != nil {
		out.Favourited, out.Reblogged, out.Muted, out.Bookmarked, out.Filtered = &v.Favourited, &v.Reposted, &v.Muted, &v.Bookmarked, &[]string{}
		if v.ID == p.Author && p.Origin == 0 {
			out.Pinned = &v.Pinned
		}
	}
	if s.RepostedByCount > 0 {
		out.RepostedBy = &[]accountJSON{}
		for _, a := range s.RepostedBy {
			*out.RepostedBy = append(*out.RepostedBy, a.asJSON())
		}
	}
	return out
}

// statusOf makes the post of an account.
func statusOf(a Account, text string) *Status {
	p := &post.Post{Author: a.ID}
	p.ID, p.Ver, p.Text = event.First(time.UnixMilli(1574810593113))+a.ID, 1, text
	return &Status{Post: p, Account: a}
}

// statusesOf makes a page as it stands in a home timeline: one in four is a repost, one in
// three mentions somebody, has a tag and an address, and one in five a picture.
func statusesOf(n int) (all []*Status) {
	line := strings.Repeat("A line of a post that goes on a bit. ", 4)
	for i, a := range accountsOf(n) {
		s := statusOf(a, line)
		s.Viewer = &Viewer{ID: 1}
		if i%3 == 0 {
			s.Post.Text = "@name1 " + line + "\n\n#kith https://kith.example/about?a=1&b=2"
			s.Mentions = []content.Account{{ID: 1_000_001, Username: "name1"}}
		}
		if i%5 == 0 {
			s.Post.Media = []post.Media{{URL: "https://pictures.example/1234.png", Description: "A picture"}}
		}
		if i%4 == 0 {
			by := accountsOf(n)[(i+1)%n]
			outer := statusOf(by, "")
			outer.Post.Origin, outer.Reblog, outer.Viewer = s.Post.ID, s, s.Viewer
			outer.RepostedBy, outer.RepostedByCount = []Account{by, a}, 2
			s = outer
		}
		all = append(all, s)
	}
	return all
}

// What is written by hand says what encoding/json does, key by key in the same order. (The
// bytes differ where encoding/json escapes an address.)
func TestRender_Statuses(t *testing.T) {
	people := accountsOf(4)
	full := statusOf(people[0], "@NAME2 \"é\" <b> & #Go #été\u2028 https://a.example/?a&b\n\n@gone@kith.example")
	full.Post.Content.Spoiler, full.Post.Sensitive, full.Post.Language = "a\"<\n", true, "pt-BR"
	full.Post.ReplyTo, full.Post.ReplyWho, full.Post.Visibility = 1<<62+1, 1<<63-1, post.Direct
	full.Post.Replies, full.Post.Reposts, full.Post.Favourites = 1, 2, 1<<32-1
	full.Post.Media = []post.Media{{URL: "https://a.example/1?a&b", Preview: "https://a.example/2", Description: "é \"d\""}, {URL: "https://a.example/3"}}
	full.Mentions = []content.Account{{ID: people[2].ID, Username: "name2"}, {ID: 1<<63 - 1, Username: "x.y-z"}}
	full.Source = true
	seen := statusOf(people[1], "plain")
	seen.Viewer, seen.Promoted = &Viewer{ID: people[1].ID, Favourited: true, Bookmarked: true, Pinned: true}, true
	others := statusOf(people[1], "")
	others.Viewer = &Viewer{ID: people[2].ID, Reposted: true, Muted: true, Pinned: true}
	wrapped := statusOf(people[3], "")
	wrapped.Post.Origin, wrapped.Reblog, wrapped.Viewer = full.Post.ID, full, &Viewer{ID: people[3].ID}
	wrapped.RepostedBy, wrapped.RepostedByCount = []Account{people[3], people[1]}, 41
	unknown := statusOf(people[3], "")
	unknown.RepostedByCount = 1
	for i, s := range append(statusesOf(12), full, seen, others, wrapped, unknown) {
		want, err := json.Marshal(s.asJSON())
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.NewReplacer(`\u0026`, "&")
		if got := string(AppendStatus(nil, s)); plain.Replace(got) != plain.Replace(string(want)) {
			t.Errorf("status %d: %s", i, cmp.Diff(strings.SplitAfter(plain.Replace(string(want)), ","), strings.SplitAfter(plain.Replace(got), ",")))
		}
	}
}

const (
	statusFields = "account card content created_at edited_at emojis favourites_count id in_reply_to_account_id in_reply_to_id language media_attachments " +
		"mentions poll quotes_count reblog reblogs_count replies_count sensitive spoiler_text tags uri url visibility"
	viewerFields = " bookmarked favourited filtered muted reblogged"
)

func TestRender_StatusFields(t *testing.T) {
	make := func(change func(*Status)) *Status {
		s := statusOf(Account{ID: 7, Username: "seven", site: newSite("https://kith.example", "kith.example")}, "a")
		change(s)
		return s
	}
	for name, c := range map[string]struct {
		s    *Status
		want string
	}{
		"nobody":        {make(func(s *Status) {}), statusFields},
		"viewer":        {make(func(s *Status) { s.Viewer = &Viewer{ID: 8} }), statusFields + viewerFields},
		"own":           {make(func(s *Status) { s.Viewer = &Viewer{ID: 7} }), statusFields + viewerFields + " pinned"},
		"own repost":    {make(func(s *Status) { s.Viewer, s.Reblog = &Viewer{ID: 7}, make(func(*Status) {}) }), statusFields + viewerFields},
		"deleted":       {make(func(s *Status) { s.Source = true }), statusFields + " text"},
		"promoted":      {make(func(s *Status) { s.Promoted = true }), statusFields + " promoted"},
		"with reposts":  {make(func(s *Status) { s.RepostedByCount = 1 }), statusFields + " reposted_by reposted_by_count"},
		"with no more":  {make(func(s *Status) { s.RepostedBy = []Account{} }), statusFields},
		"not its owner": {make(func(s *Status) { s.Viewer = &Viewer{} }), statusFields + viewerFields},
	} {
		want := strings.Fields(c.want)
		slices.Sort(want)
		if got := keysOf(t, AppendStatus(nil, c.s)); !slices.Equal(got, want) {
			t.Errorf("%s: %s", name, cmp.Diff(want, got))
		}
	}
}

// BenchmarkStatuses compares what writes a page of 20 by hand with encoding/json.
func BenchmarkStatuses(b *testing.B) {
	compare(b, statusesOf(20), AppendStatus, (*Status).asJSON)
}
