package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"kith/app/token"
	"kith/config"
)

type tokenCmd struct {
	tool
	Account accountID     `required:"" placeholder:"ID" help:"The id of the account that the token acts as."`
	Scope   string        `default:"read write follow" help:"What the token may do: scopes separated by spaces."`
	TTL     time.Duration `name:"ttl" default:"24h" help:"How long the token is valid, 1s to 87600h (ten years)."`

	Token config.Token `embed:"" group:"Tokens"`
}

func (t *tokenCmd) lacks() bool { return t.tool.lacks() || t.Token.Secret.Reveal() == "" }

// Help is the text above the flags.
func (tokenCmd) Help() string {
	return "Prints the token and nothing else. The account must exist."
}

// maxTTL is the longest life of a token: ten years.
const maxTTL = 87600 * time.Hour

// Run prints the token and nothing else.
func (t *tokenCmd) Run(ctx context.Context) error {
	if t.TTL < time.Second || t.TTL > maxTTL {
		return wrong("--ttl: %v is not within 1s to %v", t.TTL, maxTTL)
	}
	scopes, err := token.ParseScopes(t.Scope)
	if err != nil {
		return wrong("--scope: %w", err)
	}
	if t.Token.Secret.Reveal() == "" {
		return wrong("KITH_TOKEN_SECRET (--token-secret) is not set: give it the secret of the server, or start `kith dev`, which makes one")
	}
	if err := config.Check(t.Token); err != nil {
		return err
	}
	// The secret alone: a public key cannot sign.
	tokens, err := openTokens(ctx, config.Token{Secret: t.Token.Secret, Issuer: t.Token.Issuer, Audience: t.Token.Audience}, nil)
	if err != nil {
		return err
	}
	text, err := tokens.Sign(uint64(t.Account), scopes, t.TTL)
	if err != nil {
		return coded{err, exitUsage}
	}
	return t.with(ctx, func(s *stack) error {
		missing, err := s.people.Missing(ctx, []uint64{uint64(t.Account)})
		if err == nil && missing[uint64(t.Account)] {
			return fmt.Errorf("--account: there is no account %d", t.Account)
		}
		if err == nil {
			fmt.Println(text)
		}
		return err
	})
}

// openTokens reads the keys of c. A JWKS is fetched again until ctx ends.
func openTokens(ctx context.Context, c config.Token, problem func(error)) (*token.Tokens, error) {
	var public []byte
	if c.PublicKey != "" {
		var err error
		if public, err = os.ReadFile(c.PublicKey); err != nil {
			return nil, fmt.Errorf("KITH_TOKEN_PUBLIC_KEY (--token-public-key): %w", err)
		}
		if len(public) == 0 {
			return nil, fmt.Errorf("KITH_TOKEN_PUBLIC_KEY (--token-public-key): %s is empty", c.PublicKey)
		}
	}
	tokens, err := token.New(ctx, token.Config{Secret: []byte(c.Secret.Reveal()), PublicKey: public, JWKS: c.JWKS,
		Issuer: c.Issuer, Audience: c.Audience, Now: time.Now, Problem: problem})
	switch {
	case errors.Is(err, token.ErrPublicKey):
		return nil, fmt.Errorf("KITH_TOKEN_PUBLIC_KEY (--token-public-key): %s: %w", c.PublicKey, token.ErrPublicKey)
	case err != nil && c.JWKS != "":
		return nil, fmt.Errorf("KITH_TOKEN_JWKS (--token-jwks): %w", err)
	}
	return tokens, err
}
