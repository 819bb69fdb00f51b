package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/app/account"
	"kith/app/api"
	"kith/app/api/core"
	"kith/app/api/instance"
	"kith/app/home"
	"kith/app/marker"
	"kith/app/post"
	"kith/app/promotion"
	"kith/app/relation"
	apptask "kith/app/task"
	"kith/app/token"
	accounts "kith/repo/account"
	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/committer"
	"kith/repo/dbtest"
	"kith/repo/feed"
	"kith/repo/list"
	"kith/repo/mark"
	positioned "kith/repo/marker"
	posts "kith/repo/post"
	promoted "kith/repo/promotion"
	rows "kith/repo/relation"
	"kith/repo/task"
	"kith/repo/timeline"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// clock is the time of a test.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// everything is what services need of a store.
type everything interface {
	account.Store
	relation.Accounts
}

// followed adds to relation rows what homes ask of them.
type followed struct{ relation.Rows }

func (f followed) Following(ctx context.Context, r rows.Row) ([]uint64, error) {
	v, err := r.View()
	if err != nil {
		return nil, err
	}
	if all, ok := f.Rows.(*rows.Store); ok {
		return all.Following(ctx, r)
	}
	return v.AppendIDs(nil, list.ByFollowing), nil
}

func (f followed) EachFollowers(_ context.Context, r rows.Row, fn func([]uint64) error) error {
	v, err := r.View()
	if err != nil {
		return err
	}
	return fn(v.AppendIDs(nil, list.ByFollower))
}

// servicesOfPosts makes the services of posts and homes.
func servicesOfPosts(t testing.TB, pool *sqlx.DB, r relation.Rows, a post.Accounts, c cache.Cache, now func() time.Time) (*post.Service, *home.Service) {
	tasks := task.New(pool)
	stored := posts.New(pool, c, now)
	feeds := feed.New(pool, c, stored, tasks, now)
	edits, reactions := committer.New(feeds, committer.Config{}), committer.New(stored, committer.Config{})
	runner := apptask.New(apptask.Config{Store: tasks})
	t.Cleanup(func() {
		runner.Close(context.Background())
		if err := errors.Join(edits.Close(context.Background()), reactions.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	s := post.New(post.Config{Posts: stored, Feeds: feeds, Marks: mark.New(pool, c, tasks, now), Edits: edits, Reactions: reactions, Tasks: runner,
		Relations: r, Accounts: a, Now: now, Push: true})
	runner.Handle(task.Settle, s.SettlePost)
	runner.Handle(task.Favourite, s.SettleFavourite)
	lines, err := timeline.NewLocal(timeline.Config{MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lines.Close() })
	pusher := home.NewPusher(home.PushConfig{Followers: followed{r}, Authors: feeds, Edits: edits, Posts: stored, Lines: lines, Limit: 1000, Now: now})
	runner.Handle(task.Push, pusher.Push)
	runner.Start()
	homes := home.New(home.Config{Relations: followed{r}, Posts: stored, Feeds: feeds, Lines: lines, Now: now, Push: true})
	t.Cleanup(homes.Close)
	return s, homes
}

// world is a server with people in it.
type world struct {
	t        testing.TB
	clock    *clock
	accounts *account.Service
	tokens   *token.Tokens
	server   *core.Server
	http     *httptest.Server
	log      *syncBuffer
	nextID   func() uint64
	changed  func(relation.Change) // what else is given to

	promotions *promotion.Service
}

// option changes the configuration of a test's server.
type option func(*api.Config)

// newWorld makes a world in memory.
func newWorld(t testing.TB, options ...option) *world {
	w, _ := newBrokenWorld(t, options...)
	return w
}

// newBrokenWorld is newWorld with a store that can be made to fail.
func newBrokenWorld(t testing.TB, options ...option) (*world, *memory) {
	m := newMemory()
	return build(t, m, m, m, cache.NewNone(), options), m
}

// newLiveWorld makes a world on a real database.
func newLiveWorld(t testing.TB, options ...option) *world {
	t.Helper()
	return newLiveWorldOn(t, cachetest.Local(t), options...)
}

// newLiveWorldOn is newLiveWorld with a cache.
func newLiveWorldOn(t testing.TB, c cache.Cache, options ...option) *world {
	t.Helper()
	pool := dbtest.DB(t)
	store := rows.New(pool, c, 0, time.Now)
	people := accounts.New(pool, c)
	edits := committer.New(store, committer.Config{})
	t.Cleanup(func() {
		if err := edits.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return build(t, store, edits, people, c, options)
}

// build makes a world of relations and accounts; posts are always on a real database.
func build(t testing.TB, r relation.Rows, c relation.Committer, a everything, held cache.Cache, options []option) *world {
	t.Helper()
	w := &world{t: t, clock: &clock{now: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)}, log: &syncBuffer{}, changed: func(relation.Change) {}}
	w.nextID = func() uint64 { return dbtest.IDs(t, 1)[0] }
	w.accounts = account.New(a, w.clock.Now)
	tokens, err := token.New(t.Context(), token.Config{Secret: []byte(strings.Repeat("s", 32)), Now: w.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	w.tokens = tokens
	cfg := api.Config{
		Config: core.Config{Accounts: w.accounts, Tokens: tokens, Now: w.clock.Now, BaseURL: "https://kith.example",
			Log: slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: timeless}))},
		About: instance.About{Version: "0.1"},
		Relations: relation.New(relation.Config{Rows: r, Committer: c, Accounts: a, Now: w.clock.Now,
			Listeners: []func(relation.Change){func(c relation.Change) { w.changed(c) }}}),
	}
	cfg.Posts, cfg.Homes = servicesOfPosts(t, dbtest.DB(t), r, a, held, w.clock.Now)
	cfg.Markers = marker.New(marker.Config{Store: positioned.New(dbtest.DB(t)), Homes: cfg.Homes, Now: w.clock.Now})
	w.promotions = promotion.New(promotion.Config{Store: promoted.New(dbtest.DB(t)), Homes: cfg.Homes, Posts: cfg.Posts, Accounts: w.accounts, Now: w.clock.Now})
	cfg.Promotions = w.promotions
	for _, o := range options {
		o(&cfg)
	}
	if w.server, err = api.New(cfg); err != nil {
		t.Fatal(err)
	}
	w.http = httptest.NewServer(w.server)
	t.Cleanup(w.http.Close)
	return w
}

// add makes an account and returns its id.
func (w *world) add(locked bool) uint64 {
	w.t.Helper()
	id := w.nextID()
	if _, err := w.accounts.Add(context.Background(), account.Fresh{ID: id, Username: fmt.Sprintf("Name%d", id), Locked: locked}); err != nil {
		w.t.Fatal(err)
	}
	return id
}

// people makes n accounts.
func (w *world) people(n int) []uint64 {
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = w.add(false)
	}
	return ids
}

// as is a client with a token of id; without scopes it has read, write and follow.
func (w *world) as(id uint64, scopes ...string) client {
	w.t.Helper()
	if len(scopes) == 0 {
		scopes = []string{"read", "write", "follow"}
	}
	text, err := w.tokens.Sign(id, scopes, time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	return client{w: w, token: text}
}

// anonymous is a client without a token.
func (w *world) anonymous() client { return client{w: w} }

type client struct {
	w     *world
	token string
}

// answer is a response that was read to its end.
type answer struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   string
}

func (c client) get(path string) answer  { return c.send(http.MethodGet, path, "", "") }
func (c client) post(path string) answer { return c.send(http.MethodPost, path, "", "") }
func (c client) form(path, body string) answer {
	return c.send(http.MethodPost, path, "application/x-www-form-urlencoded", body)
}
func (c client) json(path, body string) answer {
	return c.send(http.MethodPost, path, "application/json", body)
}

func (c client) send(method, path, kind, body string) answer {
	c.w.t.Helper()
	r, err := http.NewRequest(method, c.w.http.URL+path, strings.NewReader(body))
	if err != nil {
		c.w.t.Fatal(err)
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	return c.do(r)
}

func (c client) do(r *http.Request) answer {
	c.w.t.Helper()
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		c.w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.w.t.Fatal(err)
	}
	return answer{c.w.t, r.Method + " " + r.URL.Path, resp.StatusCode, resp.Header, string(body)}
}

// want checks the code.
func (a answer) want(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: got %d %s; want %d", a.what, a.status, a.body, status)
	}
	if kind := a.header.Get("Content-Type"); a.body != "" && strings.HasPrefix(a.what, "GET /api") && kind != "application/json; charset=utf-8" {
		a.t.Fatalf("%s: got content type %q", a.what, kind)
	}
	return a
}

// refused checks the code and the sentence.
func (a answer) refused(status int, sentence string) {
	a.t.Helper()
	a.want(status)
	var e map[string]string
	if err := json.Unmarshal([]byte(a.body), &e); err != nil || len(e) != 2 || e["code"] == "" || !strings.Contains(e["error"], sentence) {
		a.t.Fatalf("%s: got %s, want the error %q with a code", a.what, a.body, sentence)
	}
}

// into decodes a body, 200 expected.
func into[T any](a answer) T {
	a.t.Helper()
	var v T
	a.want(http.StatusOK)
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		a.t.Fatalf("%s: %v in %s", a.what, err, a.body)
	}
	return v
}

// rel is a Relationship as it is decoded.
type rel struct {
	ID                  string   `json:"id"`
	Following           bool     `json:"following"`
	ShowingReblogs      bool     `json:"showing_reblogs"`
	Notifying           bool     `json:"notifying"`
	Languages           []string `json:"languages"`
	FollowedBy          bool     `json:"followed_by"`
	Blocking            bool     `json:"blocking"`
	BlockedBy           bool     `json:"blocked_by"`
	Muting              bool     `json:"muting"`
	MutingNotifications bool     `json:"muting_notifications"`
	MutingExpiresAt     *string  `json:"muting_expires_at"`
	Requested           bool     `json:"requested"`
	RequestedBy         bool     `json:"requested_by"`
	DomainBlocking      bool     `json:"domain_blocking"`
	Endorsed            bool     `json:"endorsed"`
	Note                string   `json:"note"`
}

// who is what tests read of an Account.
type who struct {
	ID        string  `json:"id"`
	Followers int     `json:"followers_count"`
	Following int     `json:"following_count"`
	Until     *string `json:"mute_expires_at"`
}

func at(id uint64, rest string) string { return fmt.Sprintf("/api/v1/accounts/%d%s", id, rest) }

func names(people []who) []string {
	out := make([]string, len(people))
	for i, p := range people {
		out[i] = p.ID
	}
	return out
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// timeless leaves the time out of a line: its digits may be anything that a test
// looks for.
func timeless(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// status is a Status as it is decoded.
type status struct {
	ID         string  `json:"id"`
	Replies    int     `json:"replies_count"`
	Reblogs    int     `json:"reblogs_count"`
	Favourites int     `json:"favourites_count"`
	Bookmarked bool    `json:"bookmarked"`
	Reblog     *status `json:"reblog"`
}
