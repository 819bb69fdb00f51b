// Package affinity decides how close accounts are to each other, from what they
// do with each other, and puts an account's friends into that order.
//
//	s(u) = sum over the events of w(kind) · 2^-((u-t)/H)
//
// The weights w and the half-life H are settings. The folder works through the
// log bucket by bucket: it loads the batches of a bucket, adds their events to
// the rows of the actors, keeps the highest scores of each row, and has rows and
// batches swapped and deleted in one transaction. Somebody who falls out of a
// full row begins at nothing again. When weights or half-life change, what was
// folded before keeps the scores it had, and fades with the new half-life.
//
// What the scores are for is order alone. They leave this package only for the
// suggest job, and never the program.
//
// # The order of friends
//
// First the friends with a score, highest first, then the others, newest
// friendship first. A page ends at a cursor
//
//	s<ver>-<rank>-<id>   among the scored: the account at that rank of the row's ver
//	r<ver>-<time>-<id>   among the others, without those that ver scored
//
// (ver in base 36). Both name the version of the affinity row with which the
// first page began, and the row is kept under that version in the cache, so
// that folds in between neither repeat nor skip anybody. Where the cache has
// lost it, the order goes on in the row as it is now: after the same account, or
// after the same rank if that account is gone; then somebody whose score crossed
// the reader's position may come twice or not at all, once.
//
// Friends that stand in the archive of a long list come among the others,
// whatever their score.
package affinity
