// Package bulk reads posts of a file into the database: those that people wrote before there
// was kith.
//
// A line is a JSON object: account, text, created_at, and what else Line has. A line may
// answer or repost another of the same file, earlier or later, by the key of that. Which post
// a line is depends on its account, its time and its key (without a key, on all that it says):
// the id is made of these, and the post keeps a hash of the key (post.Imported). So a second
// import of the file, or of one that has become longer, finds the posts and changes nothing,
// not even where one was deleted since. A key of an earlier file is found if that is imported
// again together with this one: a key alone does not say in which bucket its post is, and an
// index of all keys would cost more than that.
//
//	read    lines ──► checked, into a file on disk; their keys and times into sorters
//	link    keys ⋈ references; each line follows the one that it names, once
//	place   lines by id ──► is there such a post? else the next id that is free
//	posts   lines by author ──► new posts, the feed of the author: one transaction
//	counts  lines by the post that they answer ──► replies, reposts, counts
//
// Nothing is written before the last line is read and linked: a file with too many rejected
// lines changes nothing. A line that names one that is rejected is rejected, too, and so are
// lines that name each other in a circle. Linking looks at each line a few times, whatever the
// file has: a line waits until the one that it names was followed.
//
// Memory is bounded however long the file is: the lines lie on disk, about as long as in the
// file, with a header that the phases fill in and their first 80 bytes for the rejects, and some 100 bytes a line to sort. 200,000 posts
// of 20,000 authors, 4 of 10 replies or reposts, took 78 s and 113 MB on 2 busy cores, and 39 s
// the second time.
//
// # The id
//
// Its time is created_at; where that is the time of the post that is answered, or no later
// than what that was moved to, it is one millisecond later. Its sequence is a hash of the
// key. Where another post has that id the next one of the bucket is tried. Rows of posts are
// never deleted, so the search for a line always ends at its post, or at a free id.
//
// # What holds when
//
// Each post is there with its place in the feed of its author, or not at all. After an error,
// an interrupt or kill -9, some posts are there, and some replies and reposts are not counted:
// importing the file again completes it. Servers may run meanwhile.
//
// Nothing is pushed to home timelines. A home has the posts when it is built anew from
// the feeds of authors, after some minutes at most (home.DefaultRecheck).
package bulk
