package home

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kith/repo/event"
	"kith/repo/list"
	"kith/repo/post"
)

// The accounts of these tests, and what they are to the reader.
const (
	reader = 1 + iota
	friend
	friend2
	stranger
	blocked
	blocker
	muted
	mutedFriend   // followed, too
	mutedToday    // and followed
	mutedThen     // and followed; the mute is over
	quiet         // followed without reposts
	english       // followed for en and pt-BR
	halfBlocked   // followed and blocked: one row of two is written
	halfBlockedBy // followed, and blocks
	asked         // the reader asked to follow them
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func newViewer() *Viewer {
	unix := uint32(now.Unix())
	relations := map[uint64]Relation{
		friend:        {Rel: list.IsFollowing | list.IsFollower},
		friend2:       {Rel: list.IsFollowing},
		stranger:      {Rel: list.IsFollower},
		blocked:       {Rel: list.IsBlocking},
		blocker:       {Rel: list.IsBlockedBy},
		muted:         {Rel: list.IsMuting},
		mutedFriend:   {Rel: list.IsMuting | list.IsFollowing},
		mutedToday:    {Rel: list.IsMuting | list.IsFollowing | list.HasOption, Option: list.Option{MuteUntil: unix + 1}},
		mutedThen:     {Rel: list.IsMuting | list.IsFollowing | list.HasOption, Option: list.Option{MuteUntil: unix}},
		quiet:         {Rel: list.IsFollowing | list.HasOption, Option: list.Option{HideReposts: true}},
		english:       {Rel: list.IsFollowing | list.HasOption, Option: list.Option{Languages: []string{"en", "pt-BR"}}},
		halfBlocked:   {Rel: list.IsFollowing | list.IsBlocking},
		halfBlockedBy: {Rel: list.IsFollowing | list.IsBlockedBy},
		asked:         {Rel: list.IsRequested},
	}
	return &Viewer{ID: reader, Now: now, Relation: func(id uint64) Relation { return relations[id] }}
}

// by makes a post, newer than those made before.
func by(author uint64, change ...func(*post.Post)) *post.Post {
	p := &post.Post{Author: author}
	lastID = event.Next(author, lastID, now, 0)
	p.ID, p.Ver = lastID, 1
	for _, f := range change {
		f(p)
	}
	return p
}

var lastID uint64

func mentions(ids ...uint64) func(*post.Post) { return func(p *post.Post) { p.Mentions = ids } }
func in(language string) func(*post.Post)     { return func(p *post.Post) { p.Language = language } }
func state(s post.State) func(*post.Post)     { return func(p *post.Post) { p.State = s } }
func forWhom(v post.Visibility) func(*post.Post) {
	return func(p *post.Post) { p.Visibility = v }
}
func repliesTo(account uint64) func(*post.Post) {
	return func(p *post.Post) { p.ReplyTo, p.ReplyWho = 5<<22, account }
}
func absent(p *post.Post) { p.Ver = 0 }

type judgeCase struct {
	name string
	p    *post.Post // or
	of   *post.Post // reposted by
	by   uint64
	want Reason
}

var judgeCases = []judgeCase{
	{name: "own", p: by(reader)},
	{name: "own, to a stranger", p: by(reader, repliesTo(stranger))},
	{name: "own, mentions somebody muted", p: by(reader, mentions(mutedFriend, blocked))},
	{name: "own, for mentioned only", p: by(reader, forWhom(post.Direct))},
	{name: "own, deleted", p: by(reader, state(post.Deleted)), want: Deleted},
	{name: "own, hidden", p: by(reader, state(post.Hidden)), want: HiddenByAdmin},
	{name: "followed", p: by(friend)},
	{name: "stranger", p: by(stranger), want: NotFollowed},
	{name: "stranger who mentions", p: by(stranger, mentions(reader)), want: NotFollowed},
	{name: "asked", p: by(asked), want: NotFollowed},
	{name: "unknown account", p: by(99), want: NotFollowed},
	{name: "blocked", p: by(blocked), want: Blocking},
	{name: "blocker", p: by(blocker), want: BlockedBy},
	{name: "half blocked", p: by(halfBlocked), want: Blocking},
	{name: "half blocked by", p: by(halfBlockedBy), want: BlockedBy},
	{name: "muted stranger", p: by(muted), want: NotFollowed},
	{name: "muted", p: by(mutedFriend), want: Muting},
	{name: "muted for a while", p: by(mutedToday), want: Muting},
	{name: "mute that is over", p: by(mutedThen)},
	{name: "deleted", p: by(friend, state(post.Deleted)), want: Deleted},
	{name: "deleted, by somebody blocked", p: by(blocked, state(post.Deleted)), want: Blocking},
	{name: "hidden", p: by(friend, state(post.Hidden)), want: HiddenByAdmin},
	{name: "no row", p: by(friend, absent), want: Missing},
	{name: "no post", want: Missing},
	{name: "unlisted", p: by(friend, forWhom(post.Unlisted))},
	{name: "for followers", p: by(friend, forWhom(post.Followers))},
	{name: "for others", p: by(friend, forWhom(post.Direct), mentions(friend2)), want: MentionedOnly},
	{name: "for the reader", p: by(friend, forWhom(post.Direct), mentions(friend2, reader))},

	{name: "reply to the reader", p: by(friend, repliesTo(reader))},
	{name: "reply to oneself", p: by(friend, repliesTo(friend))},
	{name: "reply to somebody followed", p: by(friend, repliesTo(friend2))},
	{name: "reply to a stranger", p: by(friend, repliesTo(stranger)), want: ReplyToStranger},
	{name: "reply to somebody asked", p: by(friend, repliesTo(asked)), want: ReplyToStranger},
	{name: "reply to somebody unknown", p: by(friend, repliesTo(0)), want: ReplyToStranger},
	{name: "reply to a stranger that mentions the reader", p: by(friend, repliesTo(stranger), mentions(reader)), want: ReplyToStranger},

	{name: "mentions a stranger", p: by(friend, mentions(stranger, blocker))},
	{name: "mentions somebody blocked", p: by(friend, mentions(stranger, blocked)), want: MentionsBlocking},
	{name: "mentions somebody muted", p: by(friend, mentions(reader, muted)), want: MentionsMuting},
	{name: "mentions somebody whose mute is over", p: by(friend, mentions(mutedThen))},
	{name: "for the reader and somebody blocked", p: by(friend, forWhom(post.Direct), mentions(reader, blocked)), want: MentionsBlocking},

	{name: "en for en", p: by(english, in("en"))},
	{name: "EN for en", p: by(english, in("EN"))},
	{name: "pt-br for pt-BR", p: by(english, in("pt-br"))},
	{name: "pt for pt-BR", p: by(english, in("pt")), want: OtherLanguage},
	{name: "de for en", p: by(english, in("de")), want: OtherLanguage},
	{name: "de for en, to the reader", p: by(english, in("de"), repliesTo(reader), mentions(reader)), want: OtherLanguage},
	{name: "unknown language", p: by(english)},
	{name: "de for all", p: by(friend, in("de"))},

	{name: "repost of a stranger", of: by(stranger), by: friend},
	{name: "repost of a reply", of: by(stranger, repliesTo(asked)), by: friend},
	{name: "repost in de", of: by(friend, in("de")), by: english},
	{name: "repost of de by an author for en", of: by(english, in("de")), by: friend},
	{name: "repost by a stranger", of: by(friend), by: stranger, want: NotFollowed},
	{name: "repost by somebody muted", of: by(friend), by: mutedFriend, want: Muting},
	{name: "repost by somebody blocked", of: by(friend), by: blocked, want: Blocking},
	{name: "repost by somebody quiet", of: by(friend), by: quiet, want: RepostsHidden},
	{name: "repost of somebody quiet", of: by(quiet), by: friend},
	{name: "post of somebody quiet", p: by(quiet)},
	{name: "repost of somebody muted", of: by(muted), by: friend, want: FromMuting},
	{name: "repost of somebody muted and followed", of: by(mutedFriend), by: friend, want: FromMuting},
	{name: "repost of a mute that is over", of: by(mutedThen), by: friend},
	{name: "repost of somebody blocked", of: by(blocked), by: friend, want: FromBlocking},
	{name: "repost of a blocker", of: by(blocker), by: friend, want: FromBlockedBy},
	{name: "own repost of a blocker", of: by(blocker), by: reader, want: FromBlockedBy},
	{name: "own repost of somebody blocked", of: by(blocked), by: reader, want: FromBlocking},
	{name: "own repost of somebody muted", of: by(muted), by: reader, want: FromMuting},
	{name: "own repost that mentions somebody muted", of: by(stranger, mentions(muted)), by: reader, want: MentionsMuting},
	{name: "own repost", of: by(stranger), by: reader},
	{name: "own repost of an own post that mentions somebody muted", of: by(reader, mentions(muted)), by: reader},
	{name: "repost of an own post that mentions somebody muted", of: by(reader, mentions(muted)), by: friend},
	{name: "repost of an own post, deleted", of: by(reader, state(post.Deleted)), by: friend, want: Deleted},
	{name: "repost that mentions somebody blocked", of: by(stranger, mentions(blocked)), by: friend, want: MentionsBlocking},
	{name: "repost of a deleted post", of: by(stranger, state(post.Deleted)), by: friend, want: Deleted},
	{name: "repost of a deleted post of somebody muted", of: by(muted, state(post.Deleted)), by: friend, want: FromMuting},
	{name: "repost of a hidden post", of: by(stranger, state(post.Hidden)), by: friend, want: HiddenByAdmin},
	{name: "repost of no row", of: by(stranger, absent), by: friend, want: Missing},
	{name: "repost of a post for followers of a stranger", of: by(stranger, forWhom(post.Followers)), by: friend, want: FollowersOnly},
	{name: "repost of an own post for followers", of: by(friend, forWhom(post.Followers)), by: friend},
	{name: "repost of a post for others", of: by(friend, forWhom(post.Direct)), by: friend, want: MentionedOnly},
}

func TestViewer_Judge(t *testing.T) {
	v := newViewer()
	for _, c := range judgeCases {
		t.Run(c.name, func(t *testing.T) {
			p := c.p
			if c.of != nil {
				p = by(c.by)
				p.Origin, p.Visibility = c.of.ID, c.of.Visibility
			}
			e := event.Event{ID: 9<<22 | friend, Author: friend}
			if p != nil {
				e = p.Event()
			}
			got := v.Judge(e, p, c.of)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if sifted := v.Sift([]event.Event{e}); (sifted[0] == Gone) != (got.Verdict() == Gone) {
				t.Errorf("sifted to %d, judged %q", sifted[0], got)
			}
		})
	}
}

// What a cache says of an event may be of a history that is lost.
func TestViewer_Judge_OtherRow(t *testing.T) {
	v := newViewer()
	of, other, p := by(stranger), by(stranger), by(friend)
	p.Origin = of.ID
	older := *p
	older.ID = of.ID - 1<<22
	for _, c := range []struct {
		name  string
		e     event.Event
		p, of *post.Post
		want  Reason
	}{
		{"other author", event.Event{ID: p.ID, Author: friend2, Origin: of.ID}, p, of, Missing},
		{"other id", event.Event{ID: p.ID + 1<<22, Author: friend, Origin: of.ID}, p, of, Missing},
		{"a post", event.Event{ID: p.ID, Author: friend}, p, nil, Missing},
		{"other origin", event.Event{ID: p.ID, Author: friend, Origin: other.ID}, p, other, Missing},
		{"the row of another origin", p.Event(), p, other, Missing},
		{"no row of the origin", p.Event(), p, nil, Missing},
		{"older than what it reposts", older.Event(), &older, of, BeforeOrigin},
	} {
		if got := v.Judge(c.e, c.p, c.of); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := v.Judge(p.Event(), p, of); got != Stands {
		t.Errorf("got %q, want %q", got, Stands)
	}
}

func TestViewer_Why(t *testing.T) {
	v := newViewer()
	name := func(id uint64) string { return "@a" + strconv.FormatUint(id, 10) }
	for _, c := range []struct {
		p, of *post.Post
		want  string
	}{
		{by(friend), nil, "it stands in this home"},
		{by(stranger), nil, "by an account that the reader does not follow: @a4"},
		{by(mutedFriend), nil, "by an account that the reader mutes: @a8"},
		{by(mutedToday), nil, "by an account that the reader mutes: @a9, until 2026-11-22 12:00:01 UTC"},
		{by(english, in("de")), nil, "in a language that the reader does not want from this account: @a12 posts in de, and the reader follows this account for en, pt-BR only"},
		{by(friend, repliesTo(stranger)), nil, "a reply to somebody whom the reader does not follow: @a4"},
		{by(friend, repliesTo(0)), nil, "a reply to somebody whom the reader does not follow"},
		{by(friend, mentions(mutedToday)), nil, "mentions an account that the reader mutes: @a9, until 2026-11-22 12:00:01 UTC"},
		{by(friend), by(muted), "reposted from an account that the reader mutes: @a7"},
		{by(friend), by(stranger, state(post.Deleted)), "a repost of a post that does not stand: deleted"},
		{by(friend), by(stranger, state(post.Hidden)), "a repost of a post that does not stand: hidden by an administrator"},
		{by(friend, state(post.Deleted)), by(stranger), "deleted"},
		{by(quiet), by(friend), "the reader hides reposts by this account: @a11"},
	} {
		if c.of != nil {
			c.p.Origin = c.of.ID
			c.p.ID = event.Next(c.p.Author, c.of.ID, now, 0)
		}
		if got := v.Why(c.p.Event(), c.p, c.of, name); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// Every reason has a sentence and a verdict, and none is out of reach.
func TestReason(t *testing.T) {
	reached := map[Reason]bool{BeforeOrigin: true}
	for _, c := range judgeCases {
		reached[c.want] = true
	}
	for r := range numReasons {
		if s := r.String(); s == "" || strings.HasPrefix(s, "reason ") {
			t.Errorf("%d has no sentence", r)
		}
		if !reached[r] {
			t.Errorf("no case for %q", r)
		}
		if got := r.Verdict(); got == Unknown || (got == Shown) != (r == Stands) {
			t.Errorf("%q has the verdict %d", r, got)
		}
	}
	if got := numReasons.String(); got != "reason 19" {
		t.Errorf("got %q", got)
	}
}

func TestConcerned(t *testing.T) {
	p, of := by(friend, repliesTo(stranger), mentions(muted, blocked)), by(friend2)
	got := Concerned(nil, p, nil, of)
	if want := []uint64{friend, stranger, muted, blocked, friend2}; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
}
