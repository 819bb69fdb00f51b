package home_test

import (
	"testing"
	"time"

	"kith/app/home"
	"kith/app/home/hometest"
	"kith/repo/post"
)

// The accounts of the table. The reader follows a, b, c, quiet and english.
const (
	a = 2 + iota
	b
	c
	stranger
	blocked
	blocker
	muted
	quiet   // without reposts
	english // for en only
	other   // a stranger, too
)

func tableStory() *story {
	w := newStory(home.Rules{Window: 4, Reach: 40, Passed: 80})
	for _, id := range []uint64{a, b, c, quiet, english} {
		w.follow(id)
	}
	w.Follows[hometest.Pair{From: reader, To: quiet}] = hometest.Follow{HideReposts: true}
	w.Follows[hometest.Pair{From: reader, To: english}] = hometest.Follow{Languages: []string{"en"}}
	w.Blocks[hometest.Pair{From: reader, To: blocked}] = true
	w.Blocks[hometest.Pair{From: blocker, To: reader}] = true
	w.Mutes[hometest.Pair{From: reader, To: muted}] = time.Time{}
	return w
}

func (w *story) follow(id uint64)   { w.Follows[hometest.Pair{From: reader, To: id}] = hometest.Follow{} }
func (w *story) unfollow(id uint64) { delete(w.Follows, hometest.Pair{From: reader, To: id}) }
func (w *story) block(id uint64) {
	w.unfollow(id)
	w.Blocks[hometest.Pair{From: reader, To: id}] = true
}

func (w *story) posts(n int, author uint64) {
	for range n {
		w.post(author, nil)
	}
}

func (w *story) reply(author, to uint64) uint64 {
	return w.post(author, func(p *post.Post) { p.ReplyTo, p.ReplyWho = to, w.Posts[to].Author })
}

func (w *story) mention(author uint64, who ...uint64) uint64 {
	return w.post(author, func(p *post.Post) { p.Mentions = who })
}

func (w *story) undo(id uint64) { w.set(id, post.Deleted) }

// The rules of Mastodon's feed, by their numbers in the contract. Events are named by the
// order in which they come, from 0: an entry 4:0<7<4 has the id of event 4, brings post 0,
// and has the sources 7 and 4.
func TestRules_Mastodon(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(w *story)
		want string
	}{
		{"F1 followee and stranger", func(w *story) { w.post(a, nil); w.post(stranger, nil); w.post(reader, nil) }, " 2:2 0:0"},
		{"F2 repost of a stranger", func(w *story) { w.repost(a, w.post(stranger, nil)) }, " 1:0<1"},
		{"F3 by a blocker", func(w *story) { w.follow(blocker); w.post(blocker, nil) }, ""},
		{"F4 by somebody blocked", func(w *story) { w.follow(blocked); w.post(blocked, nil) }, ""},
		{"F5 reposts of blocked, blocker, muted", func(w *story) {
			w.repost(a, w.post(blocked, nil))
			w.repost(a, w.post(blocker, nil))
			w.repost(reader, w.post(muted, nil))
		}, ""},
		{"F6 hidden reposts", func(w *story) { w.repost(quiet, w.post(stranger, nil)); w.post(quiet, nil) }, " 2:2"},
		{"F7 replies", func(w *story) {
			w.reply(a, w.post(b, nil))
			w.reply(a, w.reply(a, w.post(reader, nil)))
			w.reply(a, w.post(stranger, nil))
			w.reply(reader, w.post(stranger, nil))
			w.repost(b, w.reply(c, w.post(stranger, nil)))
		}, " 11:10<11 8:8 4:4 3:3 2:2 1:1 0:0"},
		{"F8 mentions", func(w *story) {
			w.mention(a, stranger)
			w.mention(a, stranger, blocked)
			w.mention(a, muted)
			w.mention(reader, muted)
		}, " 3:3 0:0"},
		{"F9 languages", func(w *story) {
			for _, code := range []string{"en", "de", ""} {
				w.post(english, func(p *post.Post) { p.Language = code })
			}
		}, " 2:2 0:0"},
		{"F11 no cap", func(w *story) { w.posts(12, a) }, " 11:11 10:10 9:9 8:8 7:7 6:6 5:5 4:4 3:3 2:2 1:1 0:0"},
		{"F12 repost of what was not in the home", func(w *story) { w.post(stranger, nil); w.posts(5, a); w.repost(b, w.order[0]) }, " 6:0<6 5:5 4:4 3:3 2:2 1:1"},
		{"F13 repost of what is near", func(w *story) { w.post(a, nil); w.posts(3, b); w.repost(c, w.order[0]) }, " 3:3 2:2 1:1 0:0<4"},
		{"F14 repost of what is far", func(w *story) { w.post(a, nil); w.posts(4, b); w.repost(c, w.order[0]) }, " 5:0<5 4:4 3:3 2:2 1:1 0:0"},
		{"F15 second repost", func(w *story) { w.repost(b, w.post(stranger, nil)); w.repost(a, w.order[0]) }, " 1:0<2<1"},
		{"F16 the first repost is undone, then another", func(w *story) {
			w.undo(w.repost(a, w.post(stranger, nil)))
			w.repost(b, w.order[0])
		}, " 2:0<2"},
		{"F17 the first of three is undone", func(w *story) {
			first := w.repost(a, w.post(stranger, nil))
			w.repost(b, w.order[0])
			w.undo(first)
			w.repost(c, w.order[0])
		}, " 2:0<3<2"},
		{"F18 reposted long ago", func(w *story) { w.repost(a, w.post(stranger, nil)); w.posts(4, b); w.repost(c, w.order[0]) }, " 6:0<6 5:5 4:4 3:3 2:2 1:0<1"},
		{"F19 the post comes after its repost", func(w *story) { w.repost(a, w.post(stranger, nil)); w.post(b, nil); w.follow(stranger) }, " 2:2 0:0<1"},
		{"F20 follow", func(w *story) {
			w.repost(a, w.post(stranger, nil))
			w.post(stranger, nil)
			w.repost(stranger, w.post(other, nil))
			w.follow(stranger)
		}, " 4:3<4 2:2 0:0<1"},
		{"F21 undo leaves the post", func(w *story) { w.undo(w.repost(b, w.post(a, nil))) }, " 0:0"},
		{"F22 undo of the only repost", func(w *story) { w.undo(w.repost(b, w.post(stranger, nil))) }, ""},
		{"F23 undo of all but the last", func(w *story) {
			w.undo(w.repost(a, w.post(stranger, nil)))
			w.undo(w.repost(b, w.order[0]))
			w.repost(c, w.order[0])
		}, " 3:0<3"},
		{"F25 block", func(w *story) {
			w.post(a, nil)                          // 0
			w.post(b, nil)                          // 1, goes
			w.repost(a, w.order[1])                 // 2, goes
			w.mention(c, b)                         // 3, goes
			w.repost(a, w.mention(stranger, b))     // 5, goes
			w.repost(b, w.order[0])                 // 6, goes
			w.repost(c, w.mention(stranger, other)) // 8
			w.post(c, nil)                          // 9
			w.block(b)
		}, " 9:9 8:7<8 0:0"},
		{"unfollow takes what came only from there", func(w *story) {
			w.repost(a, w.post(b, nil))
			w.repost(c, w.order[0])
			w.post(b, nil)
			w.unfollow(b)
			w.unfollow(a)
		}, " 2:0<2"},
		{"delete takes the reposts, too", func(w *story) { w.repost(b, w.post(a, nil)); w.repost(c, w.order[0]); w.undo(w.order[0]) }, ""},
		{"hidden takes the reposts, too", func(w *story) { w.repost(b, w.post(a, nil)); w.set(w.order[0], post.Hidden) }, ""},
		{"own repost of an own post", func(w *story) { w.repost(reader, w.post(reader, nil)) }, " 0:0<1"},
		{"what is not shown counts for the window", func(w *story) {
			w.post(a, nil)
			w.posts(3, b)
			w.undo(w.post(b, nil))
			w.repost(c, w.order[0])
		}, " 5:0<5 3:3 2:2 1:1 0:0"},
		{"what others than those followed do does not", func(w *story) {
			w.post(a, nil)
			w.posts(3, b)
			w.posts(9, stranger)
			w.repost(quiet, w.order[9])
			w.repost(c, w.order[0])
		}, " 3:3 2:2 1:1 0:0<14"},
		{"reposts of one post count once", func(w *story) {
			w.post(a, nil)
			w.post(a, nil)
			w.repost(b, w.order[1])
			w.repost(c, w.order[1])
			w.posts(2, b)
			w.repost(b, w.order[0])
		}, " 5:5 4:4 1:1<3<2 0:0<6"},
		{"from one occurrence to the next", func(w *story) {
			w.post(a, nil)
			w.posts(3, b)
			w.repost(b, w.order[0])
			w.posts(3, a)
			w.repost(c, w.order[0])
		}, " 7:7 6:6 5:5 3:3 2:2 1:1 0:0<8<4"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := tableStory()
			test.do(w)
			if got := names(w, w.Home(reader)); got != test.want {
				t.Errorf("the plain program gives%s, want%s", got, test.want)
			}
			if got := names(w, w.all(t)); got != test.want {
				t.Errorf("got%s, want%s", got, test.want)
			}
		})
	}
}
