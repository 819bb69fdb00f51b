// Package suggest finds accounts that an account may want to follow: those that the
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
// Left out are the account itself, those that it follows, has asked to follow, blocks,
// mutes or has dismissed, and those that block it. This is checked when suggestions are
// made and again when they are read. They are made for accounts that were seen recently
// (Config.SeenWithin), and again when they are old (Config.Refresh).
package suggest
