// Package entity encodes accounts, relationships and posts as Mastodon's clients read them.
package entity

import (
	"context"
	"strconv"

	"kith/app/account"
	"kith/app/api/core"
	"kith/app/post"
	"kith/app/relation"
)

// Account is an account as clients see it.
type Account struct {
	ID                            uint64
	Username, DisplayName         string
	Locked                        bool
	CreatedAt                     int64 // unix milliseconds
	Friends, Followers, Following uint32
	Statuses                      uint32 // posts and reposts
	LastStatusAt                  int64  // unix milliseconds, 0: none
	MutedUntil                    uint32 // in a list of mutes: unix seconds, 0: no end

	site *site
}

// site is the part of an account that is the same for a whole page.
type site struct {
	base     string // public address
	domain   string // the name after the @ of our accounts
	pictures string // the fields of the avatar and the header
}

func newSite(base, domain string) *site {
	avatar, header := base+core.AvatarPath, base+core.HeaderPath
	return &site{base, domain, `","avatar":"` + avatar + `","avatar_static":"` + avatar + `","header":"` + header + `","header_static":"` + header + `"`}
}

// Accounts loads accounts and their counts.
type Accounts struct {
	Accounts  *account.Service
	Relations *relation.Service
	Posts     *post.Service
}

// Load returns accounts in the order of ids. Those that do not exist are left out.
func (a Accounts) Load(ctx context.Context, c *core.Call, ids []uint64) ([]Account, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := a.Accounts.Get(ctx, ids)
	if err != nil {
		return nil, err
	}
	counts, err := a.Relations.Counts(ctx, ids)
	if err != nil {
		return nil, err
	}
	posted, err := a.Posts.Counts(ctx, ids)
	if err != nil {
		return nil, err
	}
	here := newSite(c.Base(), c.Domain())
	out := make([]Account, 0, len(ids))
	for i, one := range found {
		if one.Ver > 0 {
			n := counts[i]
			out = append(out, Account{ID: one.ID, Username: one.Username, DisplayName: one.DisplayName, Locked: one.Locked, CreatedAt: int64(one.CreatedAt),
				Friends: n.Friends, Followers: n.Followers, Following: n.Following, Statuses: posted[i].Statuses, LastStatusAt: posted[i].Last, site: here})
		}
	}
	return out, nil
}

// One returns a single account or a refusal.
func (a Accounts) One(ctx context.Context, c *core.Call, id uint64) (Account, error) {
	found, err := a.Load(ctx, c, []uint64{id})
	if err == nil && len(found) == 0 {
		err = core.ErrNotFound
	}
	if err != nil {
		return Account{}, err
	}
	return found[0], nil
}

// AppendAccount appends an Account.
func AppendAccount(b []byte, a Account) []byte { return append(appendOpen(b, a), '}') }

// AppendMuted appends a MutedAccount.
func AppendMuted(b []byte, a Account) []byte {
	b = append(appendOpen(b, a), `,"mute_expires_at":`...)
	return append(appendUntil(b, a.MutedUntil), '}')
}

// AppendCredential appends a CredentialAccount.
func AppendCredential(b []byte, a Account, requests int) []byte {
	b = append(appendOpen(b, a), `,"source":{"note":"","fields":[],"privacy":"public","sensitive":false,"language":null,"hide_collections":false,"discoverable":null,"indexable":false,"attribution_domains":[],"follow_requests_count":`...)
	b = strconv.AppendInt(b, int64(requests), 10)
	return append(b, `},"role":{"id":"-99","name":"","permissions":"0","color":"","highlighted":false}}`...)
}

// AppendFamiliar appends a FamiliarFollowers: those who follow id among the people that
// the caller follows.
func AppendFamiliar(b []byte, id uint64, people []Account) []byte {
	b = append(strconv.AppendUint(append(b, `{"id":"`...), id, 10), `","accounts":`...)
	return append(AppendArray(b, people, AppendAccount), '}')
}

// AppendSuggestion appends a Suggestion. past_interactions is what old clients know for
// friends of friends.
func AppendSuggestion(b []byte, a Account) []byte {
	b = AppendAccount(append(b, `{"source":"past_interactions","sources":["friends_of_friends"],"account":`...), a)
	return append(b, '}')
}

// appendOpen appends an Account without its closing brace. It is written by hand
// because a page has up to 80, which take some 20 µs so and 170 µs with encoding/json:
// see BenchmarkAccounts.
func appendOpen(b []byte, a Account) []byte {
	b = strconv.AppendUint(append(b, `{"id":"`...), a.ID, 10)
	b = appendString(append(b, `","username":`...), a.Username)
	b = appendString(append(b, `,"acct":`...), a.Username)
	b = appendString(append(b, `,"display_name":`...), a.DisplayName)
	b = strconv.AppendBool(append(b, `,"locked":`...), a.Locked)
	b = append(b, `,"bot":false,"group":false,"discoverable":null,"indexable":false,"created_at":`...)
	b = appendTime(b, a.CreatedAt)
	b = append(b, `,"note":"","url":"`...)
	b = append(append(append(b, a.site.base...), `/@`...), a.Username...)
	b = append(append(append(b, `","uri":"`...), a.site.base...), `/users/`...)
	b = append(append(b, a.Username...), a.site.pictures...)
	b = strconv.AppendUint(append(b, `,"followers_count":`...), uint64(a.Followers), 10)
	b = strconv.AppendUint(append(b, `,"following_count":`...), uint64(a.Following), 10)
	b = strconv.AppendUint(append(b, `,"friends_count":`...), uint64(a.Friends), 10)
	b = strconv.AppendUint(append(b, `,"statuses_count":`...), uint64(a.Statuses), 10)
	b = appendDate(append(b, `,"last_status_at":`...), a.LastStatusAt)
	return append(b, `,"hide_collections":false,"emojis":[],"fields":[],"roles":[]`...)
}

// AppendRelationship appends a Relationship. It is written by hand because clients ask
// for one for each account of a page: 40 take some 2 µs so and 25 µs with encoding/json,
// where the whole request takes 30. See BenchmarkRelationships.
func AppendRelationship(b []byte, r relation.Relationship) []byte {
	b = strconv.AppendUint(append(b, `{"id":"`...), r.ID, 10)
	b = strconv.AppendBool(append(b, `","following":`...), r.Following)
	b = strconv.AppendBool(append(b, `,"showing_reblogs":`...), r.ShowingReposts)
	b = strconv.AppendBool(append(b, `,"notifying":`...), r.Notify)
	b = append(b, `,"languages":`...)
	if len(r.Languages) == 0 {
		b = append(b, "null"...)
	} else {
		b = AppendArray(b, r.Languages, appendString)
	}
	b = strconv.AppendBool(append(b, `,"followed_by":`...), r.FollowedBy)
	b = strconv.AppendBool(append(b, `,"blocking":`...), r.Blocking)
	b = strconv.AppendBool(append(b, `,"blocked_by":`...), r.BlockedBy)
	b = strconv.AppendBool(append(b, `,"muting":`...), r.Muting)
	b = strconv.AppendBool(append(b, `,"muting_notifications":`...), r.MutingNotifications)
	b = appendUntil(append(b, `,"muting_expires_at":`...), r.MutedUntil)
	b = strconv.AppendBool(append(b, `,"requested":`...), r.Requested)
	b = strconv.AppendBool(append(b, `,"requested_by":`...), r.RequestedBy)
	b = append(b, `,"domain_blocking":false,"endorsed":false,"note":`...)
	return append(appendString(b, r.Note), '}')
}

// AppendArray appends an array, each item with one.
func AppendArray[T any](b []byte, items []T, one func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, item)
	}
	return append(b, ']')
}
