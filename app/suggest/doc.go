// Package suggest decides whom an account may want to follow: those whom the
// people closest to it follow.
//
// The sources are up to 50 of the accounts it follows, those with the highest
// affinity and then the newest, each with up to its 200 newest followings:
//
//	weight(x) = sum over the sources f that follow x of 1 + s(f)
//
// where s is the affinity as of now. The best 100 are kept, in order and without
// their weights. So the work for one account is bounded: its own rows, 50 rows
// of others and at most 10,000 candidates.
//
// Left out are oneself and whom one follows, has asked to follow, blocks, mutes
// or has dismissed, and who blocks one: when suggestions are made, and once more
// when they are read, since much may have changed meanwhile. They are made for
// accounts that were seen lately, again when they are older than so long.
package suggest
