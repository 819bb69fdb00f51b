package home_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"kith/app"
	"kith/app/home"
	"kith/app/home/hometest"
	"kith/app/marker"
	"kith/app/post"
	"kith/app/relation"
	posts "kith/repo/post"
)

// step is one thing that accounts do, or that is compared. It names people and earlier steps
// by number, and draws the rest by itself: so any part of a history is one, too.
type step struct {
	no         int
	kind       string
	who, other int
	of         int // the step that made the post which it is about
	pause      int64
	seed       uint64
}

// The kinds, and how often each comes among a hundred.
var kinds = []struct {
	name string
	n    int
}{
	{"write", 21}, {"burst", 1}, {"repost", 20}, {"undo", 6}, {"delete", 3}, {"hide", 2}, {"show", 2},
	{"favour", 6}, {"unfavour", 3}, {"bookmark", 3}, {"unbookmark", 1}, {"pin", 3}, {"unpin", 1},
	{"relate", 18}, {"page", 5}, {"refresh", 4}, {"set back", 1},
}

const (
	twinPeople  = 20
	twinReaders = 4 // of the people read homes
	twinWindow  = 3
)

// history returns n steps, with a comparison after every few, and 60 before them in which
// accounts follow each other. In the middle memcached is flushed, where there is one, and
// now and then one of several processes is killed.
func history(seed uint64, n int) []step {
	h := drawn{r: rand.New(rand.NewPCG(seed, 0))}
	for i := range 60 {
		who := h.r.IntN(twinPeople)
		if i%3 > 0 {
			who %= twinReaders
		}
		h.add(step{kind: "follow", who: who, other: h.r.IntN(twinPeople)})
	}
	for i := range n {
		h.any()
		if i == n/2 {
			h.add(step{kind: "flush"})
		}
		switch i % 8 {
		case 3:
			if h.r.IntN(2) == 0 {
				h.add(step{kind: "kill"})
			}
		case 5:
			h.followAgain()
		case 7:
			h.add(step{kind: "compare"})
		}
	}
	return h.steps
}

// drawn is a history that is being drawn.
type drawn struct {
	r             *rand.Rand
	steps         []step
	made, reposts []int // steps that made posts, and those of them that are reposts
}

func (h *drawn) add(s step) {
	s.no, s.seed = len(h.steps), h.r.Uint64()
	switch s.kind {
	case "write", "burst":
		h.made = append(h.made, s.no)
	case "repost":
		h.made, h.reposts = append(h.made, s.no), append(h.reposts, s.no)
	case "undo":
		s.of = h.last(h.reposts)
	}
	h.steps = append(h.steps, s)
}

// last returns one of the last of some steps, or -1.
func (h *drawn) last(of []int) int {
	if len(of) == 0 {
		return -1
	}
	back := min(len(of), []int{4, 12, 100}[h.r.IntN(3)])
	return of[len(of)-1-h.r.IntN(back)]
}

// any adds a step of any kind.
func (h *drawn) any() {
	s := step{who: h.r.IntN(twinPeople), other: h.r.IntN(twinPeople), pause: []int64{0, 1, 2, 5}[h.r.IntN(4)], of: h.last(h.made)}
	if h.r.IntN(60) == 0 {
		s.pause = 400 // lines are built anew
	}
	k := 0
	for at := h.r.IntN(100); at >= kinds[k].n; k++ {
		at -= kinds[k].n
	}
	s.kind = kinds[k].name
	if s.of < 0 {
		s.kind = "write"
	}
	if s.kind == "relate" && h.r.IntN(2) == 0 {
		s.who %= twinReaders
	}
	h.add(s)
}

// followAgain adds that a reader does not follow an author while that posts.
func (h *drawn) followAgain() {
	reader, author := h.r.IntN(twinReaders), h.r.IntN(twinPeople)
	h.add(step{kind: "unfollow", who: reader, other: author})
	h.add(step{kind: "write", who: author, of: h.last(h.made)})
	h.add(step{kind: "follow", who: reader, other: author, pause: 1})
}

// twin is 20 accounts that do anything, and the plain program's world of them. All its
// methods that compare return what differs.
type twin struct {
	machine *machine
	ctx     context.Context
	model   hometest.World
	people  []uint64
	made    map[int]uint64    // the posts and reposts, by their steps
	called  map[uint64]string // as the history names them
	reading [twinReaders]reading
	walks   [twinReaders]cursor
	log     []string
	r       *rand.Rand // of the step
	at      int        // the process that carries it out
}

func newTwin(m *machine) *twin {
	rules := home.NewRules(twinWindow)
	return &twin{machine: m, ctx: m.t.Context(), people: m.worlds[0].People(twinPeople), made: map[int]uint64{}, called: map[uint64]string{},
		model: hometest.World{
			Posts: map[uint64]*posts.Post{}, Follows: map[hometest.Pair]hometest.Follow{}, Blocks: map[hometest.Pair]bool{},
			Mutes: map[hometest.Pair]time.Time{}, Window: rules.Window, Reach: rules.Reach,
		}}
}

// name names an account or a post as the history does.
func (tw *twin) name(id uint64) string {
	if at := slices.Index(tw.people, id); at >= 0 {
		return fmt.Sprintf("p%d", at)
	}
	return cmp.Or(tw.called[id], strconv.FormatUint(id, 10))
}

func (tw *twin) names(ids []uint64) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = tw.name(id)
	}
	return "[" + strings.Join(out, " ") + "]"
}

// note says what was done.
func (tw *twin) note(s step, what string, args ...any) {
	tw.log = append(tw.log, fmt.Sprintf("%4d +%ds process %d: ", s.no, s.pause, tw.at)+fmt.Sprintf(what, args...))
}

// done compares whether something was answered with whether it may be.
func (tw *twin) done(s step, err error, may bool, what string, args ...any) (bool, error) {
	if kind := app.KindOf(err); err != nil && (kind == app.Internal || kind == app.Busy) || (err == nil) != may {
		return false, differs("%s: %v; it may: %t", fmt.Sprintf(what, args...), err, may)
	}
	if err != nil {
		what += ": refused"
	}
	tw.note(s, what, args...)
	return err == nil, nil
}

var errDiffers = errors.New("product and plain program differ")

func differs(what string, args ...any) error {
	return fmt.Errorf("%w: %s", errDiffers, fmt.Sprintf(what, args...))
}

// do carries out a step.
func (tw *twin) do(s step) error {
	tw.machine.tick(s.pause)
	tw.r = rand.New(rand.NewPCG(s.seed, 1))
	tw.at = tw.r.IntN(len(tw.machine.worlds))
	w := tw.machine.worlds[tw.at]
	who, id := tw.people[s.who], tw.made[s.of]
	p := tw.model.Posts[id]
	switch s.kind {
	case "follow":
		return tw.relate(w, s, 0)
	case "unfollow":
		return tw.relate(w, s, 2)
	case "relate":
		return tw.relate(w, s, tw.r.IntN(7))
	case "write":
		return tw.write(w, s, p)
	case "burst":
		return tw.burst(w, s)
	case "flush", "kill", "compare":
		tw.note(s, "%s", s.kind)
		return map[string]func() error{"flush": tw.machine.flush, "kill": tw.machine.kill, "compare": tw.compare}[s.kind]()
	case "page", "refresh", "set back":
		tw.note(s, "%s of p%d", s.kind, s.who%twinReaders)
		return tw.read(s, id)
	}
	if p == nil {
		return nil // its step is not in this history, or was refused
	}
	switch s.kind {
	case "repost", "undo", "delete":
		return tw.change(w, s, who, p)
	case "hide", "show":
		return tw.moderate(w, s, p)
	}
	return tw.mark(w, s, who, p)
}

// read carries out a step of a reader.
func (tw *twin) read(s step, id uint64) error {
	reader := s.who % twinReaders
	switch s.kind {
	case "page":
		return tw.walk(reader)
	case "refresh":
		return tw.refresh(reader)
	}
	return tw.setBack(reader, id)
}

// shown is the post that an event brings.
func (tw *twin) shown(p *posts.Post) *posts.Post {
	if p.Origin != 0 {
		return tw.model.Posts[p.Origin]
	}
	return p
}

// add notes a new post, which the history names by its step and part, and compares what it
// says of others.
func (tw *twin) add(s step, part string, got, want posts.Post) error {
	tw.made[s.no], tw.called[got.ID] = got.ID, fmt.Sprintf("#%d%s", s.no, part)
	want.Meta = got.Meta
	if !reflect.DeepEqual(got, want) {
		return differs("%s is %+v, want %+v", tw.name(got.ID), got, want)
	}
	tw.model.Posts[got.ID] = &want
	return nil
}

// write makes a post, which may answer one.
func (tw *twin) write(w *world, s step, p *posts.Post) error {
	want := posts.Post{Author: tw.people[s.who], Visibility: posts.Visibility(max(0, tw.r.IntN(7)-3)), Content: posts.Content{Text: "hi", Language: []string{"", "en", "de"}[tw.r.IntN(3)]}}
	may := true
	d := post.Draft{Visibility: want.Visibility}
	if p != nil && tw.r.IntN(3) == 0 {
		d.ReplyTo, may = p.ID, tw.model.SeesEvent(want.Author, p)
		want.ReplyTo, want.ReplyWho = tw.shown(p).ID, tw.shown(p).Author
	}
	if tw.r.IntN(3) == 0 {
		who := tw.people[tw.r.IntN(twinPeople)]
		want.Text += fmt.Sprintf(" @u%d", who)
		want.Mentions = []uint64{who}
	}
	d.Text, d.Language = want.Text, want.Language
	v, err := w.Posts.Create(tw.ctx, want.Author, d)
	ok, err := tw.done(s, err, may, "p%d writes #%d, answers %s, mentions %s, %s, in %q", s.who, s.no, tw.name(d.ReplyTo), tw.names(want.Mentions), want.Visibility, want.Language)
	if !ok {
		return err
	}
	return tw.add(s, "", v.Post, want)
}

// burst makes more posts than a refresh hands out.
func (tw *twin) burst(w *world, s step) error {
	want := posts.Post{Author: tw.people[s.who], Content: posts.Content{Text: "one of many"}}
	tw.note(s, "p%d writes #%d.0 to #%d.%d", s.who, s.no, s.no, marker.PageSize)
	for i := range marker.PageSize + 1 {
		tw.machine.tick(0)
		v, err := w.Posts.Create(tw.ctx, want.Author, post.Draft{Content: want.Content})
		if err != nil {
			return err
		}
		if err := tw.add(s, fmt.Sprintf(".%d", i), v.Post, want); err != nil {
			return err
		}
	}
	return nil
}

// change makes reposts, and deletes them and posts.
func (tw *twin) change(w *world, s step, who uint64, p *posts.Post) error {
	of := tw.shown(p)
	switch s.kind {
	case "repost":
		may := tw.model.SeesEvent(who, p) && (of.Visibility <= posts.Unlisted || of.Visibility == posts.Followers && of.Author == who)
		v, err := w.Posts.Repost(tw.ctx, who, p.ID, 0)
		ok, err := tw.done(s, err, may, "p%d reposts %s as #%d", s.who, tw.name(p.ID), s.no)
		if !ok {
			return err
		}
		for _, id := range tw.model.Reposts(of.ID) {
			if tw.model.Posts[id].Author == who {
				if tw.made[s.no] = id; v.Post.ID != id {
					return differs("%s is reposted twice", tw.name(of.ID))
				}
				return nil
			}
		}
		return tw.add(s, "", v.Post, posts.Post{Author: who, Origin: of.ID, Visibility: of.Visibility})
	case "undo":
		_, err := w.Posts.Undo(tw.ctx, p.Author, p.Origin) // which takes effect also where the post is not seen, and not answered
		if _, err := tw.done(s, err, tw.model.Sees(p.Author, of), "%s undoes %s", tw.name(p.Author), tw.name(p.ID)); err != nil {
			return err
		}
		for _, id := range tw.model.Reposts(of.ID) { // it may be a later one
			if q := tw.model.Posts[id]; q.Author == p.Author {
				q.State = posts.Deleted
			}
		}
		return nil
	}
	_, err := w.Posts.Delete(tw.ctx, p.Author, p.ID)
	if ok, err := tw.done(s, err, tw.model.Sees(p.Author, p), "%s deletes %s", tw.name(p.Author), tw.name(p.ID)); !ok {
		return err
	}
	for _, id := range append(tw.model.Reposts(p.ID), p.ID) {
		tw.model.Posts[id].State = posts.Deleted
	}
	return nil
}

// moderate hides a post, or shows it again.
func (tw *twin) moderate(w *world, s step, p *posts.Post) error {
	state := map[string]posts.State{"hide": posts.Hidden, "show": posts.Live}[s.kind]
	_, err := w.Posts.Moderate(tw.ctx, p.ID, state)
	ok, err := tw.done(s, err, p.Origin == 0 && p.State != posts.Deleted, "%s: %s", s.kind, tw.name(p.ID))
	if ok {
		p.State = state
	}
	return err
}

// mark notes something about a post, or takes that away, which takes effect also where the
// post is not seen any more, and not answered.
func (tw *twin) mark(w *world, s step, who uint64, p *posts.Post) error {
	kind, off := strings.CutPrefix(s.kind, "un")
	do, marks := w.Posts.Favour, &tw.model.Favourites
	of, sees, may := tw.shown(p), tw.model.SeesEvent(who, p), true
	switch kind {
	case "bookmark":
		do, marks = w.Posts.Bookmark, &tw.model.Bookmarks
	case "pin":
		if tw.r.IntN(3) > 0 {
			who = p.Author
			sees = tw.model.SeesEvent(who, p)
		}
		do, marks = w.Posts.Pin, &tw.model.Pins
		if sees {
			may = p.Author == who && p.Origin == 0 && p.Visibility != posts.Direct && (off || tw.mayPin(who, p.ID))
		}
	}
	if may && off {
		marks.Set(hometest.Mark{Account: who, Post: of.ID}, false)
		sees = tw.model.Sees(who, of)
	}
	_, err := do(tw.ctx, who, p.ID, !off)
	ok, err := tw.done(s, err, may && sees, "%s: %s by %s", s.kind, tw.name(p.ID), tw.name(who))
	if ok && !off {
		marks.Set(hometest.Mark{Account: who, Post: of.ID}, true)
	}
	return err
}

// mayPin reports whether an account has room for a pin: five posts that are not deleted.
func (tw *twin) mayPin(who, id uint64) bool {
	n := 0
	for _, m := range tw.model.Pins {
		if m.Account == who && m.Post == id {
			return true
		}
		if m.Account == who && tw.model.Posts[m.Post].State != posts.Deleted {
			n++
		}
	}
	return n < 5
}

// relate changes what somebody is to another.
func (tw *twin) relate(w *world, s step, kind int) error {
	who, other := tw.people[s.who], tw.people[s.other]
	pair := hometest.Pair{From: who, To: other}
	var rel relation.Relationship
	var err error
	switch kind {
	case 0, 1:
		var o relation.FollowOptions
		reposts, languages := tw.r.IntN(6) > 0, [][]string{nil, nil, nil, {"en"}}[tw.r.IntN(4)]
		o.Reposts, o.Languages = &reposts, &languages
		rel, err = w.Follow(tw.ctx, who, other, o)
	case 2:
		rel, err = w.Unfollow(tw.ctx, who, other)
	case 3:
		rel, err = w.Block(tw.ctx, who, other)
	case 4:
		rel, err = w.Unblock(tw.ctx, who, other)
	case 5:
		rel, err = w.Mute(tw.ctx, who, other, true, []time.Duration{0, 30 * time.Second, time.Hour}[tw.r.IntN(3)])
	case 6:
		rel, err = w.Unmute(tw.ctx, who, other)
	}
	may := who != other && (kind > 1 || !tw.model.Blocks[pair] && !tw.model.Blocks[hometest.Pair{From: other, To: who}])
	ok, err := tw.done(s, err, may, "p%d %s p%d: %+v", s.who, []string{"follows", "follows", "unfollows", "blocks", "unblocks", "mutes", "unmutes"}[kind], s.other, rel)
	if !ok {
		return err
	}
	delete(tw.model.Follows, pair)
	delete(tw.model.Blocks, pair)
	delete(tw.model.Mutes, pair)
	if rel.Following {
		tw.model.Follows[pair] = hometest.Follow{HideReposts: !rel.ShowingReposts, Languages: rel.Languages}
	}
	if rel.Blocking {
		tw.model.Blocks[pair] = true
		delete(tw.model.Follows, hometest.Pair{From: other, To: who})
	}
	if rel.Muting {
		tw.model.Mutes[pair] = time.Time{}
		if rel.MutedUntil != 0 {
			tw.model.Mutes[pair] = time.Unix(int64(rel.MutedUntil), 0)
		}
	}
	return nil
}
