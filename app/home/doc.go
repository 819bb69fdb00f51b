// Package home decides what stands in a home timeline: what the accounts that a reader
// follows, and the reader, posted and reposted.
//
// A home is a pure function of what is there now: relations, posts, reposts. Whatever keeps
// a part of it (memcached, the timeline row, author feeds) keeps candidates only: events of
// those followed, maybe more than count, never fewer. Two functions make the home of them.
//
// # Judge: may this event stand?
//
//	author        the reader, or followed by the reader
//	posts         there, live, and to be seen by the reader (app/post.Visible), also the reposted one
//	people        nothing by, reposted by or reposted from somebody whom the reader blocks or mutes, or
//	              who blocks the reader; a mute that has ended does not count
//	mentions      none of somebody whom the reader blocks or mutes, in the post or in the reposted one
//	replies       to the reader, to somebody whom the reader follows, or to the author's own posts
//	options       no reposts by those whose reposts the reader hides; where the reader chose languages,
//	              posts in these or in no known one
//
// The rules of mentions, replies and options are not for what the reader wrote, however it
// comes; those of replies and languages are not for reposted posts.
//
// The events of a home are those that its tiers must hold: of the reader and those followed,
// live (a repost: its post, too), but for accounts blocked or muted and reposts that are
// hidden by option. The others are Gone: a tier may have them or not. Of the events of a
// home, most are Shown, the others are Hidden: to find that out takes a read of posts.
//
// A repost is newer than what it reposts: who makes its id sees to that, whatever clocks say.
// Another counts as missing.
package home
