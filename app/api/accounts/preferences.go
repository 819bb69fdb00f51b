package accounts

import (
	"context"

	"kith/app/api/core"
)

// preferences answers with Mastodon's preferences, of which there are only the defaults, and
// with ours: whether the caller's home shows promotions.
func (r resource) preferences(ctx context.Context, c *core.Call) error {
	found, err := r.Accounts.Accounts.One(ctx, c.Account)
	if err != nil {
		return err
	}
	return answerPreferences(c, !found.NoPromotions)
}

const promotions = "reading:promotions"

// setPreferences changes what can be changed, an extension.
func (r resource) setPreferences(ctx context.Context, c *core.Call) error {
	sent, err := c.Body()
	if err != nil {
		return err
	}
	want, err := sent.Flag(promotions)
	if err != nil {
		return err
	}
	if want == nil {
		return core.Unprocessable("Validation failed: %s must be true or false; nothing else can be changed", promotions)
	}
	if _, err := r.Accounts.Accounts.SetNoPromotions(ctx, c.Account, !*want); err != nil {
		return err
	}
	return answerPreferences(c, *want)
}

func answerPreferences(c *core.Call, shown bool) error {
	return c.JSON(map[string]any{
		"posting:default:visibility": "public", "posting:default:sensitive": false, "posting:default:language": nil,
		"reading:expand:media": "default", "reading:expand:spoilers": false, promotions: shown,
	})
}
