package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"kith/app/home"
	"kith/config"
	"kith/repo"
	"kith/repo/event"
	"kith/repo/timeline"
)

type timelineCmd struct {
	Show    timelineShowCmd    `cmd:"" help:"Show the first entries of a home timeline, and what is kept of it."`
	Rebuild timelineRebuildCmd `cmd:"" help:"Drop what is kept of a home timeline and build it anew."`
	Clear   timelineClearCmd   `cmd:"" help:"Drop what is kept of a home timeline: the next reader builds it anew."`
	Why     timelineWhyCmd     `cmd:"" help:"Say in one sentence why a post stands in a home timeline, or why not."`
}

// homeTool is a tool that reads a home timeline as a server does.
type homeTool struct {
	tool
	Home    config.Home `embed:"" group:"Home timelines"`
	Account accountID   `required:"" placeholder:"ID" help:"Whose home timeline it is."`
}

// homeOf is whose home a command looks at.
type homeOf struct {
	*stack
	id   uint64
	name string
	warm *timeline.Store
}

// with runs fn on the database, where the account exists.
func (t *homeTool) with(ctx context.Context, fn func(homeOf) error) error {
	if err := t.check(t.Cache, t.Home); err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	return withStack(ctx, config.Settings{MySQL: t.MySQL, Cache: t.Cache, Home: t.Home}, log, func(s *stack) error {
		found, err := s.people.Get(ctx, uint64(t.Account))
		if errors.Is(err, repo.ErrNotFound) {
			err = fmt.Errorf("--account: there is no account %d", t.Account)
		}
		if err != nil {
			return err
		}
		return fn(homeOf{s, found.ID, "@" + found.Username, timeline.NewStore(s.pool, time.Now, log)})
	})
}

// elsewhere says what a command without memcached does not reach.
const elsewhere = "without memcached each server has its own in memory, out of reach from here, and builds it anew after 5 minutes"

// drop drops all that is kept of the home.
func (r *homeOf) drop(ctx context.Context) error {
	r.posts.homes.Forget(ctx, r.id)
	return r.warm.Drop(ctx, r.id)
}

type timelineClearCmd struct{ homeTool }

// Run drops what is kept.
func (c *timelineClearCmd) Run(ctx context.Context) error {
	return c.with(ctx, func(r homeOf) error {
		if err := r.drop(ctx); err != nil {
			return err
		}
		r.cleared()
		return nil
	})
}

// cleared says what was dropped.
func (r *homeOf) cleared() {
	fmt.Printf("cleared the home timeline of %d %s\n", r.id, r.name)
	if r.servers == nil {
		fmt.Fprintln(os.Stderr, "kith: hot line: "+elsewhere)
	}
}

type timelineRebuildCmd struct{ homeTool }

// Run drops what is kept and reads the home as its owner would.
func (c *timelineRebuildCmd) Run(ctx context.Context) error {
	return c.with(ctx, func(r homeOf) error {
		if err := r.drop(ctx); err != nil {
			return err
		}
		if r.servers == nil {
			r.cleared()
			return nil
		}
		if _, err := r.posts.homes.Home(ctx, r.id, home.Range{Limit: 1}); err != nil {
			return err
		}
		k, err := r.posts.homes.Kept(ctx, r.id)
		if err == nil && !k.Hot {
			err = fmt.Errorf("memcached does not hold the home timeline of %d: its server may be away", r.id)
		}
		if err == nil {
			fmt.Printf("built the home timeline of %d %s: %d events\n", r.id, r.name, len(k.Line.Events))
		}
		return err
	})
}

type timelineWhyCmd struct {
	homeTool
	Post postID `required:"" placeholder:"ID" help:"The post, or the repost."`
}

// Run prints the sentence.
func (c *timelineWhyCmd) Run(ctx context.Context) error {
	return c.with(ctx, func(r homeOf) error {
		name := func(id uint64) string { return cmp.Or(r.nameOf(ctx, id), fmt.Sprintf("account %d", id)) }
		sentence, err := r.posts.homes.Why(ctx, r.id, uint64(c.Post), r.posts.rows, name)
		if err == nil {
			fmt.Println(sentence)
		}
		return err
	})
}

// nameOf returns what to call an account, nothing where that cannot be found out.
func (r *homeOf) nameOf(ctx context.Context, id uint64) string {
	name, err := r.called(ctx, id)
	if err != nil {
		return ""
	}
	return name
}

type timelineShowCmd struct {
	homeTool
	asJSON
	Limit int `default:"20" help:"How many entries to show, 1 to 400."`
}

// maxShown is how many entries are shown at most.
const maxShown = 400

// Help is the text above the flags.
func (timelineShowCmd) Help() string {
	return "Reads the home as its owner would and leaves no trace. With --json each entry is an object, and the last line is one that says what is kept: " +
		"the hot line in memcached, and the warm row in the database."
}

// Run shows what is kept, and the entries.
func (c *timelineShowCmd) Run(ctx context.Context) error {
	if c.Limit < 1 || c.Limit > maxShown {
		return wrong("--limit: %d is not within 1 to %d", c.Limit, maxShown)
	}
	return c.with(ctx, func(r homeOf) error {
		kept, err := r.kept(ctx)
		if err != nil {
			return err
		}
		page, err := r.posts.homes.Watch().Home(ctx, r.id, home.Range{Limit: c.Limit})
		if err != nil {
			return err
		}
		if c.JSON {
			if err := printAll(c.asJSON, "", page.Items, func(i home.Item) any { return r.entry(ctx, i) }, nil); err != nil {
				return err
			}
			return c.line(map[string]any{"kept": kept})
		}
		if err := kept.print(&r); err != nil {
			return err
		}
		return printAll(c.asJSON, "ENTRY\tTIME\tPOST\tAUTHOR\tREPOSTED BY", page.Items, nil, func(i home.Item) string {
			e := r.entry(ctx, i)
			by := ""
			if e.Reposts > 0 {
				by = fmt.Sprintf("%d: %s", e.Reposts, strings.Join(e.By, " "))
			}
			return fmt.Sprintf("%s\t%v\t%s\t%s\t%s", e.ID, e.At, e.Post, e.Author, by)
		})
	})
}

// entryObject is an entry of a home as a JSON object.
type entryObject struct {
	ID      string   `json:"id"`
	At      moment   `json:"created_at"`
	Post    string   `json:"post"`
	Author  string   `json:"author"`      // of the post
	By      []string `json:"reposted_by"` // newest first
	Reposts int      `json:"reposted_by_count"`
}

// maxSources is how many who reposted a post are named.
const maxSources = 40

func (r *homeOf) entry(ctx context.Context, i home.Item) entryObject {
	shown := i.Post
	if i.Origin != nil {
		shown = i.Origin
	}
	out := entryObject{ID: idText(i.Event.ID), At: moment{event.Time(i.Event.ID)}, Post: idText(shown.ID), Author: r.nameOf(ctx, shown.Author), By: []string{}, Reposts: len(i.Sources)}
	for _, s := range i.Sources[:min(len(i.Sources), maxSources)] {
		out.By = append(out.By, r.nameOf(ctx, s.Author))
	}
	return out
}

// keptObject is what is kept of a home, as a JSON object.
type keptObject struct {
	Hot       *keptLine `json:"hot"`        // null: nothing
	HotInUse  bool      `json:"hot_in_use"` // else it is built anew for the next reader
	HotPushed int       `json:"hot_pushed"` // events that were pushed since it was built
	Warm      *keptLine `json:"warm"`       // null: nothing
}

// keptLine is one line of events.
type keptLine struct {
	BuiltAt moment   `json:"built_at"`
	Floor   string   `json:"floor_id"` // it has all events from this id on; empty: all there are
	Events  int      `json:"events"`
	Pulled  []string `json:"pulled"` // authors whose events are read each time
}

func newKeptLine(l timeline.Line) *keptLine {
	out := &keptLine{BuiltAt: moment{l.BuiltAt}, Floor: idText(l.Floor), Events: len(l.Events), Pulled: []string{}}
	for _, id := range l.Pulled {
		out.Pulled = append(out.Pulled, idText(id))
	}
	return out
}

func (r *homeOf) kept(ctx context.Context) (keptObject, error) {
	k, err := r.posts.homes.Kept(ctx, r.id)
	if err != nil {
		return keptObject{}, err
	}
	out := keptObject{HotInUse: k.Good, HotPushed: k.Line.Appended}
	if k.Hot {
		out.Hot = newKeptLine(k.Line)
	}
	warm, err := r.warm.Row(ctx, r.id)
	if errors.Is(err, repo.ErrNotFound) {
		return out, nil
	}
	if err == nil {
		out.Warm = newKeptLine(warm.Line)
	}
	return out, err
}

// print prints what is kept, for people.
func (k *keptObject) print(r *homeOf) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "account\t%d %s\n", r.id, r.name)
	switch {
	case r.servers == nil:
		fmt.Fprintf(w, "hot line\t%s\n", elsewhere)
	case k.Hot == nil:
		fmt.Fprintln(w, "hot line\tnone")
	default:
		use := "in use"
		if !k.HotInUse {
			use = "to be built anew, since it is old or the account follows others now"
		}
		k.Hot.print(w, "hot line", fmt.Sprintf("%s, %d pushed since", use, k.HotPushed))
	}
	if k.Warm == nil {
		fmt.Fprintln(w, "warm row\tnone")
	} else {
		k.Warm.print(w, "warm row", "read where there is no hot line")
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// maxPulled is how many authors are listed.
const maxPulled = 20

func (l *keptLine) print(w *tabwriter.Writer, name, use string) {
	floor := "all there are"
	if l.Floor != "" {
		floor = "all from " + l.Floor + " on"
	}
	fmt.Fprintf(w, "%s\t%d events, %s; built %v (%v ago), %s\n", name, l.Events, floor, l.BuiltAt, time.Since(l.BuiltAt.Time).Round(time.Second), use)
	if n := len(l.Pulled); n > 0 {
		fmt.Fprintf(w, "\tnot pushed: %d authors: %s\n", n, strings.Join(l.Pulled[:min(n, maxPulled)], " "))
	}
}
