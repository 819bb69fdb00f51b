package post

import (
	"testing"

	"kith/repo/list"
	"kith/repo/post"
)

func TestAccessTo(t *testing.T) {
	const author, reader, other = 1, 2, 3
	make := func(v post.Visibility, s post.State, mentions ...uint64) *post.Post {
		p := &post.Post{Author: author, Visibility: v, State: s}
		p.ID, p.Ver, p.Mentions = 7<<22, 1, mentions
		return p
	}
	absent := make(post.Public, post.Live)
	absent.Ver = 0
	for _, c := range []struct {
		name   string
		viewer uint64
		rel    list.Rel
		p      *post.Post
		want   Access
	}{
		{"public for anybody", 0, 0, make(post.Public, post.Live), Granted},
		{"unlisted for anybody", 0, 0, make(post.Unlisted, post.Live), Granted},
		{"followers-only for anybody", 0, 0, make(post.Followers, post.Live), FollowersOnly},
		{"mentioned-only for anybody", 0, 0, make(post.Direct, post.Live), MentionedOnly},
		{"a relation of nobody", 0, list.IsFollowing, make(post.Followers, post.Live), FollowersOnly},
		{"a mention of nobody", 0, 0, make(post.Direct, post.Live, 0), MentionedOnly},
		{"public for a stranger", reader, 0, make(post.Public, post.Live), Granted},
		{"followers-only for a stranger", reader, 0, make(post.Followers, post.Live), FollowersOnly},
		{"followers-only for who is followed", reader, list.IsFollower, make(post.Followers, post.Live), FollowersOnly},
		{"followers-only for who asked to follow", reader, list.IsRequested, make(post.Followers, post.Live), FollowersOnly},
		{"followers-only for a follower", reader, list.IsFollowing, make(post.Followers, post.Live), Granted},
		{"followers-only for the mentioned", reader, 0, make(post.Followers, post.Live, other, reader), Granted},
		{"followers-only for the author", author, 0, make(post.Followers, post.Live), Granted},
		{"mentioned-only for a follower", reader, list.IsFollowing, make(post.Direct, post.Live, other), MentionedOnly},
		{"mentioned-only for the mentioned", reader, 0, make(post.Direct, post.Live, other, reader), Granted},
		{"mentioned-only for the author", author, 0, make(post.Direct, post.Live), Granted},
		{"unknown visibility", reader, list.IsFollowing, make(post.Direct+1, post.Live), MentionedOnly},
		{"the viewer blocks the author", reader, list.IsBlocking, make(post.Public, post.Live, reader), Blocked},
		{"the author blocks the viewer", reader, list.IsBlockedBy, make(post.Public, post.Live, reader), Blocked},
		{"a half edge of a block", reader, list.IsBlockedBy | list.IsFollowing, make(post.Followers, post.Live), Blocked},
		{"muted", reader, list.IsMuting, make(post.Public, post.Live), Granted},
		{"hidden", reader, 0, make(post.Public, post.Hidden), Hidden},
		{"hidden, for the author", author, 0, make(post.Public, post.Hidden), Hidden},
		{"deleted", reader, 0, make(post.Public, post.Deleted), Deleted},
		{"deleted, for the author", author, 0, make(post.Public, post.Deleted), Deleted},
		{"unknown state", author, 0, make(post.Public, post.Deleted+1), Hidden},
		{"no post", author, 0, nil, Absent},
		{"no row", author, 0, absent, Absent},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := AccessTo(c.viewer, c.rel, c.p); got != c.want {
				t.Errorf("AccessTo gives %d, want %d", got, c.want)
			}
			if got := Visible(c.viewer, c.rel, c.p); got != (c.want == Granted) {
				t.Errorf("Visible gives %t", got)
			}
		})
	}
}
