package main

import (
	"context"
	"fmt"
	"time"

	"kith/app/intake"
	"kith/app/post/bulk"
)

type postImportCmd struct {
	tool
	fileImport
}

// Help is the text above the flags.
func (postImportCmd) Help() string {
	return "A line of the file is a JSON object with account (an id, or @name), text and created_at (such as 2026-01-31T12:00:00Z), and where wanted key, visibility " +
		"(public, unlisted, private or direct), language, spoiler_text, sensitive, media (objects with url, preview_url and description), and reply_to or repost_of: " +
		"the key of another line, earlier or later. Accounts must exist, and posts stand at their time. The account, the time and the key say which post a line is, without a key all " +
		"that it says: importing a file again, or one that has become longer, makes only what is missing, and brings back nothing that was deleted. " +
		"If lines name keys of a file that was imported before, import both together: cat january.jsonl february.jsonl | kith post import -. Nothing is pushed: home " +
		"timelines have the posts when they are built anew, within 5 minutes. Servers may run meanwhile. The file is read to its end before anything is changed: " +
		"one with too many rejected lines, or a compressed one that breaks off, changes nothing and ends with exit code 5."
}

// Run imports the file.
func (c *postImportCmd) Run(ctx context.Context) error {
	return c.run(ctx, &c.tool, c.with, func(s *stack, in intake.Config) (fmt.Stringer, error) {
		return bulk.Import(ctx, bulk.Config{Config: in, Accounts: s.people, Stored: s.posts.rows, Feeds: s.posts.feeds, Posts: s.posts.service, Now: time.Now})
	})
}
