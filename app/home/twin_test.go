package home_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kith/app"
	"kith/app/home"
	"kith/app/home/hometest"
	"kith/app/post"
	"kith/app/relation"
	"kith/repo/feed"
	posts "kith/repo/post"
	"kith/repo/row"
)

// twin is 20 accounts that do anything, and the plain program's world of them.
type twin struct {
	*world
	t       *testing.T
	r       *rand.Rand
	model   hometest.World
	people  []uint64
	order   []uint64                 // the ids of posts and reposts, as they came
	reposts map[hometest.Pair]uint64 // by whom, of what
	often   uint64                   // who does most, 0: nobody
	limit   int                      // of pages
	log     []string
}

func newTwin(t *testing.T, w *world, seed uint64) *twin {
	rules := home.NewRules(twinWindow)
	tw := &twin{world: w, t: t, limit: 9, r: rand.New(rand.NewPCG(seed, 0)), people: w.People(20), reposts: map[hometest.Pair]uint64{},
		model: hometest.World{
			Posts: map[uint64]*posts.Post{}, Follows: map[hometest.Pair]hometest.Follow{}, Blocks: map[hometest.Pair]bool{},
			Mutes: map[hometest.Pair]time.Time{}, Window: rules.Window, Reach: rules.Reach,
		}}
	for range 60 {
		tw.relate(tw.person(), tw.person(), 0)
	}
	return tw
}

const twinWindow = 3

func (tw *twin) person() uint64 { return tw.people[tw.r.IntN(len(tw.people))] }

// anyPost returns one of the last posts, mostly, or 0.
func (tw *twin) anyPost() uint64 {
	if len(tw.order) == 0 {
		return 0
	}
	back := min(len(tw.order), []int{4, 12, 100}[tw.r.IntN(3)])
	return tw.order[len(tw.order)-1-tw.r.IntN(back)]
}

// done reports whether something was done, and not refused; then it is noted.
func (tw *twin) done(err error, what string, args ...any) bool {
	tw.t.Helper()
	switch app.KindOf(err) {
	case app.Busy:
		tw.t.Fatal(err)
	case app.Internal:
		if err != nil {
			tw.t.Fatal(err)
		}
	}
	if err == nil {
		tw.log = append(tw.log, fmt.Sprintf(what, args...))
	}
	return err == nil
}

// step does one thing.
func (tw *twin) step() {
	tw.Clock.Add(int64([]int{0, 1, 1, 2}[tw.r.IntN(4)]))
	if tw.r.IntN(60) == 0 {
		tw.Clock.Add(400) // lines are built anew
	}
	who, other, id := tw.person(), tw.person(), tw.anyPost()
	if tw.often != 0 && tw.r.IntN(3) > 0 {
		who = tw.often
	}
	ctx := tw.t.Context()
	switch kind := tw.r.IntN(100); {
	case id == 0 || kind < 30:
		tw.write(who, id)
	case kind < 60:
		v, err := tw.Posts.Repost(ctx, who, id, 0)
		if tw.done(err, "%d reposts %d: %d", who, id, v.Post.ID) {
			tw.add(&v.Post)
			tw.reposts[hometest.Pair{From: who, To: v.Post.Origin}] = v.Post.ID
		}
	case kind < 70:
		for pair, repost := range tw.reposts { // any
			if _, err := tw.Posts.Undo(ctx, pair.From, pair.To); tw.done(err, "%d undoes %d of %d", pair.From, repost, pair.To) {
				tw.model.Posts[repost].State = posts.Deleted
				delete(tw.reposts, pair)
			}
			break
		}
	case kind < 75:
		if p := tw.model.Posts[id]; p.Origin == 0 {
			if _, err := tw.Posts.Delete(ctx, p.Author, id); tw.done(err, "%d deletes %d", p.Author, id) {
				p.State = posts.Deleted
			}
		}
	case kind < 79:
		state := []posts.State{posts.Hidden, posts.Live}[tw.r.IntN(2)]
		if p := tw.model.Posts[id]; p.Origin == 0 && tw.done(tw.Posts.SetState(ctx, p.Author, id, state), "%d has state %d", id, state) {
			p.State = state
		}
	default:
		if tw.r.IntN(2) == 0 {
			who = tw.people[tw.r.IntN(twinReaders)]
		}
		tw.relate(who, other, tw.r.IntN(7))
	}
}

func (tw *twin) add(p *posts.Post) {
	if tw.model.Posts[p.ID] == nil {
		tw.model.Posts[p.ID] = p
		tw.order = append(tw.order, p.ID)
	}
}

// write makes a post, which may answer one.
func (tw *twin) write(who, id uint64) {
	d := post.Draft{Visibility: posts.Visibility(max(0, tw.r.IntN(7)-3)), Content: posts.Content{Text: "hi", Language: []string{"", "en", "de"}[tw.r.IntN(3)]}}
	if tw.r.IntN(3) == 0 {
		d.ReplyTo = id
	}
	if tw.r.IntN(3) == 0 {
		d.Text += fmt.Sprintf(" @u%d", tw.person())
	}
	if v, err := tw.Posts.Create(tw.t.Context(), who, d); tw.done(err, "%d writes %d, answers %d: %q for %d in %q", who, v.Post.ID, d.ReplyTo, d.Text, d.Visibility, d.Language) {
		tw.add(&v.Post)
	}
}

// relate changes what somebody is to another.
func (tw *twin) relate(who, other uint64, kind int) {
	ctx, pair := tw.t.Context(), hometest.Pair{From: who, To: other}
	var rel relation.Relationship
	var err error
	switch kind {
	case 0, 1:
		var o relation.FollowOptions
		reposts, languages := tw.r.IntN(6) > 0, [][]string{nil, nil, nil, {"en"}}[tw.r.IntN(4)]
		o.Reposts, o.Languages = &reposts, &languages
		rel, err = tw.Follow(ctx, who, other, o)
	case 2:
		rel, err = tw.Unfollow(ctx, who, other)
	case 3:
		rel, err = tw.Block(ctx, who, other)
	case 4:
		rel, err = tw.Unblock(ctx, who, other)
	case 5:
		rel, err = tw.Mute(ctx, who, other, true, []time.Duration{0, 30 * time.Second, time.Hour}[tw.r.IntN(3)])
	case 6:
		rel, err = tw.Unmute(ctx, who, other)
	}
	if !tw.done(err, "%d relates to %d: %+v", who, other, rel) {
		return
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
}

// twinReaders is how many of the people read homes.
const twinReaders = 4

// check compares homes, walked down or up, or a page somewhere.
func (tw *twin) check() {
	tw.t.Helper()
	tw.pushed()
	tw.model.Now = tw.Now()
	for _, reader := range tw.people[:twinReaders] {
		model := tw.model.Home(reader)
		if tw.r.IntN(3) == 0 {
			tw.cool(reader) // else the row is older
		} else if tw.warm != nil {
			tw.lines.Drop(tw.t.Context(), reader)
		}
		for _, oldest := range []bool{false, true} {
			tw.same(reader, fmt.Sprintf("oldest first %t", oldest), tw.walk(reader, oldest), model)
		}
		want := home.Range{Before: tw.anyPost(), After: tw.anyPost(), Limit: 1 + tw.r.IntN(8), Oldest: tw.r.IntN(2) == 0}
		page, err := tw.Home(tw.t.Context(), reader, want)
		if err != nil {
			tw.t.Fatal(err)
		}
		tw.same(reader, fmt.Sprintf("%+v", want), itemEntries(page.Items), within(model, want))
	}
}

func (tw *twin) walk(reader uint64, oldest bool) (got []hometest.Entry) {
	tw.t.Helper()
	want := home.Range{Oldest: oldest}
	for {
		want.Limit = 1 + tw.r.IntN(tw.limit)
		page, err := tw.Home(tw.t.Context(), reader, want)
		if err != nil {
			tw.t.Fatal(err)
		}
		if oldest {
			got, want.After = append(itemEntries(page.Items), got...), page.Next
		} else {
			got, want.Before = append(got, itemEntries(page.Items)...), page.Next
		}
		if page.Next == 0 {
			return got
		}
	}
}

func itemEntries(items []home.Item) []hometest.Entry {
	entries := make([]home.Entry, len(items))
	for i, item := range items {
		entries[i] = item.Entry
	}
	return plain(entries)
}

func (tw *twin) same(reader uint64, what string, got, want []hometest.Entry) {
	tw.t.Helper()
	if same(got, want) {
		return
	}
	name := &story{order: slices.Sorted(slices.Values(tw.order))}
	tw.t.Fatalf("%s\nhome of %d, %s\ngot %s\nwant%s\norder %d", strings.Join(tw.log, "\n"), reader, what, names(name, got), names(name, want), name.order)
}

// A home is that of the plain program, whichever way its events come.
func TestService_Home_Plain(t *testing.T) {
	for name, c := range map[string]config{
		"cold": {}, "hot": {lines: local(t)}, "no push": {lines: local(t), noPush: true}, "some pulled": {lines: local(t), limit: 3},
		"short": {lines: local(t), cap: 10}, "warm": {lines: local(t), warm: true}, "warm and short, no push": {lines: local(t), warm: true, cap: 10, noPush: true},
	} {
		t.Run(name, func(t *testing.T) {
			c.window = twinWindow
			w := newWorld(t, c)
			for seed := range uint64(3) {
				tw := newTwin(t, w, seed)
				for range 15 {
					for range 8 {
						tw.step()
					}
					tw.check()
				}
			}
		})
	}
}

// The same holds further down than author feeds go.
func TestService_Home_PlainDeep(t *testing.T) {
	w := newWorld(t, config{window: twinWindow, lines: local(t), cap: 100})
	tw := newTwin(t, w, 0)
	tw.often, tw.limit = tw.people[10], 80
	for _, reader := range tw.people[:twinReaders] {
		tw.relate(reader, tw.often, 0)
		tw.relate(reader, tw.people[11], 0)
	}
	of := w.Post(t, tw.often, "is reposted behind three others, one of them deleted")
	for _, p := range []posts.Post{of, w.Post(t, tw.often, "1"), w.Post(t, tw.often, "2"), w.Post(t, tw.often, "goes")} {
		tw.add(&p)
	}
	if _, err := w.Posts.Delete(t.Context(), tw.often, tw.order[3]); err != nil {
		t.Fatal(err)
	}
	tw.model.Posts[tw.order[3]].State = posts.Deleted
	tw.add(&posts.Post{Meta: row.Meta{ID: w.repost(tw.people[11], of.ID), Ver: 1}, Author: tw.people[11], Origin: of.ID})
	for range 150 {
		tw.step()
	}
	const writers = 20 // at once, which takes less time
	made := make([][]posts.Post, writers)
	var g errgroup.Group
	for i := range writers {
		g.Go(func() error {
			for range feed.MaxEvents / writers {
				v, err := tw.Posts.Create(t.Context(), tw.often, post.Draft{Content: posts.Content{Text: "more"}})
				if err != nil {
					return err
				}
				made[i] = append(made[i], v.Post)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, p := range slices.Concat(made...) {
		tw.add(&p)
	}
	slices.Sort(tw.order)
	tw.check()
	tw.order = tw.order[:len(tw.order)-feed.MaxEvents] // what happens next is about what is old
	for range 40 {
		tw.step()
	}
	tw.check()
}
