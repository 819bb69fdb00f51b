package bulk_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/app/intake"
	"kith/app/post"
	"kith/app/post/bulk"
	"kith/app/post/posttest"
	"kith/repo"
	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/event"
	"kith/repo/feed"
	posts "kith/repo/post"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// world imports files.
type world struct {
	*posttest.World
	t *testing.T
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{posttest.New(t, posttest.Config{DB: dbtest.DB(t), Cache: cache.NewNone()}), t}
}

func (w *world) load(text string, change func(*bulk.Config)) (bulk.Summary, string, error) {
	w.t.Helper()
	var rejects bytes.Buffer
	c := bulk.Config{Config: intake.Config{Reader: strings.NewReader(text), Rejects: &rejects, MaxRejects: 1000, TempDir: w.t.TempDir()},
		Accounts: w.Accounts, Stored: w.Stored, Feeds: w.Feeds, Posts: w.Posts, Now: w.Now}
	if change != nil {
		change(&c)
	}
	sum, err := bulk.Import(w.t.Context(), c)
	return sum, rejects.String(), err
}

// wants imports a file and fails unless the numbers are these.
func (w *world) wants(text string, want bulk.Summary) (rejects string) {
	w.t.Helper()
	got, rejects, err := w.load(text, nil)
	got.Duration = 0
	if err != nil || got != want {
		w.t.Fatalf("got  %#v, %v\nwant %#v\nrejects %s", got, err, want, rejects)
	}
	return rejects
}

// of returns the posts of an account as it sees them, oldest first.
func (w *world) of(account uint64) []posts.Post {
	w.t.Helper()
	page, err := w.Posts.Of(w.t.Context(), account, account, post.Filter{}, repo.IDRange{Limit: 2000})
	if err != nil {
		w.t.Fatal(err)
	}
	var out []posts.Post
	for _, v := range page.Views {
		out = append(out, v.Post)
	}
	slices.Reverse(out)
	return out
}

func (w *world) feed(account uint64) feed.Row {
	w.t.Helper()
	row, err := w.Feeds.Row(w.t.Context(), account)
	if err != nil {
		w.t.Fatal(err)
	}
	return row
}

func at(minute int) string {
	return time.Date(2020, 5, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(minute) * time.Minute).Format(time.RFC3339)
}

func TestImport(t *testing.T) {
	w := newWorld(t)
	p := w.People(3)
	a, b, c := p[0], p[1], p[2]
	name, err := w.Accounts.Get(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	live := w.Post(t, a, "live").ID
	file := fmt.Sprintf(`{"account":"%d","text":"  a reply that stands before its post ","created_at":"%s","key":"r","reply_to":"one","visibility":"unlisted","language":"de","spoiler_text":"w"}
{"account":%d,"text":"one, for @%s","created_at":"%s","key":"one","media":[{"url":"https://a.example/1","description":"d"}]}

{"account":"@%s","created_at":"%s","repost_of":"one","key":"rp"}
{"account":"%d","created_at":"%s","repost_of":"rp"}
{"account":"%d","text":"no key","created_at":"%s"}
{"account":"%d","text":"no key","created_at":"%s"}
{"account":"%d","text":"to a repost","created_at":"%s","reply_to":"rp"}`,
		b, at(5), a, name.Username, at(1), name.Username, at(7), c, at(8), c, at(2), c, at(2), a, at(9))
	want := bulk.Summary{Lines: 8, Empty: 1, Repeats: 1, New: 6, Answers: 4}
	if got := w.wants(file, want); got != "" {
		t.Errorf("rejects %s", got)
	}

	of := w.of(a)
	if len(of) != 3 || of[2].ID != live {
		t.Fatalf("a has %+v, want two posts below the live one", of)
	}
	one := of[0]
	if one.Text != "one, for @"+name.Username || !slices.Equal(one.Mentions, []uint64{b}) || len(one.Media) != 1 || one.Time().Format(time.RFC3339) != at(1) {
		t.Errorf("the post is %+v", one)
	}
	if one.Counts != (posts.Counts{Replies: 2, Reposts: 2}) || of[1].ReplyTo != one.ID || of[1].ReplyWho != a {
		t.Errorf("counts are %+v, the reply to a repost %+v", one.Counts, of[1])
	}
	if r := w.of(b); r[0].Text != "a reply that stands before its post" || r[0].ReplyTo != one.ID || r[0].Visibility != posts.Unlisted || r[0].Language != "de" || !r[0].Sensitive || r[1].Origin != one.ID {
		t.Errorf("b has %+v", r)
	}
	received, err := w.Posts.Received(t.Context(), a, repo.IDRange{Limit: 9})
	if err != nil || len(received.Views) != 2 {
		t.Errorf("a received %v, %v, want two replies", received.Views, err)
	}
	if f := w.feed(a); f.LastID != live || f.Newest != live || f.Statuses != 3 {
		t.Errorf("the feed is %+v, want %d as the newest of 3", f, live)
	}
	if v, err := w.Posts.Repost(t.Context(), b, one.ID, 0); err != nil || v.Post.ID != w.of(b)[1].ID {
		t.Errorf("another repost is %d, %v, want the imported one", v.Post.ID, err)
	}

	// Again: nothing changes, not even a ver, and what was deleted stays deleted.
	if _, err := w.Posts.Delete(t.Context(), c, w.of(c)[0].ID); err != nil {
		t.Fatal(err)
	}
	before := []any{w.feed(a).Ver, w.feed(b).Ver, w.feed(c).Ver, w.of(a)[0].Ver}
	w.wants(file, bulk.Summary{Lines: 8, Empty: 1, Repeats: 1, Held: 6, Answers: 4})
	after := []any{w.feed(a).Ver, w.feed(b).Ver, w.feed(c).Ver, w.of(a)[0].Ver}
	if !slices.Equal(before, after) || len(w.of(c)) != 1 {
		t.Errorf("vers were %v and are %v; c has %d posts, want 1", before, after, len(w.of(c)))
	}
	// A longer file: only what is new.
	w.wants(file+fmt.Sprintf("\n"+`{"account":"%d","text":"more","created_at":"%s","reply_to":"r"}`, c, at(9)), bulk.Summary{Lines: 9, Empty: 1, Repeats: 1, Held: 6, New: 1, Answers: 5})
}

func TestImport_Rejects(t *testing.T) {
	w := newWorld(t)
	a := w.People(1)[0]
	line := func(rest string) string {
		return fmt.Sprintf(`{"account":"%d","created_at":"%s",%s}`, a, at(3), rest)
	}
	good := line(`"text":"good","key":"good"`)
	for _, c := range []struct{ line, want string }{
		{`no`, "no object of a post"},
		{`{"account":"1"} {}`, "more than one object"},
		{line(`"text":"x","txet":"y"`), `unknown field "txet"`},
		{"{\"account\":\"1\",\"text\":\"\xff\"}", "not UTF-8"},
		{`{"text":"x","created_at":"` + at(1) + `"}`, "account must be an id or @name"},
		{`{"account":"0","text":"x","created_at":"` + at(1) + `"}`, "account must be an id or @name"},
		{`{"account":"987654321","text":"x","created_at":"` + at(1) + `"}`, "there is no such account"},
		{`{"account":"@nobody_has_it","text":"x","created_at":"` + at(1) + `"}`, "there is no such account"},
		{fmt.Sprintf(`{"account":"%d","text":"x"}`, a), "created_at must be a time"},
		{fmt.Sprintf(`{"account":"%d","text":"x","created_at":"1999-12-31T23:59:59Z"}`, a), "created_at is before 2000"},
		{fmt.Sprintf(`{"account":"%d","text":"x","created_at":"%s"}`, a, w.Now().Add(time.Second).Format(time.RFC3339Nano)), "created_at is in the future"},
		{line(`"text":" "`), "Text can't be blank"},
		{line(`"text":"` + strings.Repeat("x", 501) + `"`), "character limit of 500"},
		{line(`"text":"x","visibility":"all"`), "visibility must be"},
		{line(`"text":"x","language":"?"`), "Language must be"},
		{line(`"media":[{"url":"ftp://a"}]`), "Media url must be"},
		{line(`"text":"x","repost_of":"good"`), "a repost has no text"},
		{line(`"reply_to":"good","repost_of":"good"`), "both there"},
		{line(`"text":"x","key":"k","reply_to":"k"`), "names itself"},
		{line(`"text":"x","key":"` + strings.Repeat("k", 513) + `"`), "at most 512 bytes"},
		{line(`"text":"x","reply_to":"nothing"`), "no line has the key"},
		{`{"account":"` + fmt.Sprint(a) + `","text":"x","created_at":"` + at(2) + `","reply_to":"good"}`, "created_at is before that of line 1"},
		{`{"account":"` + fmt.Sprint(a) + `","text":"x","created_at":"` + at(2) + `","key":"good"}`, "line 1 has the same key"},
		{strings.Repeat(" ", 300<<10) + "x", "line is too long"},
	} {
		rejects := w.wants(good+"\n"+c.line, bulk.Summary{Lines: 2, Rejected: 1, Held: min(1, int64(len(w.of(a)))), New: 1 - min(1, int64(len(w.of(a))))})
		if !strings.HasPrefix(rejects, "line 2: ") || !strings.Contains(rejects, c.want) {
			t.Errorf("%.80s is rejected as %q, want %q", c.line, rejects, c.want)
		}
	}
	// What names a rejected line, or goes in a circle, is rejected too; also a private post
	// cannot be reposted by another.
	rejects := w.wants(strings.Join([]string{good,
		line(`"text":"x","key":"x","reply_to":"nothing"`), line(`"text":"y","key":"y","reply_to":"x"`), line(`"text":"z","reply_to":"y"`),
		line(`"text":"1","key":"c1","reply_to":"c2"`), line(`"text":"2","key":"c2","reply_to":"c1"`),
		line(`"key":"c3","repost_of":"c4"`), line(`"key":"c4","repost_of":"c3"`),
		line(`"text":"d","key":"d","visibility":"direct"`), line(`"repost_of":"d"`), line(`"text":"1"`), line(`"text":"2"`), line(`"text":"3"`), line(`"text":"4"`), line(`"text":"5"`), line(`"text":"6"`),
	}, "\n"), bulk.Summary{Lines: 16, Rejected: 8, Held: 1, New: 7})
	for _, want := range []string{"line 2: no line", "line 3: line 2, which it names, is rejected", "line 4: line 3, which", "line 5: it names itself in a circle", "line 6: it names itself in a circle",
		fmt.Sprintf("line 3: line 2, which it names, is rejected: %q\n", line(`"text":"y","key":"y","reply_to":"x"`)[:80]), "line 7: it names itself in a circle", "line 10: line 9, which it names, cannot be reposted"} {
		if !strings.Contains(rejects, want) {
			t.Errorf("rejects are\n%s\nwant %q", rejects, want)
		}
	}
	_, _, err := w.load(good+"\nbad\nbad", nil)
	if !errors.Is(err, intake.ErrRejects) || errors.Is(err, intake.ErrPartial) {
		t.Errorf("got %v for more rejects than posts", err)
	}
	n := len(w.of(a))
	sum, _, err := w.load(strings.Join([]string{good, line(`"text":"dry","reply_to":"good"`), line(`"repost_of":"good"`), line(`"text":"x","reply_to":"nothing"`)}, "\n"),
		func(c *bulk.Config) { c.DryRun = true })
	if err != nil || sum.New != 3 || sum.Answers != 2 || sum.Rejected != 1 || len(w.of(a)) != n {
		t.Errorf("a dry run is %+v, %v, and leaves %d posts, want %d", sum, err, len(w.of(a)), n)
	}
}

// Lines of one second answer each other, in any order of the file; their ids rise all the
// same.
func TestImport_SameTime(t *testing.T) {
	w := newWorld(t)
	a := w.People(1)[0]
	var lines []string
	for i := range 50 {
		l := fmt.Sprintf(`{"account":"%d","text":"%d","created_at":"%s","key":"%d"`, a, i, at(0), i)
		if i > 0 {
			l += fmt.Sprintf(`,"reply_to":"%d"`, i-1)
		}
		lines = append(lines, l+"}")
	}
	slices.Reverse(lines)
	w.wants(strings.Join(lines, "\n"), bulk.Summary{Lines: 50, New: 50, Answers: 49})
	before := uint64(0)
	for i, p := range w.of(a) {
		if p.Text != fmt.Sprint(i) || p.ReplyTo != before || p.ReplyTo >= p.ID {
			t.Errorf("post %d is %q in reply to %d, want %d", i, p.Text, p.ReplyTo, before)
		}
		before = p.ID
	}
}

// More posts of one time and bucket than there are ids in a millisecond: each has its id, and
// a second import, in another order, finds them all.
func TestImport_Collisions(t *testing.T) {
	w := newWorld(t)
	a := w.People(1)[0]
	b := a + repo.Buckets
	w.Make(b)
	var lines []string
	for i := range 3000 {
		lines = append(lines, fmt.Sprintf(`{"account":"%d","text":"%d","created_at":"%s"}`, []uint64{a, b}[i%2], i, at(0)))
	}
	w.wants(strings.Join(lines, "\n"), bulk.Summary{Lines: 3000, New: 3000})
	if n, m := w.feed(a).Statuses, w.feed(b).Statuses; n != 1500 || m != 1500 {
		t.Errorf("%d and %d posts, want 1500 each", n, m)
	}
	slices.Reverse(lines)
	w.wants(strings.Join(lines, "\n"), bulk.Summary{Lines: 3000, Held: 3000})
}

// The feed has the newest 800 events, whatever the order in which they came, and what is
// below its floor is read from the table.
func TestImport_Feed(t *testing.T) {
	w := newWorld(t)
	a := w.People(1)[0]
	part := func(from, to int) {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, `{"account":"%d","text":"%d","created_at":"%s"}`+"\n", a, i, at(i))
		}
		w.wants(b.String(), bulk.Summary{Lines: int64(to - from), New: int64(to - from)})
	}
	for _, r := range [][2]int{{500, 1100}, {0, 500}, {1100, 1300}} {
		part(r[0], r[1])
		row := w.feed(a)
		events, floor, err := row.Events(nil)
		if err != nil {
			t.Fatal(err)
		}
		all := w.of(a)
		for i, p := range all {
			if i > 0 && p.ID <= all[i-1].ID {
				t.Fatalf("%q stands behind %q", p.Text, all[i-1].Text)
			}
		}
		n := min(len(all), feed.MaxEvents)
		if int(row.Statuses) != len(all) || len(events) != n || events[0].ID != all[len(all)-1].ID || events[n-1].ID != all[len(all)-n].ID {
			t.Errorf("%d statuses, %d events, %d posts", row.Statuses, len(events), len(all))
		}
		if want := events[n-1].ID; floor != 0 && floor != want || (len(all) > n) != (floor != 0) {
			t.Errorf("floor is %d, want %d", floor, want)
		}
		if row.LastID != events[0].ID || row.Newest != events[0].ID {
			t.Errorf("last %d, newest %d, want %d", row.LastID, row.Newest, events[0].ID)
		}
	}
	if p := w.Post(t, a, "now"); p.ID <= w.feed(a).LastID-1 || event.Time(p.ID).Before(event.Time(w.of(a)[0].ID)) {
		t.Errorf("the next id is %d", p.ID)
	}
}

// Who imports month by month can answer a post of an earlier file: with that file.
func TestImport_EarlierFile(t *testing.T) {
	w := newWorld(t)
	p := w.People(2)
	first := fmt.Sprintf(`{"account":%d,"text":"of january","created_at":"%s","key":"january"}`, p[0], at(1))
	next := fmt.Sprintf(`{"account":%d,"text":"of february","created_at":"%s","reply_to":"january"}
{"account":%d,"created_at":"%s","repost_of":"january"}`, p[1], at(2), p[1], at(3))
	w.wants(first, bulk.Summary{Lines: 1, New: 1})
	_, rejects, err := w.load(next, nil)
	if !errors.Is(err, intake.ErrRejects) || strings.Count(rejects, "import that file and this one together") != 2 {
		t.Errorf("rejects %s, %v; want that they say what to do", rejects, err)
	}
	w.wants(first+"\n"+next, bulk.Summary{Lines: 3, Held: 1, New: 2, Answers: 2})
	of := w.of(p[0])
	if got := w.of(p[1]); len(of) != 1 || of[0].Counts != (posts.Counts{Replies: 1, Reposts: 1}) || len(got) != 2 || got[0].ReplyTo != of[0].ID {
		t.Errorf("got %+v and %+v; want a reply to the post of january, and a repost", of, got)
	}
}
