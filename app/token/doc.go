// Package token decides which account a bearer token is for and what it allows.
//
// A token is a JWT that kith never stores. It comes from kith itself (`kith token`,
// HS256) or from the product's own sign-in, whose public key kith knows:
//
//	HS256                          a secret of 32 bytes or more, the only kind that Sign makes
//	EdDSA                          an Ed25519 public key in a PEM file
//	EdDSA, ES*, PS*, RS*           a JWKS, from a file or from the address of the sign-in
//
// Each family is accepted only if it is configured, and each has its own keys: a public
// key can never serve as a secret, and "none" is not a family. Keys in the header of a
// token are ignored. The claims are
//
//	sub     account id, a string of decimal digits
//	scope   "read write follow", separated by spaces
//	exp     required
//	iat     not in the future, where present
//	nbf     not in the future, where present
//	iss,aud required to match where they are configured; aud may be a list
//
// An unknown scope grants nothing and is no error, since a sign-in may have scopes of its
// own. A parent covers its children: read covers read:follows. follow covers follows,
// blocks and mutes of both. No other scope covers write:interactions: it is for the
// product's own servers, so a sign-in must not grant it to people.
//
// # What is refused
//
// Names in headers, claims and keys count exactly as written, and a repeated one makes
// the whole token bad: two programs must not read one token differently. Also bad are a
// token of more than MaxToken bytes, crit (no extension is known here), a typ other than
// JWT and at+jwt, and a known claim of another type than in RFC 7519. Times are
// seconds from 1970 to the year 9999; fractions are dropped. Other claims are ignored.
//
// # Keys of a sign-in
//
// A JWKS has at most 256 KiB and 32 keys. RSA has 2048 to 8192 bits, EC one of the curves
// P-256, P-384 and P-521, OKP is Ed25519. A key that is for encryption, pinned to
// another family or of another kind is ignored. So is a weak, broken or private key, which
// goes to Config.Problem; in a file it is an error. A fetch follows three redirects, to
// https only.
//
// The keys of an address are fetched every 20 seconds, and when a token names an unknown
// key, at most every 10 seconds. A key that is withdrawn thus verifies for half a minute
// at most, the time limit of the fetch included. A file is read once.
//
// # Failure
//
// ErrInvalid says that the token will never be good. Where the keys of the sign-in could
// not be fetched yet, or a token names an unknown key and the last fetch failed, the error
// is repo.ErrUnavailable instead, so that nobody is signed out because a server was down.
// Known keys stay good for a day while no fetch succeeds; each failure goes to
// Config.Problem.
package token
