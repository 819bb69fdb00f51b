// Package home decides what stands in a home timeline: what the accounts that a reader
// follows, and the reader, posted and reposted.
//
// A home is a pure function of what is there now: relations, posts, reposts. Whatever keeps
// a part of it (memcached, the timeline row, author feeds) keeps candidates only: all events
// of those followed, maybe some of others. Judge and Page make the home of them.
//
//	candidates ── Sift ── events of the home ── Page ⇄ Judge ── entries
//	                      whose they are        posts are read
//
// # Tiers
//
//	hot    the line in memcached, with what was pushed to it; the feeds of those who are not
//	       pushed are merged in
//	warm   the timeline row, where most feeds are not cached: the database says which changed
//	       since, and only these are read
//	cold   the feeds of all followed; for what is older than the line, around the page
//
// A line, made from any of them, is for the ver of the reader's relation row that it names, or,
// where that has changed since, for the followed set of which it has the hash. It is made
// anew after Recheck, and once a week from feeds alone. The row is written when a hot line
// that was much pushed to is stored again, and by the job checkpoint.
//
// A reading begins with one question to memcached (Ahead) for all that it needs in any case:
// the reader's relation row, its own feed, the line and its presence, and the marks that the
// answer shows. A second one brings the posts and what they repost. A page looks at a
// part of the line only, 100 events on both sides of where it begins, and at more as the
// rules below ask.
//
// The first page took these milliseconds (BenchmarkService_Home_Tiers, 2 cores of an AMD EPYC
// that others used, too):
//
//	follows                              10    100   1,000
//	hot                                 0.2    0.2     0.6
//	cold, feeds cached                  1.5    0.7     4.1
//	memcached empty, with a row         6.2    1.6     7.1
//	memcached empty, without            4.5    3.3      20
//
// So the row is not even read where feeds are cached, or few are missing.
//
// # Below the line
//
// A page below the line gathers what lies around it from all feeds, and from the table of
// posts where these end. It gathers Cap events more than it needs where the next pages are
// going to look, and keeps them as one window of the reader, beside the line: the next pages
// begin there, and extend it. 40 such pages, one after the other, took per page (milliseconds of
// processor time, BenchmarkService_Home_Deep):
//
//	follows                              10    100   1,000
//	without a window                    0.9    1.1     5.9
//	with it                             0.3    0.4     0.9
//
// A window has candidates only, as a line has, so deletes, blocks and options count at once. It
// is for one ver of the reader's relation row, and ends when a mute does: it lacks those who
// are muted. Nothing is pushed to it, so the newest minute is left out of it, and what comes
// late, as posts of the past that are imported, comes when the window ends: after Recheck,
// half of that where it goes back a month, a fifth where a year. Pages of the same walk
// may differ by what was imported in these minutes, as they may by what is imported between.
//
// # Building a line
//
// A line is built from the feeds of all followed, AtOnce (1,000) at a time: of these the
// newest Cap events are kept, and the floor from which on none is missing. A feed that ends
// below the floor is not unpacked. So the memory is bounded, whomever a reader follows. It took
// (BenchmarkService_Home_Many, with 100 events a feed; in brackets what it took when all feeds
// were read at once):
//
//	follows                          10,000             60,000
//	feeds cached              0.1 s, 20 MB (124)     0.5 s, 20 MB (1,070)
//	memcached empty           0.4 s, 20 MB (175)     1.4 s, 24 MB (1,050)
//
// It is not tied to a request: it goes on when that ends, for a minute at most, and other
// requests of the reader in this process wait for the same one. A request that ends before is
// answered 503, with Retry-After, and the next one finds the line. A page of what is there so
// far would be no answer: it would lack posts in the middle, and whoever pages on from it
// never sees them.
//
// # Events of the home
//
// They are what the reader and those followed posted and reposted, but for accounts that the
// reader blocks or mutes or that block the reader, and for reposts that the reader hides.
// Sift tells them by relations alone. A mute that has ended does not count.
//
// An event that happened stays one, also where its post is deleted or the repost undone. So
// a tier must keep such events, as author feeds do; else homes from different tiers would
// differ. See "distance" below.
//
// A repost is newer than what it reposts: who makes its id sees to that, whatever clocks
// say. Another is no event.
//
// # Judge: may this event be shown?
//
//	posts       there, live, and to be seen by the reader (app/post.Visible); the reposted one, too
//	from        no reposts from somebody whom the reader blocks or mutes, or who blocks the reader
//	mentions    of nobody whom the reader blocks or mutes, in the post or in the reposted one
//	replies     to the reader, to somebody whom the reader follows, or to the author's own posts
//	languages   where the reader chose some for the author: these, or none known
//
// What the reader wrote is shown whomever it mentions or answers, and however it comes. The
// rules of replies and languages are not for reposted posts.
//
// # Page: which events are one entry?
//
// Events stand by id. One that is shown joins the last occurrence of its post, which is the
// next older event that is shown and brings the same post, if the two are near: fewer than
// Window (KITH_REPOST_WINDOW) other posts are brought by the events of the home between
// them, and these are fewer than Reach, which is ten windows. Events joined one to the next
// are one entry:
//
//	id            9        8        7        6        5        4        3
//	brings        A        B        A        C        D        A        E       window 2
//	              └───────near──────┘        └──two posts──┘   │
//	entries                8:B      7:A<9<7  6:C      5:D      4:A      3:E
//
// It stands at its oldest event, which is the post itself where the entry has it, and whose
// id is what paging goes by. So a new repost never moves an entry. When the oldest event
// goes, the next takes its place. The sources of an entry are its reposts, but for those
// that Reach or more events lie between them and the oldest.
//
// The distance counts what happened, not what is shown. It would cost each page the read of
// a window of posts to know what of it is shown; and a post that is deleted or hidden would
// join or part the entries around it.
//
// # Bounds
//
// A page of some entries usually reads these posts, the other sources of them, and a quarter
// more; two rounds where some of it is not shown. With 800 events in the span the rest
// takes some 20 microseconds.
//
// Where thousands repost the same posts, or nearly nothing is shown, Reach and Passed bound
// the work, whatever anybody does. Both count events, which no tier sees differently. A page
// rests on the events between 2 Reach above its first entry and Reach below its last, and
// reads at most limit * 5/4 + 2 Passed + 3 Reach posts. For a window of 80: Reach is 800,
// Passed 8,000, and a page of 20 needs 11,000 events and 18,500 posts in the worst case, 25 to
// 50 posts in practice. The events come from the line; where it is built for the page, one feed
// of each followed account is read, 800 events each at most. Below the line, where no window
// helps, these feeds are read again, and parts of the table of posts of authors whose feeds end
// above the page's last event: as many events as the page looks at, and some 20 more of each
// such author. Passed cuts pages, not the home: after so many events that start no
// entry a page is short, maybe empty, and its Next says where to go on.
//
// # What a walk holds while others change things
//
// A walk by Before, from one page to its Next, while others post, repost, undo, delete:
//
//   - no entry is shown twice;
//   - an entry that is there from the first page to the last is shown once, unless it is
//     newer than the walk;
//   - a post is shown twice only where it stood twice when it was shown first.
//
// A post is missed only where its entry moves up past the walk: all that was below was
// undone, and what is left was shown before as a source, or would have been. Where the
// reader follows, unmutes or unblocks somebody in the middle, an older occurrence of a post
// that was shown may come to be there, below.
package home
