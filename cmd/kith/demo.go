package main

import (
	"context"
	"fmt"
	"time"

	appaccount "kith/app/account"
	"kith/app/post"
	apprelation "kith/app/relation"
)

// demoPerson is somebody of the demo graph.
type demoPerson struct {
	name, display string
	locked        bool
	follows       []string // in this order, an hour between two
}

// demoPeople are a dozen people who know each other: Ada, as whom the printed
// token acts, has friends, followers, people she follows, and asks to follow
// Grace, who is locked.
var demoPeople = []demoPerson{
	{name: "ada", display: "Ada", follows: []string{"ben", "chloe", "dan", "eva", "hugo", "grace"}},
	{name: "ben", display: "Ben", follows: []string{"ada", "chloe", "finn"}},
	{name: "chloe", display: "Chloe", follows: []string{"ada", "ben", "dan", "ines"}},
	{name: "dan", display: "Dan", follows: []string{"ada", "eva"}},
	{name: "eva", display: "Eva", follows: []string{"dan", "finn", "hugo"}},
	{name: "finn", display: "Finn", follows: []string{"ada", "ben", "eva"}},
	{name: "grace", display: "Grace", locked: true, follows: []string{"hugo", "ines"}},
	{name: "hugo", display: "Hugo", follows: []string{"eva", "ines"}},
	{name: "ines", display: "Ines", follows: []string{"ada", "chloe", "hugo"}},
	{name: "jonas", display: "Jonas", follows: []string{"ada", "kim", "lena"}},
	{name: "kim", display: "Kim", follows: []string{"jonas", "lena"}},
	{name: "lena", display: "Lena", follows: []string{"kim", "eva"}},
}

// demoPost is a post of the demo. Replies and reposts name an earlier one, from 1.
type demoPost struct {
	by, text         string
	replyTo, reposts int
}

// demoPosts fill the home of Ada: with posts of people she follows, a reply among them and
// to herself, and what a stranger wrote and two of them reposted.
var demoPosts = []demoPost{
	{by: "kim", text: "The market has strawberries from today on. #summer"},
	{by: "ben", text: "Who joins me on the lake on Sunday?"},
	{by: "ada", text: "@ben I do, if it does not rain.", replyTo: 2},
	{by: "chloe", reposts: 1},
	{by: "dan", text: "Read all night: https://example.org/the-long-way"},
	{by: "eva", text: "@dan And? Is it good?", replyTo: 5},
	{by: "hugo", reposts: 1},
	{by: "ben", text: "@ada It will not. #lake", replyTo: 3},
}

// demo makes the demo graph and its posts where there is no account at all, and reports
// whether it did. Follows are dated into the past, one an hour, so that lists
// have an order.
func (s *stack) demo(ctx context.Context) (bool, error) {
	there, err := s.accounts.Walk(ctx, 0, 1)
	if err != nil || len(there) > 0 {
		return false, err
	}
	// Half a demo graph would stay half: Ctrl-C waits for the moment it takes.
	ctx = context.WithoutCancel(ctx)
	ids := make(map[string]uint64, len(demoPeople))
	follows := 0
	for _, p := range demoPeople {
		made, err := s.accounts.Add(ctx, appaccount.Fresh{Username: p.name, DisplayName: p.display, Locked: p.locked})
		if err != nil {
			return false, fmt.Errorf("make the demo graph: %w", err)
		}
		ids[p.name] = made.ID
		follows += len(p.follows)
	}
	at := time.Now().Add(-time.Duration(follows) * time.Hour)
	relations := s.relationsAt(func() time.Time { return at }, 0, nil)
	for _, p := range demoPeople {
		for _, other := range p.follows {
			if _, err := relations.Follow(ctx, ids[p.name], ids[other], apprelation.FollowOptions{}); err != nil {
				return false, fmt.Errorf("make the demo graph: %w", err)
			}
			at = at.Add(time.Hour)
		}
	}
	return true, s.demoTalk(ctx, ids)
}

// demoTalk makes the posts of the demo, ten minutes apart.
func (s *stack) demoTalk(ctx context.Context, ids map[string]uint64) error {
	at := time.Now().Add(-time.Duration(len(demoPosts)) * 10 * time.Minute)
	posts := s.posts.at(func() time.Time { return at })
	made := make([]uint64, 0, len(demoPosts))
	for _, p := range demoPosts {
		var v post.View
		var err error
		if p.reposts > 0 {
			v, err = posts.Repost(ctx, ids[p.by], made[p.reposts-1], 0)
		} else {
			d := post.Draft{Content: post.Content{Text: p.text, Language: "en"}}
			if p.replyTo > 0 {
				d.ReplyTo = made[p.replyTo-1]
			}
			v, err = posts.Create(ctx, ids[p.by], d)
		}
		if err != nil {
			return fmt.Errorf("make the demo posts: %w", err)
		}
		made = append(made, v.Post.ID)
		at = at.Add(10 * time.Minute)
	}
	return nil
}
