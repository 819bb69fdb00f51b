// Package account keeps the accounts: a row for each, the names they claimed, tombstones
// of erased ones, and the sequence of ids for accounts to which the product gives none.
//
// A name is claimed by a row of the table username, whose bucket comes from the name, so
// that a look-up by name touches one bucket and no two accounts have one name. Claim
// and account row are written in one transaction. Names are kept as written and claimed
// in lower case. A sharding engine may keep one of the two rows after a crash: creating
// the account again writes what is missing, and the audit finds the rest (Names).
//
// Ids that the product gives move the sequence past them while they fit in 32 bits, so
// that lists keep 4 bytes an id as long as they can.
//
// An erased account leaves a tombstone in account_erased, in its own bucket: its id is
// never used again, so that a second import of an old file does not bring it back.
package account
