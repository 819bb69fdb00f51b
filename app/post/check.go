package post

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"

	"kith/app"
	"kith/app/post/content"
	"kith/repo"
	"kith/repo/feed"
)

// maxMentions is how many accounts a post mentions.
const maxMentions = 50

// mentions returns the accounts that a text names. A name that nobody has is plain text.
func (s *Service) mentions(ctx context.Context, text, domain string) (ids []uint64, err error) {
	names := content.Mentions(text, domain)
	if len(names) > maxMentions {
		return nil, errTooManyNames
	}
	for _, name := range names {
		a, err := s.cfg.Accounts.ByName(ctx, name)
		if errors.Is(err, repo.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, app.From(err)
		}
		if !slices.Contains(ids, a.ID) {
			ids = append(ids, a.ID)
		}
	}
	return ids, nil
}

// keyOf hashes an Idempotency-Key, so that it takes few bytes however long it is.
func keyOf(key string) *feed.Key {
	if key == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(key))
	k := feed.Key(sum[:])
	return &k
}

// hasTag reports whether a text has a tag, in any case.
func hasTag(text, tag string) bool {
	return slices.ContainsFunc(content.Tags(content.Find(text)), func(t string) bool { return strings.EqualFold(t, tag) })
}
