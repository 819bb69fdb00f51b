package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"kith/repo/promotion"
)

type promotionCmd struct {
	Add  promotionAddCmd  `cmd:"" help:"Promote a post or an account for a time, and print the id of the promotion."`
	List promotionListCmd `cmd:"" help:"List the promotions that have not ended, or all."`
	End  promotionEndCmd  `cmd:"" help:"End a promotion now."`
}

// promotionHelp says what a promotion is.
const promotionHelp = "A promotion stands in homes between what people follow, marked as promoted. It is not shown to those who may not see it, who block or mute its author, or who want none. " +
	"Servers see a change within 10 seconds."

type promotionAddCmd struct {
	tool
	Post    postID    `xor:"of" required:"" placeholder:"ID" help:"The post to promote; or give --account."`
	Account accountID `xor:"of" required:"" placeholder:"ID" help:"The account to promote, instead of a post: its newest public post is shown."`
	From    day       `placeholder:"TIME" help:"From when on: 2026-01-31, or 2026-01-31T12:00:00Z. Without a zone it is UTC. Without it: from now on."`
	To      day       `required:"" placeholder:"TIME" help:"Until when."`
	Every   uint32    `default:"20" help:"After so many entries of a home, 2 to 10000."`
	Weight  uint32    `default:"1" help:"How often it is taken where several could be shown, 1 to 1000: one of weight 2 twice as often as one of weight 1."`
}

// Help is the text above the flags.
func (promotionAddCmd) Help() string {
	return promotionHelp + " A page of a home has it once; between two promotions are as many entries as the smallest --every says."
}

// Run adds the promotion and prints its id.
func (c *promotionAddCmd) Run(ctx context.Context) error {
	begins := c.From.Time
	if begins.IsZero() {
		begins = time.Now()
	}
	p := promotion.Promotion{Post: uint64(c.Post), Account: uint64(c.Account), Every: c.Every, Weight: c.Weight}
	var err error
	if p.Begins, err = inSeconds(begins); err != nil {
		return err
	}
	if p.Ends, err = inSeconds(c.To.Time); err != nil {
		return err
	}
	return c.with(ctx, func(s *stack) error {
		id, err := s.posts.promotions.Add(ctx, p)
		if err == nil {
			fmt.Println(id)
		}
		return err
	})
}

// inSeconds is a time as it is stored.
func inSeconds(t time.Time) (uint32, error) {
	s := t.Unix()
	if s < 0 || s > 1<<32-1 {
		return 0, wrong("%s is not between 1970 and 2106", moment{t})
	}
	return uint32(s), nil
}

type promotionListCmd struct {
	tool
	asJSON
	All    bool   `help:"Also those that have ended, the newest first."`
	Before uint64 `placeholder:"ID" help:"With --all: begin below this promotion, the last one of the page before."`
	Limit  int    `default:"100" help:"With --all: how many to list, at most 1000."`
}

// promotionObject is a promotion as a JSON object.
type promotionObject struct {
	ID      string `json:"id"`
	Post    string `json:"post_id"`    // empty: it is of an account
	Account string `json:"account_id"` // empty: it is of a post
	From    moment `json:"from"`
	To      moment `json:"to"`
	Every   uint32 `json:"every"`
	Weight  uint32 `json:"weight"`
	State   string `json:"state"`
}

// Run lists promotions, one a line.
func (c *promotionListCmd) Run(ctx context.Context) error {
	switch {
	case c.Limit < 1 || c.Limit > listPage:
		return wrong("--limit must be 1 to %d", listPage)
	case c.Before != 0 && !c.All:
		return wrong("--before goes with --all")
	}
	return c.with(ctx, func(s *stack) error {
		var all []promotion.Promotion
		var err error
		if c.All {
			all, err = s.posts.promotions.Page(ctx, c.Before, c.Limit)
		} else {
			all, err = s.posts.promotions.Open(ctx)
		}
		if err != nil {
			return err
		}
		now := time.Now().Unix()
		object := func(p promotion.Promotion) any { return promotionLine(p, now) }
		err = printAll(c.asJSON, "ID\tOF\tFROM\tTO\tEVERY\tWEIGHT\tSTATE", all, object, func(p promotion.Promotion) string {
			o := promotionLine(p, now)
			of := "post " + o.Post
			if o.Account != "" {
				of = "account " + o.Account
			}
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%d\t%s", o.ID, of, o.From, o.To, o.Every, o.Weight, o.State)
		})
		if err == nil && c.All && len(all) == c.Limit {
			fmt.Fprintf(os.Stderr, "there may be more: --before=%d\n", all[len(all)-1].ID)
		}
		return err
	})
}

func promotionLine(p promotion.Promotion, now int64) promotionObject {
	state := "shown"
	switch {
	case now >= int64(p.Ends):
		state = "ended"
	case now < int64(p.Begins):
		state = "to come"
	}
	return promotionObject{strconv.FormatUint(p.ID, 10), idText(p.Post), idText(p.Account), moment{time.Unix(int64(p.Begins), 0)}, moment{time.Unix(int64(p.Ends), 0)}, p.Every, p.Weight, state}
}

type promotionEndCmd struct {
	tool
	ID uint64 `arg:"" help:"The id of the promotion, see promotion list."`
}

// Run ends the promotion.
func (c *promotionEndCmd) Run(ctx context.Context) error {
	return c.with(ctx, func(s *stack) error {
		err := s.posts.promotions.End(ctx, c.ID)
		if err == nil {
			fmt.Println("ended", c.ID)
		}
		return err
	})
}
