// Package post decides what accounts may do with posts, and who sees them.
package post

import (
	"slices"
	"time"

	"kith/repo/list"
	"kith/repo/post"
)

// Access says whether somebody may see a post, and if not, why.
type Access uint8

// What Access says.
const (
	Granted       Access = iota
	Absent               // there is no such post
	Deleted              // by its author
	Hidden               // by an administrator
	Blocked              // its author blocks the viewer, or the viewer its author
	FollowersOnly        // the viewer neither follows its author nor is mentioned
	MentionedOnly        // the viewer is not mentioned
)

// Visible reports whether a viewer may see a post. It is the one place that decides it, for
// every route.
//
// rel is what the author of the post is to the viewer. A viewer of 0 is anybody without an
// account. Who reposted a post does not count: a repost is seen by those who may see both
// the repost and what it reposts.
func Visible(viewer uint64, rel list.Rel, p *post.Post) bool {
	return AccessTo(viewer, rel, p) == Granted
}

// AccessTo says why a viewer may not see a post, for people who run the service. The viewer
// only learns that there is no such post.
func AccessTo(viewer uint64, rel list.Rel, p *post.Post) Access {
	switch {
	case p == nil || p.Ver == 0:
		return Absent
	case p.State == post.Deleted:
		return Deleted
	case p.State != post.Live:
		return Hidden
	case viewer == p.Author && viewer != 0:
		return Granted
	case viewer == 0:
		rel = 0
	case blocked(rel):
		return Blocked
	}
	mentioned := viewer != 0 && slices.Contains(p.Mentions, viewer)
	switch p.Visibility {
	case post.Public, post.Unlisted:
		return Granted
	case post.Followers:
		if mentioned || rel&list.IsFollowing != 0 {
			return Granted
		}
		return FollowersOnly
	}
	if mentioned {
		return Granted
	}
	return MentionedOnly
}

// Named reports whether an account that favours or reposted a post which the viewer sees is
// named to the viewer: not where either blocks the other, or the viewer mutes it now. rel is
// what the account is to the viewer, o what the viewer chose about it.
func Named(rel list.Rel, o list.Option, now time.Time) bool {
	muted := rel&list.IsMuting != 0 && (o.MuteUntil == 0 || int64(o.MuteUntil) > now.Unix())
	return !blocked(rel) && !muted
}

// seenBits are those of a relation that decide what is seen.
const seenBits = list.IsFollowing | list.IsBlocking | list.IsBlockedBy

func blocked(rel list.Rel) bool { return rel&(list.IsBlocking|list.IsBlockedBy) != 0 }

// narrowest returns the narrowest visibility of which a viewer sees all posts of an author that
// are not hidden. Of others it may see some: where it is mentioned.
func narrowest(viewer, author uint64, rel list.Rel) post.Visibility {
	switch {
	case viewer == author && viewer != 0:
		return post.Direct
	case viewer != 0 && rel&list.IsFollowing != 0:
		return post.Followers
	}
	return post.Unlisted
}
