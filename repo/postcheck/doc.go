// Package postcheck reads the tables about posts as they are, bucket by bucket, for an audit
// (app/audit): pages of rows in key order, look-ups of what others say of them, and whether
// a task is still to make them agree. All of it comes from the database.
//
// A link is what stands at a post about somebody else's act: a reply, a repost, a favourite.
// The act is the post that replies or reposts, or the mark of the favourite, in the bucket
// of who acted.
//
// Rows of any table that lie in a wrong bucket are found by Strays. What reads replies,
// reactions and keys passes over them: what repairs a row looks for it in the right bucket.
package postcheck
