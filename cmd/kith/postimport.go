package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

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
		"that it says: importing a file again, or one that has become longer, makes only what is missing, and brings back nothing that was deleted. Nothing is pushed: home " +
		"timelines have the posts when they are built anew, within 5 minutes. Servers may run meanwhile. The file is read to its end before anything is changed: " +
		"one with too many rejected lines, or a compressed one that breaks off, changes nothing and ends with exit code 5."
}

// Run imports the file and prints every number of what it did.
func (c *postImportCmd) Run(ctx context.Context) error {
	if err := c.checkMemory(); err != nil {
		return err
	}
	file, err := c.open()
	if err != nil {
		return err
	}
	defer file.Close()
	debug.SetMemoryLimit(int64(c.Memory))
	return c.with(ctx, func(s *stack) error { return c.load(ctx, s, file) })
}

func (c *postImportCmd) load(ctx context.Context, s *stack, file *os.File) error {
	rejects, err := c.rejects(file)
	if err != nil {
		return err
	}
	show := newProgress(os.Stderr, time.Now)
	sum, err := bulk.Import(ctx, bulk.Config{
		Reader: file, Rejects: rejects, MaxRejects: c.MaxRejects, DryRun: c.DryRun, Memory: int64(c.Memory) / 2, TempDir: c.TempDir,
		Progress: show.report, Accounts: s.people, Stored: s.posts.rows, Feeds: s.posts.feeds, Posts: s.posts.service, Now: time.Now,
	})
	show.end()
	err = errors.Join(err, rejects.Close())
	fmt.Print(sum)
	rejects.say()
	return err
}
