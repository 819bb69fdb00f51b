package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"kith/repo/account"
)

type accountListCmd struct {
	tool
	asJSON
	Name   string `placeholder:"PREFIX" help:"Only those whose username begins so, in any case."`
	Locked bool   `xor:"locked" help:"Only those that are locked."`
	Open   bool   `xor:"locked" help:"Only those that are not locked."`
	Since  day    `name:"created-after" placeholder:"TIME" help:"Only those made at this time or later: 2026-01-31, or 2026-01-31T12:00:00Z. Without a zone it is UTC."`
	Until  day    `name:"created-before" placeholder:"TIME" help:"Only those made before this time."`
	After  uint64 `placeholder:"ID" help:"Begin after this account: the last one of the page before."`
	Limit  int    `default:"100" help:"How many accounts to list at most; 0 lists all."`
}

// Help is the text above the flags.
func (accountListCmd) Help() string {
	return "Lists accounts in the order of the table, not of their ids: by the low ten bits of the id, then by the id. " +
		"Where there are more, standard error says how to go on. Filters read the table from the beginning, or from --after, until they have found enough."
}

// day is a time that somebody types.
type day struct{ time.Time }

// UnmarshalText reads a date, or a date with a time.
func (d *day) UnmarshalText(text []byte) (err error) {
	for _, form := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04:05"} {
		if d.Time, err = time.Parse(form, string(text)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%q is not a time such as 2026-01-31 or 2026-01-31T12:00:00Z", text)
}

// listPage is how many accounts are read at once.
const listPage = 1000

// Run lists accounts, one a line.
func (a *accountListCmd) Run(ctx context.Context) error {
	if a.Limit < 0 {
		return wrong("--limit: %d is below 0", a.Limit)
	}
	return a.with(ctx, func(s *stack) error {
		after, left := a.After, a.Limit
		for {
			page, err := s.accounts.Walk(ctx, after, listPage)
			if err != nil || len(page) == 0 {
				return err
			}
			after = page[len(page)-1].ID
			shown := page[:0]
			for _, one := range page {
				if !a.wants(one) {
					continue
				}
				if a.Limit > 0 && left == 0 {
					fmt.Fprintf(os.Stderr, "kith: there are more: go on with --after %d\n", a.After)
					return a.print(shown)
				}
				shown, left, a.After = append(shown, one), left-1, one.ID
			}
			if err := a.print(shown); err != nil {
				return err
			}
		}
	})
}

// wants reports whether the filters let an account through.
func (a *accountListCmd) wants(one account.Account) bool {
	at := time.UnixMilli(int64(one.CreatedAt))
	return len(one.Username) >= len(a.Name) && strings.EqualFold(one.Username[:len(a.Name)], a.Name) &&
		!(a.Locked && !one.Locked) && !(a.Open && one.Locked) &&
		!(!a.Since.IsZero() && at.Before(a.Since.Time)) && !(!a.Until.IsZero() && !at.Before(a.Until.Time))
}

func (a *accountListCmd) print(page []account.Account) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, one := range page {
		if !a.JSON {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%q\n", one.ID, one.Username, lock(one), created(one), one.DisplayName)
		} else if err := a.line(accountLine(one)); err != nil {
			return err
		}
	}
	return w.Flush()
}

// accountObject is an account as a JSON object.
type accountObject struct {
	ID          string `json:"id"`
	Username    string `json:"username"`
	DisplayName string `json:"display_name"`
	Locked      bool   `json:"locked"`
	CreatedAt   moment `json:"created_at"`
}

func accountLine(a account.Account) accountObject {
	return accountObject{strconv.FormatUint(a.ID, 10), a.Username, a.DisplayName, a.Locked, atMilli(int64(a.CreatedAt))}
}
