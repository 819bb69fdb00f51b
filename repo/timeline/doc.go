// Package timeline keeps home timelines: the hot ones of those who are around, in memcached
// ([Lines]), and warm ones of those who read lately, a row each ([Store]). What they hold
// are candidates, events of those whom the reader follows: whether one may be shown is
// decided when it is read.
//
//	poster   commit ──> Push: presence of followers? ──> append to the lines of those
//	reader   Load ── missing ──> Begin ──> author feeds ──> Store
//
// # The items of a hot line
//
//	h1:abc    nonce, base: packed events │ record │ record …    appended by Push
//	h1:abc+   nonce, when it was renewed                        the presence
//	h1:abc:w1 times, floor, high, packed events                 a window below the line
//
// A follower is around where there is a presence; a Push asks for those of 250 followers at
// once, and appends to the lines of the ones who are. Where there is no line any more,
// memcached refuses to append, and nobody misses anything: the next reader builds the line.
// The presence lives longer, so that a line seldom loses it.
//
// # The promise
//
// A line that Load returns holds every event whose Push had returned when Load was called,
// and what the author feeds had when Begin returned. Why:
//
// A post is committed first and then asks for the presence. A reader first puts a presence,
// with a nonce that no line had before, and then reads the feeds. So one of both sees the
// other: the reader finds the post in a feed, or the post finds the presence, and appends.
//
// A presence that is lost, by eviction or expiry, never comes back: the next has another
// nonce. A line whose presence is missing or has another nonce was not appended to for some
// time, nobody knows how long. It counts as missing.
//
// What is appended while a reader builds stands behind the empty item that Begin put. Store
// replaces, by compare-and-swap, exactly the bytes that its token stands for, and keeps what
// stands behind them. If those bytes are not there any more, another reader has begun a line
// or stored one, and Store leaves it alone. So of two readers who build at once, the one
// who began last stores; both show what they made.
//
// An append that memcached refuses has the line deleted, too. Its answer is the same
// whether there is no line or no memory for a longer one.
//
// # Failure
//
// An append that is not answered leaves a dirty key: the line is deleted before its server
// is read again (repo/memcache). Where a server could not be asked for presences, Push says
// so, and is to be repeated: it adds nothing twice to a line. A process that dies between
// Begin and Store leaves a line that is being built, which is none. One that dies in a Push
// leaves its task to another (app/home). Commands that memcached carries out late do no
// harm: an append adds what is there already, a late Begin leaves no line, a late swap fails
// unless nothing changed.
//
// A server that is away for one process and not for another makes lines lack events until
// the Push is repeated. So does a cache that still has an old author feed when it is read.
// Both are bounded: a reader builds a line anew some minutes after BuiltAt. So a Push that is
// older than that need not be repeated.
//
// No clock decides what a line holds. BuiltAt is by the clock of who built it, and that of
// the presence only says when both are to be renewed.
//
// Who can write to memcached can hide posts from homes: a line has no checksum. A hot line is
// built anew some minutes after BuiltAt. But lines are saved to warm rows, and built from
// these, so that a row lacks the posts, too, up to a week long, when it is built from feeds
// alone (app/home). He cannot show any: the rules ask the rows of posts and relations.
//
// A [Window] is what a reader who pages down below the line gathered there. It is set and read
// as it is: whoever reads it decides whether it is good (app/home).
//
// # Warm timelines
//
// A row of the table timeline is a line as it was at some time, for when there is no hot one.
// A row whose line was built later is never replaced by an earlier one ([Store.Save]). A row
// is a start: what was posted after its BuiltAt is in the author feeds, and all rows may be
// deleted. So they expire some time after they were written, and bad bytes count as no row.
//
// [Local] keeps the same items in the memory of one process, [None] keeps nothing.
package timeline
