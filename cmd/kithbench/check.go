package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"kith/cmd/kithbench/peer"
)

// The ids of the accounts that works make suffice for so many rounds and so long
// a span.
const (
	mostRounds = 100
	mostSpan   = 10 * time.Second
)

// check looks at what was asked for before anything starts.
func (c *runCmd) check() error {
	if err := only("work", c.Works, works); err != nil {
		return err
	}
	if err := only("peer", c.Peers, peer.Names); err != nil {
		return err
	}
	if c.Rounds < 1 || c.Rounds > mostRounds || c.Span <= 0 || c.Span > mostSpan {
		return fmt.Errorf("--rounds must be from 1 to %d, and --span above 0 and up to %v", mostRounds, mostSpan)
	}
	if c.Memory <= 0 && (c.wants("memory") || c.Memory < 0) {
		return errors.New("--memory must be above 0")
	}
	if c.Short {
		c.Rounds, c.Span, c.Memory = min(c.Rounds, 2), min(c.Span, 250*time.Millisecond), min(c.Memory, 4*time.Second)
	}
	if err := c.checkNeeds(); err != nil {
		return err
	}
	return c.checkOut()
}

// only returns an error where some are not of all, or are there twice.
func only(kind string, some, all []string) error {
	for i, s := range some {
		if !slices.Contains(all, s) {
			return fmt.Errorf("there is no %s %q, only %v", kind, s, all)
		}
		if slices.Contains(some[:i], s) {
			return fmt.Errorf("the %s %q is named twice", kind, s)
		}
	}
	return nil
}

// readers are the peers that works which only read have a part for.
var readers = []string{peer.KithName, peer.AloneName, peer.TwoTableName, peer.RedisName, peer.SyncedName}

// needs are the peers without which a work cannot be: all of the first, and one
// at least of the second.
var needs = map[string]struct{ all, one []string }{
	"states":  {one: readers},
	"page":    {one: peer.Names[:len(peer.Names)-1]},
	"mixed":   {one: readers},
	"contend": {all: []string{peer.KithName}},
	"http":    {all: []string{peer.KithName, peer.AloneName}},
	"memory":  {all: []string{peer.KithName}},
}

// lacks says which peers a work needs that are not there; empty if none.
func (c *runCmd) lacks(work string) string {
	there := func(name string) bool { return slices.Contains(c.peers(), name) }
	n := needs[work]
	if missing := slices.DeleteFunc(slices.Clone(n.all), there); len(missing) > 0 {
		return fmt.Sprintf("the work %s needs the peers %v, and there is no %v", work, n.all, missing)
	}
	if len(n.one) > 0 && !slices.ContainsFunc(n.one, there) {
		return fmt.Sprintf("the work %s needs one of the peers %v", work, n.one)
	}
	return ""
}

// checkNeeds leaves out works for which peers are missing, if nobody named them.
func (c *runCmd) checkNeeds() error {
	for _, w := range works {
		if lack := c.lacks(w); lack != "" && slices.Contains(c.Works, w) {
			return errors.New(lack)
		}
	}
	if len(c.Works) > 0 {
		return nil
	}
	for _, w := range works {
		if lack := c.lacks(w); lack != "" {
			say("left out: %s", lack)
			continue
		}
		c.Works = append(c.Works, w)
	}
	return nil
}

// checkOut makes the folder and sees whether files can be made in it.
func (c *runCmd) checkOut() error {
	if c.Out == "" {
		return nil
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	f, err := os.CreateTemp(c.Out, ".kithbench-")
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
