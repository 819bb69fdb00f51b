package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"kith/app/token"
	"kith/repo/account"
)

// devScopes are what the printed token may do.
var devScopes = []string{"read", "write", "follow"}

// welcome makes the demo graph where the database is empty, and says what to
// try, with a token of Ada or, if there is no Ada, of the first account.
func (s *stack) welcome(ctx context.Context, d *devCmd, l net.Listener, tokens *token.Tokens) (string, error) {
	made := false
	if d.Demo {
		var err error
		if made, err = s.demo(ctx); err != nil {
			return "", err
		}
	}
	people, err := s.accounts.Walk(ctx, 0, 1+len(demoPeople))
	if err != nil {
		return "", err
	}
	base := "http://" + reachable(l.Addr().String())
	var out strings.Builder
	fmt.Fprintf(&out, "\nkith answers on %s (Ctrl-C stops it; the data stay)\n", base)
	if made {
		fmt.Fprintf(&out, "The database was empty: %d people are in it now.\n", len(demoPeople))
	}
	if len(people) == 0 {
		out.WriteString("The database is empty.\n\n")
	} else {
		if err := s.writeTries(ctx, &out, base, people, tokens); err != nil {
			return "", err
		}
	}
	out.WriteString(secondTerminal(d, people))
	return out.String(), nil
}

// writeTries writes a token and four commands that work as they are.
func (s *stack) writeTries(ctx context.Context, out *strings.Builder, base string, people []account.Account, tokens *token.Tokens) error {
	me := people[0]
	if ada, err := s.accounts.ByName(ctx, demoPeople[0].name); err == nil {
		me = ada
	}
	text, err := tokens.Sign(me.ID, devScopes, devTokenTTL)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nA token of %s (account %d), good for %.0f hours:\n\n%s\n\n", me.Username, me.ID, devTokenTTL.Hours(), text)
	curl := func(what, args string) {
		fmt.Fprintf(out, "# %s\ncurl -sg -H 'Authorization: Bearer %s' %s\n\n", what, text, args)
	}
	var others []string
	for _, one := range people {
		if one.ID != me.ID || len(people) == 1 { // the only account gets commands about itself
			others = append(others, strconv.FormatUint(one.ID, 10))
		}
	}
	last := others[len(others)-1]
	curl("who are the friends of "+me.Username+"?", fmt.Sprintf("'%s/api/v1/accounts/%d/friends'", base, me.ID))
	curl("what are these to "+me.Username+"?", fmt.Sprintf("'%s/api/v1/accounts/relationships?id[]=%s'", base, strings.Join(others, "&id[]=")))
	curl("what is new in the home of "+me.Username+"?", fmt.Sprintf("'%s/api/v1/timelines/home?limit=5'", base))
	curl("follow account "+last, fmt.Sprintf("-X POST '%s/api/v1/accounts/%s/follow'", base, last))
	return nil
}

// secondTerminal says how to go on with companions, which look for the running server
// in the folder that they are typed in.
func secondTerminal(d *devCmd, people []account.Account) string {
	if filepath.Clean(d.Dir) != devFolder {
		return ""
	}
	with := ""
	if !ownDatabase(d.Dir, d.Settings.MySQL.DSN.Reveal()) {
		with = ", with KITH_MYSQL_DSN set as here"
	}
	lines := `
kith import follows.txt.gz    # lines of: follower followee [unixtime]
kith account list
`
	if len(people) > 0 {
		one, other := people[0].ID, people[len(people)-1].ID
		lines += fmt.Sprintf("kith timeline show --account %d\nkith token --account %d        # act as somebody else\n", one, other)
	}
	return "In a second terminal, in this folder" + with + ":\n" + strings.ReplaceAll(lines, "\nkith ", "\n"+os.Args[0]+" ") + "\n"
}
