package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"kith/app"
	appaccount "kith/app/account"
	"kith/repo"
	"kith/repo/account"
	"kith/repo/list"
)

type accountCmd struct {
	Add    accountAddCmd    `cmd:"" help:"Make an account and print its id."`
	Show   accountShowCmd   `cmd:"" help:"Show an account with its counts."`
	List   accountListCmd   `cmd:"" help:"List accounts, all or those that the filters select."`
	Lock   accountLockCmd   `cmd:"" help:"Lock an account: whoever wants to follow it must ask first."`
	Unlock accountUnlockCmd `cmd:"" help:"Unlock an account: everybody may follow it."`
	Bury   accountBuryCmd   `cmd:"" help:"Erase an account for good: its id is never given again."`
}

type accountAddCmd struct {
	tool
	Name        string    `arg:"" help:"The username: letters, digits and underscores, with dots and dashes inside, at most 60."`
	ID          accountID `name:"id" placeholder:"N" help:"The id that the product gives the account, 1 to 9223372036854775807; without it kith makes one."`
	DisplayName string    `help:"The name that people see, at most 100 characters; without it the username."`
	Locked      bool      `help:"Followers must ask first."`
}

// Run makes the account and prints its id.
func (a *accountAddCmd) Run(ctx context.Context) error {
	return a.with(ctx, func(s *stack) error {
		made, err := s.accounts.Add(ctx, appaccount.Fresh{ID: uint64(a.ID), Username: a.Name, DisplayName: a.DisplayName, Locked: a.Locked})
		if err == nil {
			fmt.Println(made.ID)
		}
		return err
	})
}

// accountID is the id of an account in the command line, 0 where it is not given.
type accountID uint64

// UnmarshalText reads an id.
func (id *accountID) UnmarshalText(text []byte) error {
	n, err := parseID(text, "an account")
	*id = accountID(n)
	return err
}

// parseID reads an id of the command line.
func parseID(text []byte, of string) (uint64, error) {
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil || n == 0 || n > list.MaxID {
		return 0, fmt.Errorf("%s is not %s id", text, of)
	}
	return n, nil
}

// accountWho is the argument that names one account.
type accountWho struct {
	tool
	Who string `arg:"" name:"name|id" help:"The username or the id; a name of digits only is read as an id."`
}

func (a *accountWho) find(ctx context.Context, s *stack) (account.Account, error) {
	id, err := strconv.ParseUint(a.Who, 10, 64)
	var found account.Account
	if err == nil {
		found, err = s.accounts.One(ctx, id)
	} else {
		found, err = s.accounts.ByName(ctx, a.Who)
	}
	switch {
	case app.KindOf(err) == app.NotFound:
		err = fmt.Errorf("account %q is not found", a.Who)
	case err != nil:
		err = fmt.Errorf("account %q: %w", a.Who, err)
	}
	return found, err
}

// checkAccount refuses the --account of a command where it is given and unknown. An
// unknown account that has rows passes.
func (s *stack) checkAccount(ctx context.Context, flag accountID) error {
	id := uint64(flag)
	if id == 0 {
		return nil
	}
	if _, err := s.people.Get(ctx, id); !errors.Is(err, repo.ErrNotFound) {
		return err
	}
	rows, err := s.rows.Outlines(ctx, []uint64{id})
	if err != nil {
		return err
	}
	archived, err := s.rows.Headers(ctx, id)
	if err == nil && len(rows)+len(archived) == 0 {
		err = fmt.Errorf("there is no account %d", id)
	}
	return err
}

type accountShowCmd struct {
	accountWho
	asJSON
}

// Run shows one account, a line a field.
func (a *accountShowCmd) Run(ctx context.Context) error {
	return a.with(ctx, func(s *stack) error {
		found, err := a.find(ctx, s)
		if err != nil {
			return err
		}
		counts, err := s.relations.Counts(ctx, []uint64{found.ID})
		if err != nil {
			return err
		}
		n := counts[0]
		if a.JSON {
			return a.line(struct {
				accountObject
				Friends   uint32 `json:"friends_count"`
				Followers uint32 `json:"followers_count"`
				Following uint32 `json:"following_count"`
			}{accountLine(found), n.Friends, n.Followers, n.Following})
		}
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "id\t%d\nusername\t%s\ndisplay name\t%q\nlocked\t%v\ncreated\t%s\n",
			found.ID, found.Username, found.DisplayName, found.Locked, created(found))
		fmt.Fprintf(w, "friends\t%d\nfollowers\t%d\nfollowing\t%d\n", n.Friends, n.Followers, n.Following)
		return w.Flush()
	})
}

type accountLockCmd struct{ accountWho }

// Run locks the account.
func (a *accountLockCmd) Run(ctx context.Context) error { return a.set(ctx, true) }

type accountUnlockCmd struct{ accountWho }

// Run unlocks the account.
func (a *accountUnlockCmd) Run(ctx context.Context) error { return a.set(ctx, false) }

func (a *accountWho) set(ctx context.Context, locked bool) error {
	return a.with(ctx, func(s *stack) error {
		found, err := a.find(ctx, s)
		if err != nil {
			return err
		}
		found, err = s.accounts.SetLocked(ctx, found.ID, locked)
		if err == nil {
			fmt.Println(found.ID, found.Username, lock(found))
			a.late()
		}
		return err
	})
}

type accountBuryCmd struct {
	tool
	ID  accountID `arg:"" name:"id" help:"The id of the account. One that is deleted already can be given too."`
	Yes bool      `help:"Do it. Without it the command only says whom it would erase."`
}

// Help is the text above the flags.
func (accountBuryCmd) Help() string {
	return "Deletes the account and its name. No import and no new account gets the id again: lines of a file that name it are rejected. " +
		"The lists of others keep the id until an audit with --repair takes it out."
}

// Run erases the account.
func (a *accountBuryCmd) Run(ctx context.Context) error {
	id := uint64(a.ID)
	return a.with(ctx, func(s *stack) error {
		found, err := s.accounts.Get(ctx, []uint64{id})
		if err != nil {
			return err
		}
		who := fmt.Sprintf("account %d, which has no row", id)
		if found[0].Ver > 0 {
			who = fmt.Sprintf("account %d, %s (%q)", id, found[0].Username, found[0].DisplayName)
		}
		if !a.Yes {
			return wrong("this would erase %s for ever: add --yes to do it", who)
		}
		if err := s.people.Bury(ctx, id, uint32(time.Now().Unix())); err != nil {
			return err
		}
		fmt.Printf("erased %s; now run: kith audit --repair\n", who)
		a.late()
		return nil
	})
}

func lock(a account.Account) string {
	if a.Locked {
		return "locked"
	}
	return "open"
}

func created(a account.Account) moment { return moment{time.UnixMilli(int64(a.CreatedAt))} }

type accountListCmd struct {
	tool
	asJSON
	Name   string `placeholder:"PREFIX" help:"Only those whose username begins with this, in upper or lower case."`
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

// day is a time in the command line.
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

// wants reports whether an account passes the filters.
func (a *accountListCmd) wants(one account.Account) bool {
	at := created(one)
	return len(one.Username) >= len(a.Name) && strings.EqualFold(one.Username[:len(a.Name)], a.Name) &&
		!(a.Locked && !one.Locked) && !(a.Open && one.Locked) &&
		!(!a.Since.IsZero() && at.Before(a.Since.Time)) && !(!a.Until.IsZero() && !at.Before(a.Until.Time))
}

func (a *accountListCmd) print(page []account.Account) error {
	return printAll(a.asJSON, "", page, func(one account.Account) any { return accountLine(one) }, func(one account.Account) string {
		return fmt.Sprintf("%d\t%s\t%s\t%v\t%q", one.ID, one.Username, lock(one), created(one), one.DisplayName)
	})
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
	return accountObject{strconv.FormatUint(a.ID, 10), a.Username, a.DisplayName, a.Locked, created(a)}
}
