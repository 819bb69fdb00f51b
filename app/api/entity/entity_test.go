package entity

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/app/api/core"
	"kith/app/relation"
)

// keysOf returns the fields of a JSON object in order.
func keysOf(t *testing.T, b []byte) []string {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	keys := make([]string, 0, len(fields))
	for k := range fields {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// The fields of the entities as strict clients read them.
const (
	accountFields = "acct avatar avatar_static bot created_at discoverable display_name emojis fields followers_count " +
		"following_count friends_count group header header_static hide_collections id indexable last_status_at locked note " +
		"roles statuses_count uri url username"
	relationshipFields = "blocked_by blocking domain_blocking endorsed followed_by following id languages muting " +
		"muting_expires_at muting_notifications note notifying requested requested_by showing_reblogs"
)

func TestRender_Fields(t *testing.T) {
	p := Account{ID: 7, Username: "seven", DisplayName: "Seven", site: newSite("https://kith.example", "kith.example")}
	for name, c := range map[string]struct{ got, want string }{
		"account":      {string(AppendAccount(nil, p)), accountFields},
		"muted":        {string(AppendMuted(nil, p)), accountFields + " mute_expires_at"},
		"credential":   {string(AppendCredential(nil, p, 3)), accountFields + " role source"},
		"relationship": {string(AppendRelationship(nil, relation.Relationship{ID: 7})), relationshipFields},
		"familiar":     {string(AppendFamiliar(nil, 7, []Account{p})), "accounts id"},
	} {
		want := strings.Fields(c.want)
		slices.Sort(want)
		if got := keysOf(t, []byte(c.got)); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestRender_Account(t *testing.T) {
	p := Account{
		ID: 1<<63 - 1, Username: "Ann.e-1", DisplayName: "A \"n\" <b>n</b> ☃\u2028", Locked: true, CreatedAt: 1574810593113,
		Friends: 1, Followers: 2, Following: 4294967295, Statuses: 3, LastStatusAt: 1574810593113, site: newSite("https://kith.example", "kith.example"),
	}
	var got map[string]any
	if err := json.Unmarshal(AppendAccount(nil, p), &got); err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]any{
		"id": "9223372036854775807", "username": "Ann.e-1", "acct": "Ann.e-1", "display_name": "A \"n\" <b>n</b> ☃\u2028",
		"locked": true, "created_at": "2019-11-26T23:23:13.113Z", "url": "https://kith.example/@Ann.e-1",
		"uri": "https://kith.example/users/Ann.e-1", "avatar": "https://kith.example" + core.AvatarPath,
		"header_static": "https://kith.example" + core.HeaderPath, "followers_count": 2.0, "following_count": 4294967295.0,
		"friends_count": 1.0, "statuses_count": 3.0, "last_status_at": "2019-11-26", "note": "",
	} {
		if got[field] != want {
			t.Errorf("%s: got %v, want %v", field, got[field], want)
		}
	}
}

// Every field of a Relationship comes out where it belongs: each in turn is set alone.
func TestRender_Relationship(t *testing.T) {
	for field, r := range map[string]relation.Relationship{
		"following": {Following: true}, "showing_reblogs": {ShowingReposts: true}, "notifying": {Notify: true},
		"followed_by": {FollowedBy: true}, "blocking": {Blocking: true}, "blocked_by": {BlockedBy: true},
		"muting": {Muting: true}, "muting_notifications": {MutingNotifications: true},
		"requested": {Requested: true}, "requested_by": {RequestedBy: true}, "none": {},
	} {
		var got map[string]any
		if err := json.Unmarshal(AppendRelationship(nil, r), &got); err != nil {
			t.Fatal(err)
		}
		for name, v := range got {
			if yes, ok := v.(bool); ok && yes != (name == field) {
				t.Errorf("%s alone: %s is %v", field, name, v)
			}
		}
	}
	full := relation.Relationship{ID: 5, Languages: []string{"en", "pt-BR"}, Note: "a\"\n", MutedUntil: 1574810593}
	got := string(AppendRelationship(nil, full))
	for _, want := range []string{`"id":"5"`, `"languages":["en","pt-BR"]`, `"note":"a\"\n"`, `"muting_expires_at":"2019-11-26T23:23:13.000Z"`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}

func TestRender_Strings(t *testing.T) {
	for c := range 256 {
		sameString(t, string(rune(c)))
		sameString(t, "a"+string([]byte{byte(c)})+"b")
	}
	for _, s := range []string{"", "plain", "a\"b", `a\b`, "\x00\x1f\x7f", "<&>", "é☃😀", "\u2027\u2028\u2029\u202a“”", "a\u2028", "\u2028\xff", "\xe2", "\xe2\x80", "\xe2\x80a"} {
		sameString(t, s)
	}
}

// FuzzRender_Strings compares appendString with encoding/json.
func FuzzRender_Strings(f *testing.F) {
	f.Add("a\"\\\n<é\u2028”\xff")
	f.Fuzz(sameString)
}

func sameString(t *testing.T, s string) {
	want, _ := json.Marshal(s)
	if got := appendString(nil, s); string(got) != string(want) {
		t.Errorf("%q: got %s, want %s", s, got, want)
	}
}

func TestRender_Times(t *testing.T) {
	for _, millis := range []int64{0, 1, 999, 1000, 951782399999, 951782400000, 4107542399999, 1574810593113, -1, 253402300799999, 253402300800000, 1 << 52} {
		want := time.UnixMilli(millis).UTC().Format(`"2006-01-02T15:04:05.000Z"`)
		if got := string(appendTime(nil, millis)); got != want {
			t.Errorf("%d: got %s, want %s", millis, got, want)
		}
	}
}
