package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
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
	List   accountListCmd   `cmd:"" help:"List accounts, all or those that filters name."`
	Lock   accountLockCmd   `cmd:"" help:"Let followers of an account ask first."`
	Unlock accountUnlockCmd `cmd:"" help:"Let everybody follow an account."`
	Bury   accountBuryCmd   `cmd:"" help:"Erase an account, so that its id is never given again."`
}

type accountAddCmd struct {
	tool
	Name        string  `arg:"" help:"The username: letters, digits and underscores, with dots and dashes inside, at most 60."`
	ID          *uint64 `name:"id" placeholder:"N" help:"The id that the product gives the account, 1 to 9223372036854775807; without it kith makes one."`
	DisplayName string  `help:"The name that people see, at most 100 characters; without it the username."`
	Locked      bool    `help:"Followers must ask first."`
}

// Run makes the account and prints its id.
func (a *accountAddCmd) Run(ctx context.Context) error {
	id := uint64(0)
	if a.ID != nil {
		if id = *a.ID; id == 0 {
			return wrong("--id: 0 is not an account id")
		}
	}
	return a.with(ctx, func(s *stack) error {
		made, err := s.accounts.Add(ctx, appaccount.Fresh{ID: id, Username: a.Name, DisplayName: a.DisplayName, Locked: a.Locked})
		if err == nil {
			fmt.Println(made.ID)
		}
		return err
	})
}

// accountWho names one account.
type accountWho struct {
	tool
	Who string `arg:"" name:"name|id" help:"The username or the id; a name of digits only is read as an id."`
}

func (a *accountWho) find(ctx context.Context, s *stack) (account.Account, error) {
	if id, err := strconv.ParseUint(a.Who, 10, 64); err == nil {
		found, err := s.accounts.One(ctx, id)
		return found, named(err, a.Who)
	}
	found, err := s.accounts.ByName(ctx, a.Who)
	return found, named(err, a.Who)
}

// named says whom an error is about.
func named(err error, who string) error {
	switch {
	case err == nil:
		return nil
	case app.KindOf(err) == app.NotFound:
		return fmt.Errorf("account %q is not found", who)
	}
	return fmt.Errorf("account %q: %w", who, err)
}

// only checks --account of a command that can be restricted to one account, nil
// for all. Rows that nobody made an account for are there to be looked at.
func (s *stack) only(ctx context.Context, id *uint64) (uint64, error) {
	if id == nil {
		return 0, nil
	}
	if *id == 0 {
		return 0, wrong("--account: 0 is not an account id")
	}
	if _, err := s.people.Get(ctx, *id); !errors.Is(err, repo.ErrNotFound) {
		return *id, err
	}
	rows, err := s.rows.Outlines(ctx, []uint64{*id})
	if err != nil {
		return 0, err
	}
	archived, err := s.rows.Headers(ctx, *id)
	if err != nil {
		return 0, err
	}
	if len(rows)+len(archived) == 0 {
		return 0, fmt.Errorf("--account: there is no account %d", *id)
	}
	return *id, nil
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
		}
		return err
	})
}

type accountBuryCmd struct {
	tool
	ID  uint64 `arg:"" name:"id" help:"The id of the account. One that is gone already can be given too."`
	Yes bool   `help:"Do it. Without it the command only says whom it would erase."`
}

// Help is the text above the flags.
func (accountBuryCmd) Help() string {
	return "Deletes the account and its name. No import and no new account gets the id again: lines of a file that name it are rejected. " +
		"The lists of others keep the id until an audit with --repair takes it out."
}

// Run erases the account.
func (a *accountBuryCmd) Run(ctx context.Context) error {
	if a.ID == 0 || a.ID > list.MaxID {
		return wrong("%d is not an account id", a.ID)
	}
	return a.with(ctx, func(s *stack) error {
		found, err := s.accounts.Get(ctx, []uint64{a.ID})
		if err != nil {
			return err
		}
		who := fmt.Sprintf("account %d, which has no row", a.ID)
		if found[0].Ver > 0 {
			who = fmt.Sprintf("account %d, %s (%q)", a.ID, found[0].Username, found[0].DisplayName)
		}
		if !a.Yes {
			return wrong("this would erase %s for ever: add --yes to do it", who)
		}
		if err := s.people.Bury(ctx, a.ID, uint32(time.Now().Unix())); err != nil {
			return err
		}
		fmt.Printf("erased %s; now run: kith audit --repair\n", who)
		return nil
	})
}

func lock(a account.Account) string {
	if a.Locked {
		return "locked"
	}
	return "open"
}

func created(a account.Account) string {
	return time.UnixMilli(int64(a.CreatedAt)).UTC().Format(time.RFC3339)
}
