package api

import (
	"encoding/json"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"kith/app/relation"
	"kith/repo/account"
	counts "kith/repo/relation"
)

// The entities are written by appending, not by reflection: a page is forty of
// them. A test compares each with the fields that clients read.

// person is what an Account entity is made of.
type person struct {
	account    *account.Account
	counts     counts.Counts
	mutedUntil uint32
	place      *place
}

// place is where a server can be reached, and what accounts say of that. It is
// the same for a whole page.
type place struct {
	base   string // public address
	images string // the fields for avatar and header
}

func newPlace(base string) *place {
	avatar, header := base+avatarPath, base+headerPath
	return &place{base: base, images: `","avatar":"` + avatar + `","avatar_static":"` + avatar +
		`","header":"` + header + `","header_static":"` + header + `"`}
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 32<<10); return &b }}

// render answers with what write appends to a buffer.
func (c *call) render(write func(b []byte) []byte) error {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = write((*buffer)[:0])
	return c.ok(*buffer)
}

func appendArray[T any](b []byte, items []T, one func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, item)
	}
	return append(b, ']')
}

func appendAccount(b []byte, p person) []byte { return append(appendAccountOpen(b, p), '}') }

// appendMuted appends a MutedAccount.
func appendMuted(b []byte, p person) []byte {
	b = append(appendAccountOpen(b, p), `,"mute_expires_at":`...)
	return append(appendUntil(b, p.mutedUntil), '}')
}

// appendCredential appends a CredentialAccount.
func appendCredential(b []byte, p person, requests int) []byte {
	b = append(appendAccountOpen(b, p), `,"source":{"note":"","fields":[],"privacy":"public","sensitive":false,"language":null,"hide_collections":false,"discoverable":null,"indexable":false,"attribution_domains":[],"follow_requests_count":`...)
	b = strconv.AppendInt(b, int64(requests), 10)
	return append(b, `},"role":{"id":"-99","name":"","permissions":"0","color":"","highlighted":false}}`...)
}

// appendAccountOpen appends an Account without its closing brace.
func appendAccountOpen(b []byte, p person) []byte {
	a := p.account
	b = appendID(append(b, `{"id":`...), a.ID)
	b = appendString(append(b, `,"username":`...), a.Username)
	b = appendString(append(b, `,"acct":`...), a.Username)
	b = appendString(append(b, `,"display_name":`...), a.DisplayName)
	b = strconv.AppendBool(append(b, `,"locked":`...), a.Locked)
	b = append(b, `,"bot":false,"group":false,"discoverable":null,"indexable":false,"created_at":`...)
	b = appendTime(b, int64(a.CreatedAt))
	b = append(b, `,"note":"","url":"`...)
	b = append(append(append(b, p.place.base...), `/@`...), a.Username...)
	b = append(append(append(b, `","uri":"`...), p.place.base...), `/users/`...)
	b = append(append(b, a.Username...), p.place.images...)
	b = strconv.AppendUint(append(b, `,"followers_count":`...), uint64(p.counts.Followers), 10)
	b = strconv.AppendUint(append(b, `,"following_count":`...), uint64(p.counts.Following), 10)
	b = strconv.AppendUint(append(b, `,"friends_count":`...), uint64(p.counts.Friends), 10)
	return append(b, `,"statuses_count":0,"last_status_at":null,"hide_collections":false,"emojis":[],"fields":[],"roles":[]`...)
}

// appendRelationship appends a Relationship.
func appendRelationship(b []byte, r relation.Relationship) []byte {
	b = appendID(append(b, `{"id":`...), r.ID)
	b = strconv.AppendBool(append(b, `,"following":`...), r.Following)
	b = strconv.AppendBool(append(b, `,"showing_reblogs":`...), r.ShowingReposts)
	b = strconv.AppendBool(append(b, `,"notifying":`...), r.Notify)
	b = appendLanguages(append(b, `,"languages":`...), r.Languages)
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

// familiar is one entry of an answer about familiar followers.
type familiar struct {
	id     uint64
	people []person
}

func appendFamiliar(b []byte, f familiar) []byte {
	b = append(appendID(append(b, `{"id":`...), f.id), `,"accounts":`...)
	return append(appendArray(b, f.people, appendAccount), '}')
}

func appendLanguages(b []byte, languages []string) []byte {
	if len(languages) == 0 {
		return append(b, "null"...)
	}
	return appendArray(b, languages, appendString)
}

func appendID(b []byte, id uint64) []byte {
	return append(strconv.AppendUint(append(b, '"'), id, 10), '"')
}

// appendUntil appends a moment in unix seconds, 0 as null.
func appendUntil(b []byte, seconds uint32) []byte {
	if seconds == 0 {
		return append(b, "null"...)
	}
	return appendTime(b, int64(seconds)*1000)
}

// appendTime appends a moment in unix milliseconds. It does what
// time.AppendFormat does with "2006-01-02T15:04:05.000Z", which took a third of
// the time of a page.
func appendTime(b []byte, millis int64) []byte {
	t := time.UnixMilli(millis).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, `"2006-01-02T15:04:05.000Z"`)
	}
	b = appendTwo(appendTwo(append(b, '"'), year/100), year%100)
	b = appendTwo(append(b, '-'), int(month))
	b = appendTwo(append(b, '-'), day)
	b = appendTwo(append(b, 'T'), hour)
	b = appendTwo(append(b, ':'), minute)
	b = appendTwo(append(b, ':'), second)
	ms := t.Nanosecond() / 1e6
	b = appendTwo(append(b, '.', byte('0'+ms/100)), ms%100)
	return append(b, 'Z', '"')
}

// appendTwo appends a number below 100 with two digits.
func appendTwo(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// appendString appends a JSON string: plain ASCII as it is, everything else
// the way encoding/json does it.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			escaped, _ := json.Marshal(s) // a string always marshals
			return append(b, escaped...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// asJSON answers with a value, for what is asked for rarely.
func (c *call) asJSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.ok(b)
}
