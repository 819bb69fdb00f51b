package hometest

import (
	"slices"

	"kith/repo/post"
)

// Mark is that an account favours, keeps or pins a post.
type Mark struct{ Account, Post uint64 }

// Marks are in the order in which they came; each stands once.
type Marks []Mark

// Set adds a mark, or takes it away.
func (m *Marks) Set(mark Mark, yes bool) {
	if !yes {
		*m = slices.DeleteFunc(*m, func(o Mark) bool { return o == mark })
	} else if !slices.Contains(*m, mark) {
		*m = append(*m, mark)
	}
}

// Of returns the posts that an account marked and may see, the last marked first.
func (w *World) Of(marks Marks, account uint64) (ids []uint64) {
	for _, m := range slices.Backward(marks) {
		if m.Account == account && w.Sees(account, w.Posts[m.Post]) {
			ids = append(ids, m.Post)
		}
	}
	return ids
}

// On returns the accounts that marked a post, the last first.
func (m Marks) On(post uint64) (accounts []uint64) {
	for _, m := range slices.Backward(m) {
		if m.Post == post {
			accounts = append(accounts, m.Account)
		}
	}
	return accounts
}

// Names reports whether an account that reposted or favours a post is named to a viewer.
func (w *World) Names(viewer, who uint64) bool {
	return !w.unwanted(viewer, who) && !w.Blocks[Pair{who, viewer}]
}

// SeesEvent reports whether an account may see a post, or a repost and what it reposts.
func (w *World) SeesEvent(viewer uint64, p *post.Post) bool {
	return w.Sees(viewer, p) && (p.Origin == 0 || w.Sees(viewer, w.Posts[p.Origin]))
}

// all returns the ids of posts that are not deleted, newest first.
func (w *World) all(which func(*post.Post) bool) (ids []uint64) {
	for id, p := range w.Posts {
		if p.State != post.Deleted && which(p) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b uint64) int {
		if a > b {
			return -1
		}
		return 1
	})
	return ids
}

// Reposts returns the reposts of a post, newest first.
func (w *World) Reposts(id uint64) []uint64 {
	return w.all(func(p *post.Post) bool { return p.Origin == id })
}

// Counts are those of a post.
func (w *World) Counts(id uint64) post.Counts {
	replies := w.all(func(p *post.Post) bool { return p.ReplyTo == id && p.Visibility <= post.Unlisted })
	return post.Counts{Replies: uint32(len(replies)), Reposts: uint32(len(w.Reposts(id))), Favourites: uint32(len(w.Favourites.On(id)))}
}

// Counted returns the posts and reposts of an account that are counted, newest first.
func (w *World) Counted(account uint64) []uint64 {
	return w.all(func(p *post.Post) bool { return p.Author == account && p.Visibility != post.Direct })
}

// ByFor returns those that a viewer may see, and with noReplies and noReposts without
// answers to others, and without reposts.
func (w *World) ByFor(viewer, account uint64, noReplies, noReposts bool) []uint64 {
	return w.all(func(p *post.Post) bool {
		return p.Author == account && w.SeesEvent(viewer, p) &&
			!(noReplies && p.ReplyTo != 0 && p.ReplyWho != account) && !(noReposts && p.Origin != 0)
	})
}

// Received returns the replies to the posts of an account that it may see, newest first.
func (w *World) Received(account uint64) []uint64 {
	return w.all(func(p *post.Post) bool { return p.ReplyTo != 0 && p.ReplyWho == account && w.Sees(account, p) })
}

// Above returns the posts that a post answers, as far as a viewer sees them, the first of
// the conversation first.
func (w *World) Above(viewer, id uint64) (ids []uint64) {
	for id = w.Posts[id].ReplyTo; id != 0; id = w.Posts[id].ReplyTo {
		if w.Sees(viewer, w.Posts[id]) {
			ids = append(ids, id)
		}
	}
	slices.Reverse(ids)
	return ids
}

// Below returns the answers to a post, oldest first, each before its own, as far as a viewer
// sees them.
func (w *World) Below(viewer, id uint64) (ids []uint64) {
	replies := w.all(func(p *post.Post) bool { return p.ReplyTo == id && w.Sees(viewer, p) })
	for _, r := range slices.Backward(replies) {
		ids = append(append(ids, r), w.Below(viewer, r)...)
	}
	return ids
}
