// Package account keeps who there is: a row for each account, the names they
// claimed, who was erased, and the sequence that ids come from when the product
// gives none.
//
// A name is claimed by a row of the table username, whose bucket comes from
// the name, so that a look-up by name touches one bucket and two accounts can
// never hold one name. Claim and account row are written in one transaction.
// Names are kept as they were written and claimed in lower case. An engine that
// shards may keep one of the two after a crash: creating the account again writes what
// is missing, and the audit finds the rest (Names).
//
// A made id is the next of a sequence; ids that the product gives push the
// sequence past them while they fit in 32 bits, so that lists stay at 4 bytes
// an id as long as they can.
//
// An erased account leaves a tombstone in account_erased, in its own bucket: its
// id is never given to anybody again, whoever asks, so that an old file that is
// imported once more does not bring it back.
package account
