// Package affinity scores how close accounts are to each other, from what they do with
// each other, and orders an account's friends by score.
//
//	s(u) = sum over the events of w(kind) · 2^-((u-t)/H)
//
// The weights w and the half-life H are settings. The folder works through the
// log bucket by bucket: it loads the batches of a bucket, adds their events to
// the rows of the actors, keeps the highest scores of each row, and in one
// transaction swaps the rows and deletes the batches. An account that falls out of a
// full row starts at 0 again. When weights or half-life change, old scores stay, and
// fade with the new half-life.
//
// Scores serve for order alone. They leave this package only for the suggest job,
// and never the program.
//
// # The order of friends
//
// First the friends with a score, highest first, then the others, newest
// friendship first. A page ends at a cursor
//
//	s<ver>-<rank>-<id>   among the scored: the account at that rank of the row's ver
//	r<ver>-<time>-<id>   among the others, without those that ver scored
//
// (ver in base 36). Both name the version of the affinity row of the first page. The
// row is kept under that version in the cache, so that folds between two pages neither
// repeat nor skip a friend. If the cache has lost it, the order continues in the current
// row: after the same account, or after the same rank if that account is gone. Then a
// friend whose score has passed the cursor meanwhile may come twice or not at all.
//
// Friends in the archive of a long list come among the others, whatever their score.
package affinity
