package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"kith/repo"
	"kith/repo/post"
)

type postCmd struct {
	Show   postShowCmd   `cmd:"" help:"Show a post, whoever may see it."`
	Hide   postHideCmd   `cmd:"" help:"Hide a post from everybody, its author too."`
	Unhide postUnhideCmd `cmd:"" help:"Show a hidden post again."`
	Delete postDeleteCmd `cmd:"" help:"Delete a post and its reposts for good, as its author could."`
	Import postImportCmd `cmd:"" help:"Read posts of a file into the database, at their time."`
}

// postID is the id of a post in the command line.
type postID uint64

// UnmarshalText reads an id.
func (id *postID) UnmarshalText(text []byte) error {
	n, err := parseID(text, "a post")
	*id = postID(n)
	return err
}

// postWho is the argument that names one post.
type postWho struct {
	tool
	ID postID `arg:"" name:"id" help:"The id of the post."`
}

type postShowCmd struct {
	postWho
	asJSON
}

// Run shows one post, a line a field.
func (c *postShowCmd) Run(ctx context.Context) error {
	return c.with(ctx, func(s *stack) error {
		p, err := s.posts.service.Look(ctx, uint64(c.ID))
		if err != nil {
			return err
		}
		out := postLine(p)
		if out.Author, err = s.called(ctx, p.Author); err != nil {
			return err
		}
		if c.JSON {
			return c.line(out)
		}
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		for _, field := range []struct {
			name, value string
		}{
			{"id", out.ID}, {"author", out.AuthorID + " " + out.Author}, {"created", out.CreatedAt.String()}, {"visibility", out.Visibility}, {"state", out.State},
			{"repost of", out.RepostOf}, {"reply to", out.replied()}, {"language", out.Language}, {"content warning", quoted(out.Spoiler)}, {"text", quoted(out.Text)},
			{"pictures", strings.Join(out.Media, " ")}, {"mentions", strings.Join(out.Mentions, " ")},
			{"replies", fmt.Sprint(out.Replies)}, {"reposts", fmt.Sprint(out.Reposts)}, {"favourites", fmt.Sprint(out.Favourites)},
		} {
			if field.value != "" {
				fmt.Fprintf(w, "%s\t%s\n", field.name, field.value)
			}
		}
		return w.Flush()
	})
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return strconv.Quote(text)
}

// called returns what to call an account: its name, or that it has none any more.
func (s *stack) called(ctx context.Context, id uint64) (string, error) {
	found, err := s.people.Get(ctx, id)
	if errors.Is(err, repo.ErrNotFound) {
		return "(erased)", nil
	}
	return "@" + found.Username, err
}

// states are the states of posts in words.
var states = map[post.State]string{post.Live: "live", post.Hidden: "hidden by an administrator", post.Deleted: "deleted"}

// postObject is a post as a JSON object. Text of a deleted post is gone.
type postObject struct {
	ID         string   `json:"id"`
	AuthorID   string   `json:"author_id"`
	Author     string   `json:"author"`
	CreatedAt  moment   `json:"created_at"`
	Visibility string   `json:"visibility"`
	State      string   `json:"state"`
	RepostOf   string   `json:"repost_of"` // empty: it is no repost
	ReplyTo    string   `json:"reply_to"`  // empty: it is no reply
	ReplyToWho string   `json:"reply_to_account"`
	Language   string   `json:"language"`
	Spoiler    string   `json:"spoiler_text"`
	Sensitive  bool     `json:"sensitive"`
	Text       string   `json:"text"`
	Media      []string `json:"media"`
	Mentions   []string `json:"mentions"`
	Replies    uint32   `json:"replies_count"`
	Reposts    uint32   `json:"reposts_count"`
	Favourites uint32   `json:"favourites_count"`
}

func postLine(p post.Post) postObject {
	out := postObject{ID: idText(p.ID), AuthorID: idText(p.Author), CreatedAt: moment{p.Time()}, Visibility: p.Visibility.String(),
		State: cmp.Or(states[p.State], fmt.Sprint(p.State)), RepostOf: idText(p.Origin), ReplyTo: idText(p.ReplyTo), ReplyToWho: idText(p.ReplyWho),
		Language: p.Language, Spoiler: p.Spoiler, Sensitive: p.Sensitive, Text: p.Text, Media: []string{}, Mentions: []string{},
		Replies: p.Replies, Reposts: p.Reposts, Favourites: p.Favourites}
	for _, m := range p.Media {
		out.Media = append(out.Media, m.URL)
	}
	for _, id := range p.Mentions {
		out.Mentions = append(out.Mentions, idText(id))
	}
	return out
}

func (o *postObject) replied() string {
	if o.ReplyTo == "" {
		return ""
	}
	return o.ReplyTo + ", by account " + o.ReplyToWho
}

// idText writes an id, 0 as nothing.
func idText(id uint64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatUint(id, 10)
}

type postHideCmd struct{ postWho }

// Run hides the post.
func (c *postHideCmd) Run(ctx context.Context) error { return c.set(ctx, "hidden", post.Hidden) }

type postUnhideCmd struct{ postWho }

// Run shows the post again.
func (c *postUnhideCmd) Run(ctx context.Context) error { return c.set(ctx, "shown", post.Live) }

type postDeleteCmd struct {
	postWho
	Yes bool `help:"Do it. Without it the command only says what it would delete."`
}

// Help is the text above the flags.
func (postDeleteCmd) Help() string {
	return "The text is gone for ever, and reposts of the post vanish. To be able to change your mind, hide it."
}

// Run deletes the post.
func (c *postDeleteCmd) Run(ctx context.Context) error {
	if c.Yes {
		return c.set(ctx, "deleted", post.Deleted)
	}
	return c.with(ctx, func(s *stack) error {
		p, err := s.posts.service.Moderable(ctx, uint64(c.ID))
		if err != nil {
			return err
		}
		return wrong("this would delete post %s for ever: add --yes to do it", about(p))
	})
}

// set gives the post a state and prints what the post is.
func (c *postWho) set(ctx context.Context, done string, to post.State) error {
	return c.with(ctx, func(s *stack) error {
		p, err := s.posts.service.Moderate(ctx, uint64(c.ID), to)
		if err == nil {
			fmt.Printf("%s: post %s\n", done, about(p))
			c.late()
		}
		return err
	})
}

// aboutLength is how much of a text names a post, in characters.
const aboutLength = 40

// about names a post for people.
func about(p post.Post) string {
	text := []rune(p.Text)
	if len(text) > aboutLength {
		text = append(text[:aboutLength], '…')
	}
	return fmt.Sprintf("%d by account %d of %s, %q", p.ID, p.Author, p.Time().Format(time.RFC3339), string(text))
}
