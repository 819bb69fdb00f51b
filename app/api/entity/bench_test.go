package entity

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"kith/app/api/core"
	"kith/app/relation"
)

// accountJSON is an Account as encoding/json would write it.
type accountJSON struct {
	ID             string   `json:"id"`
	Username       string   `json:"username"`
	Acct           string   `json:"acct"`
	DisplayName    string   `json:"display_name"`
	Locked         bool     `json:"locked"`
	Bot            bool     `json:"bot"`
	Group          bool     `json:"group"`
	Discoverable   *bool    `json:"discoverable"`
	Indexable      bool     `json:"indexable"`
	CreatedAt      string   `json:"created_at"`
	Note           string   `json:"note"`
	URL            string   `json:"url"`
	URI            string   `json:"uri"`
	Avatar         string   `json:"avatar"`
	AvatarStatic   string   `json:"avatar_static"`
	Header         string   `json:"header"`
	HeaderStatic   string   `json:"header_static"`
	Followers      uint32   `json:"followers_count"`
	Following      uint32   `json:"following_count"`
	Friends        uint32   `json:"friends_count"`
	Statuses       uint32   `json:"statuses_count"`
	LastStatusAt   *string  `json:"last_status_at"`
	HideCollection bool     `json:"hide_collections"`
	Emojis         []string `json:"emojis"`
	Fields         []string `json:"fields"`
	Roles          []string `json:"roles"`
}

const layout = "2006-01-02T15:04:05.000Z"

func (a Account) asJSON() accountJSON {
	base := a.site.base
	return accountJSON{
		ID: fmt.Sprint(a.ID), Username: a.Username, Acct: a.Username, DisplayName: a.DisplayName, Locked: a.Locked,
		CreatedAt: time.UnixMilli(a.CreatedAt).UTC().Format(layout), URL: base + "/@" + a.Username, URI: base + "/users/" + a.Username,
		Avatar: base + core.AvatarPath, AvatarStatic: base + core.AvatarPath, Header: base + core.HeaderPath, HeaderStatic: base + core.HeaderPath,
		Followers: a.Followers, Following: a.Following, Friends: a.Friends, Statuses: a.Statuses, LastStatusAt: lastStatus(a.LastStatusAt), Emojis: []string{}, Fields: []string{}, Roles: []string{},
	}
}

func lastStatus(millis int64) *string {
	if millis == 0 {
		return nil
	}
	day := time.UnixMilli(millis).UTC().Format(time.DateOnly)
	return &day
}

// relationshipJSON is a Relationship as encoding/json would write it.
type relationshipJSON struct {
	ID                  string   `json:"id"`
	Following           bool     `json:"following"`
	ShowingReblogs      bool     `json:"showing_reblogs"`
	Notifying           bool     `json:"notifying"`
	Languages           []string `json:"languages"`
	FollowedBy          bool     `json:"followed_by"`
	Blocking            bool     `json:"blocking"`
	BlockedBy           bool     `json:"blocked_by"`
	Muting              bool     `json:"muting"`
	MutingNotifications bool     `json:"muting_notifications"`
	MutingExpiresAt     *string  `json:"muting_expires_at"`
	Requested           bool     `json:"requested"`
	RequestedBy         bool     `json:"requested_by"`
	DomainBlocking      bool     `json:"domain_blocking"`
	Endorsed            bool     `json:"endorsed"`
	Note                string   `json:"note"`
}

func relationshipAsJSON(r relation.Relationship) relationshipJSON {
	out := relationshipJSON{
		ID: fmt.Sprint(r.ID), Following: r.Following, ShowingReblogs: r.ShowingReposts, Notifying: r.Notify, Languages: r.Languages,
		FollowedBy: r.FollowedBy, Blocking: r.Blocking, BlockedBy: r.BlockedBy, Muting: r.Muting, MutingNotifications: r.MutingNotifications,
		Requested: r.Requested, RequestedBy: r.RequestedBy, Note: r.Note,
	}
	if r.MutedUntil != 0 {
		text := time.Unix(int64(r.MutedUntil), 0).UTC().Format(layout)
		out.MutingExpiresAt = &text
	}
	return out
}

func accountsOf(n int) (all []Account) {
	here := newSite("https://kith.example", "kith.example")
	for i := range n {
		all = append(all, Account{ID: 1_000_000 + uint64(i), Username: fmt.Sprint("name", i), DisplayName: "Somebody", CreatedAt: 1574810593113,
			Friends: 100, Followers: 20_000, Following: 300, site: here})
	}
	return all
}

func relationshipsOf(n int) (all []relation.Relationship) {
	for i := range n {
		all = append(all, relation.Relationship{ID: 1_000_000 + uint64(i), Following: i%2 == 0, ShowingReposts: i%2 == 0, FollowedBy: i%3 == 0})
	}
	return all
}

func marshal[T, J any](t testing.TB, b []byte, all []T, as func(T) J) []byte {
	list := make([]J, len(all))
	for i, one := range all {
		list[i] = as(one)
	}
	out, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return append(b[:0], out...)
}

// What is written by hand is, byte for byte, what encoding/json writes.
func TestRender_Same(t *testing.T) {
	people, rels := accountsOf(3), relationshipsOf(6)
	people[1].DisplayName, people[1].Locked = "A \"n\" <b>n</b> ☃\u2028", true
	people[1].Statuses, people[1].LastStatusAt, people[2].LastStatusAt = 1<<32-1, 1574810593113, 951782399999
	rels[1].Languages, rels[1].Note, rels[1].MutedUntil = []string{"en", "pt-BR"}, "é\n<>", 1574810593
	if got, want := AppendArray(nil, people, AppendAccount), marshal(t, nil, people, Account.asJSON); string(got) != string(want) {
		t.Errorf("accounts: got %s, want %s", got, want)
	}
	if got, want := AppendArray(nil, rels, AppendRelationship), marshal(t, nil, rels, relationshipAsJSON); string(got) != string(want) {
		t.Errorf("relationships: got %s, want %s", got, want)
	}
}

// BenchmarkAccounts compares what writes a page of 80 by hand with encoding/json.
func BenchmarkAccounts(b *testing.B) {
	compare(b, accountsOf(80), AppendAccount, Account.asJSON)
}

// BenchmarkRelationships does so for those of a page of 40.
func BenchmarkRelationships(b *testing.B) {
	compare(b, relationshipsOf(40), AppendRelationship, relationshipAsJSON)
}

func compare[T, J any](b *testing.B, all []T, one func([]byte, T) []byte, as func(T) J) {
	buffer := make([]byte, 0, 256<<10)
	b.Run("Hand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buffer = AppendArray(buffer[:0], all, one)
		}
	})
	b.Run("Standard", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buffer = marshal(b, buffer, all, as)
		}
	})
}

// BenchmarkString compares appendString with encoding/json.
func BenchmarkString(b *testing.B) {
	for name, s := range map[string]string{
		"Plain":   strings.Repeat("A line of a post that names nobody. ", 8),
		"HTML":    "<p>" + strings.Repeat("A line of a post that <b>names</b> nobody. ", 8) + "</p>",
		"Chinese": strings.Repeat("今天天气很好，我们去公园散步吧。", 6),
	} {
		buffer := make([]byte, 0, 4<<10)
		b.Run(name+"/Hand", func(b *testing.B) {
			for b.Loop() {
				buffer = appendString(buffer[:0], s)
			}
		})
		b.Run(name+"/Standard", func(b *testing.B) {
			for b.Loop() {
				out, _ := json.Marshal(s)
				buffer = append(buffer[:0], out...)
			}
		})
	}
}
