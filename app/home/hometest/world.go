// Package hometest computes home timelines the plain way, to compare the product with: from
// all follows, blocks, mutes and posts at once, with nothing kept and nothing clever. It
// shares no code with package home. A home of n events costs it n times the window. Counts
// and other lists of posts it computes so, too.
package hometest

import (
	"slices"
	"time"

	"kith/repo/post"
)

// Pair is two accounts: From does something to To.
type Pair struct{ From, To uint64 }

// Follow is what an account chose about one that it follows.
type Follow struct {
	HideReposts bool
	Languages   []string // none: all
}

// World is what homes are made of.
type World struct {
	Now     time.Time
	Posts   map[uint64]*post.Post // and reposts, by id, also the deleted ones
	Follows map[Pair]Follow
	Blocks  map[Pair]bool
	Mutes   map[Pair]time.Time // until when; the zero time: without end
	// What accounts noted about posts.
	Favourites, Bookmarks, Pins Marks

	Window int // KITH_REPOST_WINDOW
	Reach  int // how many events of the home a post is looked for in; 10 windows
}

// Entry is one post of a home.
type Entry struct {
	ID      uint64   // of the oldest event: the post itself, or a repost
	Post    uint64   // that it brings
	Sources []uint64 // the ids of its reposts, newest first
}

// Home returns the home timeline of an account, newest first.
func (w *World) Home(reader uint64) []Entry {
	var events []*post.Post // of this home, the oldest first
	for _, p := range w.Posts {
		if w.counts(reader, p) {
			events = append(events, p)
		}
	}
	slices.SortFunc(events, func(a, b *post.Post) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	shown := make([]bool, len(events))
	for i, p := range events {
		shown[i] = w.shown(reader, p)
	}

	before := make([]int, len(events)) // the occurrence of the same post that an event joins
	after := make([]int, len(events))  // the event that joins it
	for i := range events {
		before[i], after[i] = -1, -1
	}
	for i, p := range events {
		if !shown[i] {
			continue
		}
		others := map[uint64]bool{} // posts that events between i and j bring, shown or not
		for j := i - 1; j >= 0 && len(others) < w.Window && i-j-1 < w.Reach; j-- {
			if brings(events[j]) != brings(p) {
				others[brings(events[j])] = true
			} else if shown[j] {
				before[i], after[j] = j, i
				break
			}
		}
	}

	var home []Entry
	for i := len(events) - 1; i >= 0; i-- {
		if !shown[i] || before[i] >= 0 {
			continue
		}
		e := Entry{ID: events[i].ID, Post: brings(events[i])}
		for j := i; j >= 0 && j-i-1 < w.Reach; j = after[j] {
			if events[j].Origin != 0 {
				e.Sources = append([]uint64{events[j].ID}, e.Sources...)
			}
		}
		home = append(home, e)
	}
	return home
}

func brings(p *post.Post) uint64 {
	if p.Origin != 0 {
		return p.Origin
	}
	return p.ID
}

// counts reports whether an event is one of the reader's home, shown or not.
func (w *World) counts(reader uint64, p *post.Post) bool {
	if p.Origin >= p.ID {
		return false
	}
	if p.Author == reader {
		return true
	}
	follow, follows := w.Follows[Pair{reader, p.Author}]
	if !follows || w.unwanted(reader, p.Author) || w.Blocks[Pair{p.Author, reader}] {
		return false
	}
	return p.Origin == 0 || !follow.HideReposts
}

// unwanted reports whether an account blocks or mutes another.
func (w *World) unwanted(by, who uint64) bool {
	until, mutes := w.Mutes[Pair{by, who}]
	return w.Blocks[Pair{by, who}] || mutes && (until.IsZero() || until.After(w.Now))
}

// shown reports whether an event of the reader's home is shown.
func (w *World) shown(reader uint64, p *post.Post) bool {
	if !w.Sees(reader, p) {
		return false
	}
	if p.Origin != 0 {
		origin := w.Posts[p.Origin]
		return origin != nil && w.Sees(reader, origin) && !w.unwanted(reader, origin.Author) && !w.mentionsUnwanted(reader, origin)
	}
	if p.Author == reader {
		return true
	}
	if p.ReplyTo != 0 && p.ReplyWho != reader && p.ReplyWho != p.Author {
		if _, follows := w.Follows[Pair{reader, p.ReplyWho}]; !follows {
			return false
		}
	}
	languages := w.Follows[Pair{reader, p.Author}].Languages
	if p.Language != "" && len(languages) > 0 && !slices.Contains(languages, p.Language) {
		return false
	}
	return !w.mentionsUnwanted(reader, p)
}

func (w *World) mentionsUnwanted(reader uint64, p *post.Post) bool {
	if p.Author == reader {
		return false
	}
	for _, who := range p.Mentions {
		if w.unwanted(reader, who) {
			return true
		}
	}
	return false
}

// Sees reports whether an account may see a post; 0 is anybody without an account.
func (w *World) Sees(reader uint64, p *post.Post) bool {
	if p.Ver == 0 || p.State != post.Live {
		return false
	}
	if reader == p.Author {
		return true
	}
	if w.Blocks[Pair{reader, p.Author}] || w.Blocks[Pair{p.Author, reader}] {
		return false
	}
	_, follows := w.Follows[Pair{reader, p.Author}]
	mentioned := reader != 0 && slices.Contains(p.Mentions, reader)
	switch p.Visibility {
	case post.Public, post.Unlisted:
		return true
	case post.Followers:
		return follows || mentioned
	default:
		return mentioned
	}
}
