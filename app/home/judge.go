package home

import (
	"fmt"
	"slices"
	"strings"
	"time"

	visible "kith/app/post"
	"kith/repo/event"
	"kith/repo/list"
	"kith/repo/post"
)

// Relation is what an account is to the viewer. The zero Relation is a stranger.
type Relation struct {
	Rel    list.Rel
	Option list.Option
}

// Viewer is whose home it is.
type Viewer struct {
	ID  uint64
	Now time.Time
	// Relation returns what an account is to the viewer. It is asked about those that count
	// for what is judged, see Concerned, and sometimes about the viewer.
	Relation func(account uint64) Relation
}

// Concerned appends the accounts whose relation to the viewer counts for an event that
// brings these posts: who wrote them, whom they answer, whom they mention. Posts may be nil.
func Concerned(ids []uint64, posts ...*post.Post) []uint64 {
	for _, p := range posts {
		if p == nil {
			continue
		}
		ids = append(ids, p.Author)
		if p.ReplyWho != 0 {
			ids = append(ids, p.ReplyWho)
		}
		ids = append(ids, p.Mentions...)
	}
	return ids
}

// Reason says why an event stands in a home, or why not.
type Reason uint8

// The reasons. Those from NotFollowed to BeforeOrigin say that the event is none of this
// home's, see the package doc; those behind them say that it is one which is not shown.
const (
	Stands Reason = iota

	NotFollowed
	Blocking
	BlockedBy
	Muting
	RepostsHidden
	BeforeOrigin

	Missing
	Deleted
	HiddenByAdmin
	FollowersOnly
	MentionedOnly
	FromBlocking
	FromBlockedBy
	FromMuting
	MentionsBlocking
	MentionsMuting
	ReplyToStranger
	OtherLanguage
	numReasons
)

var sentences = [numReasons]string{
	Stands:           "it stands in this home",
	NotFollowed:      "by an account that the reader does not follow",
	Blocking:         "by an account that the reader blocks",
	BlockedBy:        "by an account that blocks the reader",
	Muting:           "by an account that the reader mutes",
	RepostsHidden:    "the reader hides reposts by this account",
	BeforeOrigin:     "older than the post that it reposts",
	Missing:          "there is no such post",
	Deleted:          "deleted",
	HiddenByAdmin:    "hidden by an administrator",
	FollowersOnly:    "for followers only",
	MentionedOnly:    "for mentioned accounts only",
	FromBlocking:     "reposted from an account that the reader blocks",
	FromBlockedBy:    "reposted from an account that blocks the reader",
	FromMuting:       "reposted from an account that the reader mutes",
	MentionsBlocking: "mentions an account that the reader blocks",
	MentionsMuting:   "mentions an account that the reader mutes",
	ReplyToStranger:  "a reply to somebody whom the reader does not follow",
	OtherLanguage:    "in a language that the reader does not want from this account",
}

// String returns the reason in words.
func (r Reason) String() string {
	if r < numReasons {
		return sentences[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// Verdict is what the merge of events must know of one.
type Verdict uint8

// The verdicts.
const (
	Unknown Verdict = iota // not judged yet
	Shown                  // it stands
	Hidden                 // it is one of this home's events, and is not shown
	Gone                   // it is none of this home's events
)

// Verdict returns what the reason means for the merge.
func (r Reason) Verdict() Verdict {
	switch {
	case r == Stands:
		return Shown
	case r <= BeforeOrigin:
		return Gone
	default:
		return Hidden
	}
}

// Sift returns Gone for the events that are none of this home's and Unknown for the others.
// It needs the relations to the authors only.
func (v *Viewer) Sift(events []event.Event) []Verdict {
	out := make([]Verdict, len(events))
	for i, e := range events {
		if v.sift(e).reason != Stands {
			out[i] = Gone
		}
	}
	return out
}

// Judge says whether an event may stand in the viewer's home. p is the post of the event,
// and origin what it reposts; nil or Ver 0 where there is none.
func (v *Viewer) Judge(e event.Event, p, origin *post.Post) Reason {
	return v.judge(e, p, origin).reason
}

// Why says why an event stands in the viewer's home or does not, in a sentence for support
// people. name returns what to call an account.
func (v *Viewer) Why(e event.Event, p, origin *post.Post, name func(account uint64) string) string {
	f := v.judge(e, p, origin)
	s := f.reason.String()
	if f.origin {
		s = "a repost of a post that does not stand: " + s
	}
	if f.account == 0 {
		return s
	}
	s += ": " + name(f.account)
	o := v.Relation(f.account).Option
	switch f.reason {
	case Muting, FromMuting, MentionsMuting:
		if o.MuteUntil != 0 {
			s += ", until " + time.Unix(int64(o.MuteUntil), 0).UTC().Format("2006-01-02 15:04:05 MST")
		}
	case OtherLanguage:
		s += " posts in " + p.Language + ", and the reader follows this account for " + strings.Join(o.Languages, ", ") + " only"
	}
	return s
}

// finding is a reason and whom or what it is about.
type finding struct {
	reason  Reason
	account uint64 // 0: no other account
	origin  bool   // it is about the post that is reposted
}

func (v *Viewer) judge(e event.Event, p, origin *post.Post) finding {
	if f := v.sift(e); f.reason != Stands {
		return f
	}
	if p != nil && p.Event() != e {
		p = nil
	}
	if r := v.access(p); r != Stands {
		return finding{reason: r}
	}
	if e.Origin == 0 {
		return v.judgePost(p)
	}
	if origin != nil && origin.ID != e.Origin {
		origin = nil
	}
	return v.judgeOrigin(origin)
}

// sift says whether an event is one of this home's.
func (v *Viewer) sift(e event.Event) finding {
	r, f := v.Relation(e.Author), finding{account: e.Author}
	switch {
	case e.Origin >= e.ID:
		return finding{reason: BeforeOrigin}
	case e.Author == v.ID:
		return finding{}
	case r.Rel&list.IsBlocking != 0:
		f.reason = Blocking
	case r.Rel&list.IsBlockedBy != 0:
		f.reason = BlockedBy
	case r.Rel&list.IsFollowing == 0:
		f.reason = NotFollowed
	case v.mutes(r):
		f.reason = Muting
	case e.Origin != 0 && r.Option.HideReposts:
		f.reason = RepostsHidden
	default:
		return finding{}
	}
	return f
}

// judgePost judges a post that its author's posting brings.
func (v *Viewer) judgePost(p *post.Post) finding {
	if p.Author == v.ID {
		return finding{}
	}
	who, o := p.ReplyWho, v.Relation(p.Author).Option
	switch {
	case p.ReplyTo != 0 && who != v.ID && v.Relation(who).Rel&list.IsFollowing == 0: // the author is followed
		return finding{reason: ReplyToStranger, account: who}
	case p.Language != "" && len(o.Languages) > 0 && !slices.ContainsFunc(o.Languages, func(code string) bool { return strings.EqualFold(code, p.Language) }):
		return finding{reason: OtherLanguage, account: p.Author}
	}
	return v.judgeMentions(p)
}

// judgeOrigin judges a post that a repost brings.
func (v *Viewer) judgeOrigin(p *post.Post) finding {
	if p != nil {
		f := finding{account: p.Author}
		switch r := v.Relation(p.Author); {
		case r.Rel&list.IsBlocking != 0:
			f.reason = FromBlocking
		case r.Rel&list.IsBlockedBy != 0:
			f.reason = FromBlockedBy
		case v.mutes(r):
			f.reason = FromMuting
		}
		if f.reason != Stands {
			return f
		}
	}
	if r := v.access(p); r != Stands {
		return finding{reason: r, origin: true}
	}
	return v.judgeMentions(p)
}

// judgeMentions looks for accounts that the viewer does not want to hear of.
func (v *Viewer) judgeMentions(p *post.Post) finding {
	if p.Author == v.ID {
		return finding{}
	}
	for _, id := range p.Mentions {
		switch r := v.Relation(id); {
		case r.Rel&list.IsBlocking != 0:
			return finding{reason: MentionsBlocking, account: id}
		case v.mutes(r):
			return finding{reason: MentionsMuting, account: id}
		}
	}
	return finding{}
}

// access asks the one place that knows who may see a post. Blocks between the viewer and
// its author are found before.
func (v *Viewer) access(p *post.Post) Reason {
	var rel list.Rel
	if p != nil {
		rel = v.Relation(p.Author).Rel
	}
	switch visible.AccessTo(v.ID, rel, p) {
	case visible.Granted:
		return Stands
	case visible.Absent:
		return Missing
	case visible.Deleted:
		return Deleted
	case visible.FollowersOnly:
		return FollowersOnly
	case visible.MentionedOnly:
		return MentionedOnly
	}
	return HiddenByAdmin
}

// mutes reports whether the viewer mutes an account now.
func (v *Viewer) mutes(r Relation) bool {
	until := int64(r.Option.MuteUntil)
	return r.Rel&list.IsMuting != 0 && (until == 0 || until > v.Now.Unix())
}
