// Package account keeps who there is: a row for each account, the names they
// claimed, and the sequence that ids come from when the product gives none.
//
// A name is claimed by a row of the table username, whose bucket comes from
// the name, so that a look-up by name touches one bucket and two accounts can
// never hold one name. Claim and account row are written in one transaction.
// Names are kept as they were written and claimed in lower case.
//
// A made id is the next of a sequence; ids that the product gives push the
// sequence past them while they fit in 32 bits, so that lists stay at 4 bytes
// an id as long as they can.
package account
