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
// in its own place: a public key can never serve as a secret, and "none" is
// not a family. The claims are
//
//	sub     account id, decimal
//	scope   "read write follow", separated by spaces
//	exp     required
//	iat     not in the future, where present
//	iss,aud required to match where they are configured
//
// A scope that kith does not know grants nothing and does no harm, since a
// sign-in may put words of its own there. A parent covers its children: read
// covers read:follows. follow covers follows, blocks and mutes of both. Only
// write:interactions is covered by nothing but itself: it is for the product's
// own servers, so a sign-in must not grant it to people.
//
// # Failure
//
// ErrInvalid says that the token is no good and never will be. Where the keys
// of the sign-in could not be fetched yet, the answer is repo.ErrUnavailable
// instead, so that nobody is signed out because a server was down. A JWKS is
// fetched again every hour and when a token names a key that is not in it, at
// most twice a minute.
package token
