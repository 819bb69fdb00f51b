// Package token decides who a bearer token speaks for and what it may do.
//
// A token is a JWT that kith never stores. It comes from kith itself (`kith
// token`, HS256) or from the product's own sign-in, which signs with a key
// whose public half kith knows:
//
//	HS256                          a secret of 32 bytes or more, the only kind that Sign makes
//	EdDSA                          an Ed25519 public key in a PEM file
//	EdDSA, ES*, PS*, RS*           a JWKS, from a file or from the address of the sign-in
//
// Each family is accepted only if it is configured, and each looks for its key
// apart from the others: a public key can never serve as a secret, and "none" is
// not a family. Keys in the header of a token are never looked at. The claims
// are
//
//	sub     account id, a string of decimal digits
//	scope   "read write follow", separated by spaces
//	exp     required
//	iat     not in the future, where present
//	nbf     not in the future, where present
//	iss,aud required to match where they are configured; aud may be a list
//
// A scope that kith does not know grants nothing and does no harm, since a
// sign-in may put words of its own there. A parent covers its children: read
// covers read:follows. follow covers follows, blocks and mutes of both. Only
// write:interactions is covered by nothing but itself: it is for the product's
// own servers, so a sign-in must not grant it to people.
//
// # What is refused
//
// Names in headers, claims and keys count exactly as they are written, and one
// that stands twice makes the whole token bad: two programs must not read two
// things out of one token. So do a token of more than MaxToken bytes, crit
// (no extension is known here), a typ other than JWT and at+jwt, and a known
// claim of another type than RFC 7519 gives it. Times are seconds from 1970 to
// the year 9999; fractions are dropped. Other claims may be anything.
//
// # Keys of a sign-in
//
// A JWKS has at most 256 KiB and 32 keys. RSA has 2048 to 8192 bits, EC one of
// the curves P-256, P-384 and P-521, OKP is Ed25519. A key that is for
// encryption, pinned to another family or of another kind verifies nothing. A
// weak or broken key, or a private one, verifies nothing and goes to
// Config.Problem; in a file it is an error. A fetch follows three redirects,
// to https only.
//
// The keys of an address are fetched again every 20 seconds, and when a token
// names a key that is not there, at most every 10 seconds. A key that is taken
// back thus verifies for half a minute at most, limits on the fetch included.
// A file is read once.
//
// # Failure
//
// ErrInvalid says that the token is no good and never will be. Where the keys
// of the sign-in could not be fetched yet, or a token names a new key and the
// last fetch failed, the answer is repo.ErrUnavailable instead, so that no one
// is signed out because a server was down. Keys that are there stay good for a
// day while no fetch succeeds; each failed one goes to Config.Problem.
package token
