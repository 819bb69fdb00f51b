package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/app/affinity"
	"kith/app/api"
	"kith/app/interaction"
	"kith/app/suggest"
	"kith/repo"
	scores "kith/repo/affinity"
	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/dbtest"
	events "kith/repo/interaction"
	rows "kith/repo/relation"
	"kith/repo/seen"
	suggestions "kith/repo/suggest"
)

// recorded is what a real recorder writes.
type recorded struct {
	recorder *interaction.Recorder
	events   []interaction.Event
	seen     []uint64
}

func (r *recorded) Append(_ context.Context, batches []events.Batch) error {
	for _, b := range batches {
		some, err := b.Decode()
		if err != nil {
			return err
		}
		r.events = append(r.events, some...)
	}
	return nil
}

func (r *recorded) Put(_ context.Context, marks []seen.Mark) error {
	for _, m := range marks {
		r.seen = append(r.seen, m.AccountID)
	}
	return nil
}

// finish has the recorder write all that it was given.
func (r *recorded) finish(t *testing.T) {
	t.Helper()
	if err := r.recorder.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// newRecordedWorld is a world in memory whose interactions a test can read once they
// are finished.
func newRecordedWorld(t *testing.T) (*world, *recorded) {
	r := &recorded{}
	w := newWorld(t, func(c *api.Config) {
		weighs := func(kind string) bool { return kind == "message" || kind == "visit" || kind == "follow" }
		r.recorder = interaction.New(interaction.Config{Log: r, Marks: r, Weighs: weighs, Every: time.Hour, Now: c.Now})
		c.Interactions = r.recorder
	})
	t.Cleanup(func() { r.recorder.Close(context.Background()) })
	w.changed = r.recorder.Changed
	return w, r
}

func TestInteractions(t *testing.T) {
	w, r := newRecordedWorld(t)
	me := w.add(false)
	server := w.as(me, "write:interactions")
	noon := uint32(time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC).Unix())
	t.Run("taken", func(t *testing.T) {
		a := server.json("/api/v1/interactions", `{"interactions":[
			{"actor":"1","target":"2","kind":"message","at":"2026-05-01T09:00:00Z"},
			{"actor":3,"target":4,"kind":"visit","at":`+fmt.Sprint(noon)+`},
			{"actor":"5","target":"6","kind":"visit"}, {"actor":"5","target":"5","kind":"visit","at":null}]}`)
		if a.want(http.StatusAccepted); a.body != "{}" {
			t.Errorf("got %s", a.body)
		}
	})
	good := `{"actor":"1","target":"2","kind":"visit"}`
	many := func(n int) string { return strings.TrimSuffix(strings.Repeat(good+",", n), ",") }
	t.Run("a thousand", func(t *testing.T) {
		long := `{"actor":"9223372036854775807","target":"9223372036854775806","kind":"message","at":"2026-05-01T09:00:00.123456+00:00"},`
		server.json("/api/v1/interactions", `{"interactions":[`+strings.TrimSuffix(strings.Repeat(long, 1000), ",")+`]}`).want(http.StatusAccepted)
	})
	for name, c := range map[string]struct {
		body     string
		status   int
		sentence string
	}{
		"second is bad": {`{"interactions":[` + good + `,{"actor":"x","target":"2","kind":"visit"}]}`, 422, "interactions[1]: actor is not an account id"},
		"zero before":   {`{"interactions":[{"actor":"01","target":"2","kind":"visit"}]}`, 422, "interactions[0]: actor is not an account id"},
		"past the last": {`{"interactions":[{"actor":"1","target":"9223372036854775808","kind":"visit"}]}`, 422, "interactions[0]: target is not an account id"},
		"no target":     {`{"interactions":[{"actor":"1","kind":"visit"}]}`, 422, "interactions[0]: target"},
		"kind":          {`{"interactions":[{"actor":"1","target":"2","kind":"zap"}]}`, 422, "interactions[0]: kind"},
		"time":          {`{"interactions":[{"actor":"1","target":"2","kind":"visit","at":"noon"}]}`, 422, "interactions[0]: at"},
		"first year":    {`{"interactions":[{"actor":"1","target":"2","kind":"visit","at":"0001-01-01T00:00:00Z"}]}`, 422, "interactions[0]: at is not within"},
		"second 0":      {`{"interactions":[{"actor":"1","target":"2","kind":"visit","at":0}]}`, 422, "interactions[0]: at is not within"},
		"object":        {`{"interactions":[{"actor":"1","target":"2","kind":"visit","at":{}}]}`, 422, "interactions[0]: at"},
		"ahead":         {`{"interactions":[{"actor":"1","target":"2","kind":"visit","at":"2027-01-01T00:00:00Z"}]}`, 422, "interactions[0]: at"},
		"too many":      {`{"interactions":[` + many(1001) + `]}`, 422, "at most 1000"},
		"none":          {`{"interactions":[]}`, 422, "missing or empty"},
		"no list":       {`{"interactions":5}`, 422, "the body must be"},
		"no JSON":       {`nonsense`, 422, "the body must be"},
		"two bodies":    {`{"interactions":[` + good + `]}{}`, 400, "not a JSON object"},
		"too long":      {`{"interactions":[` + good + strings.Repeat(" ", 300<<10) + `]}`, 413, "too large"},
	} {
		t.Run(name, func(t *testing.T) { server.json("/api/v1/interactions", c.body).refused(c.status, c.sentence) })
	}
	server.form("/api/v1/interactions", "interactions[]=1").refused(http.StatusUnsupportedMediaType, "must be JSON, with Content-Type")
	r.finish(t)
	now := uint32(w.clock.Now().Unix())
	want := []interaction.Event{{Actor: 1, Target: 2, Kind: "message", At: noon}, {Actor: 3, Target: 4, Kind: "visit", At: noon}, {Actor: 5, Target: 6, Kind: "visit", At: now}}
	if !slices.Equal(r.events[:3], want) {
		t.Errorf("got %v, want %v", r.events[:3], want)
	}
	if got := len(r.events); got != 3+1000 {
		t.Errorf("%d were taken, want 3, the thousand, and none of refused requests", got)
	}
}

func TestInteractions_ServersOnly(t *testing.T) {
	w, r := newRecordedWorld(t)
	me := w.add(false)
	body := `{"interactions":[{"actor":"1","target":"2","kind":"visit"}]}`
	for _, scopes := range [][]string{{"read", "write", "follow"}, {"write"}, {"read:interactions"}, {"write:statuses"}} {
		w.as(me, scopes...).json("/api/v1/interactions", body).refused(http.StatusForbidden, "outside the authorized scopes")
	}
	w.anonymous().json("/api/v1/interactions", body).refused(http.StatusUnauthorized, "invalid")
	if r.finish(t); len(r.events) != 0 {
		t.Errorf("got %v", r.events)
	}
}

func TestInteractions_VisitsAndSeen(t *testing.T) {
	w, r := newRecordedWorld(t)
	me, you := w.add(false), w.add(false)
	w.as(me).get(at(you, "")).want(http.StatusOK)
	w.anonymous().get(at(you, "")).want(http.StatusOK)
	w.as(me).get(at(99999, "")).want(http.StatusNotFound)
	r.finish(t)
	if want := []interaction.Event{{Actor: me, Target: you, Kind: "visit", At: uint32(w.clock.Now().Unix())}}; !slices.Equal(r.events, want) {
		t.Errorf("visits: got %v, want %v", r.events, want)
	}
	if !slices.Equal(r.seen, []uint64{me}) {
		t.Errorf("seen: got %v, want %d once", r.seen, me)
	}
}

// Of what is asked over HTTP the recorder gets each follow that is new, once.
func TestInteractions_Follows(t *testing.T) {
	w, r := newRecordedWorld(t)
	me, you, locked := w.add(false), w.add(false), w.add(true)
	var want []interaction.Event
	follows := func(target uint64) {
		want = append(want, interaction.Event{Actor: me, Target: target, Kind: "follow", At: uint32(w.clock.Now().Unix())})
		w.clock.pass(time.Second)
	}
	w.as(me).post(at(you, "/follow")).want(http.StatusOK)
	follows(you)
	w.as(me).post(at(you, "/follow?notify=true")).want(http.StatusOK) // not new
	w.as(me).post(at(me, "/follow")).want(http.StatusForbidden)
	w.as(me).post(at(locked, "/follow")).want(http.StatusOK) // a request
	w.as(locked).post(fmt.Sprintf("/api/v1/follow_requests/%d/authorize", me)).want(http.StatusOK)
	follows(locked)
	w.as(me).post(at(you, "/unfollow")).want(http.StatusOK)
	w.as(me).post(at(you, "/follow")).want(http.StatusOK)
	follows(you)
	if r.finish(t); !slices.Equal(r.events, want) {
		t.Errorf("follows: got %v, want %v", r.events, want)
	}
}

// affinityParts are real services about affinity, on the database of a live world.
type affinityParts struct {
	affinities *scores.Store
	suggest    *suggest.Service
	recorder   *interaction.Recorder
}

// newAffinityWorld is a live world with all services.
func newAffinityWorld(t *testing.T) (*world, *affinityParts) {
	t.Helper()
	pool := dbtest.DB(t)
	local := cachetest.Local(t)
	quiet := slog.New(slog.DiscardHandler)
	store := rows.New(pool, cache.NewNone(), 0, time.Now)
	p := &affinityParts{affinities: scores.New(pool, local, quiet)}
	var order *affinity.Service
	w := newLiveWorld(t, func(c *api.Config) {
		marks := seen.New(pool)
		p.suggest = suggest.New(suggest.Config{Rows: suggestions.New(pool, local, time.Now, quiet), Relations: store, Affinities: p.affinities, Seen: marks,
			Now: time.Now, HalfLife: time.Hour, SeenWithin: time.Hour, Refresh: time.Hour})
		p.recorder = interaction.New(interaction.Config{Log: events.New(pool), Marks: marks, Weighs: func(string) bool { return true }})
		order = affinity.NewService(p.affinities, store)
		c.Affinity, c.Suggestions, c.Interactions = order, p.suggest, p.recorder
	})
	t.Cleanup(func() {
		if err := p.recorder.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return w, p
}

// score gives an account its affinities.
func (p *affinityParts) score(t *testing.T, id uint64, entries ...scores.Entry) {
	t.Helper()
	now, err := p.affinities.Fresh(t.Context(), []uint64{id})
	if err != nil {
		t.Fatal(err)
	}
	won, err := p.affinities.Fold(t.Context(), repo.Bucket(id), []scores.Row{{Meta: now[id].Meta, At: uint32(time.Now().Unix()), Entries: entries}}, nil, 1)
	if err != nil || !won {
		t.Fatalf("got %v, %v", won, err)
	}
}

// circle is somebody with five friends, of whom the second has the highest affinity and
// then the first.
func circle(t *testing.T, w *world, p *affinityParts) (me uint64, friends []uint64) {
	t.Helper()
	me, friends = w.add(false), w.people(5)
	for _, f := range friends {
		w.clock.pass(time.Second)
		w.as(me).post(at(f, "/follow")).want(http.StatusOK)
		w.as(f).post(at(me, "/follow")).want(http.StatusOK)
	}
	p.score(t, me, scores.Entry{ID: friends[1], Score: planted}, scores.Entry{ID: friends[0], Score: 1})
	return me, friends
}

func pick(ids []uint64, at ...int) (out []string) {
	for _, i := range at {
		out = append(out, text(ids[i]))
	}
	return out
}

// next returns where the Link header of an answer leads on, "" where it does not.
func next(t *testing.T, a answer) string {
	t.Helper()
	for _, link := range strings.Split(a.header.Get("Link"), ", ") {
		if address, ok := strings.CutSuffix(link, `>; rel="next"`); ok {
			path, ok := strings.CutPrefix(address, "<https://kith.example")
			if !ok {
				t.Fatalf("link to %s", address)
			}
			return path
		}
	}
	return ""
}

func TestFriends_Order(t *testing.T) {
	w, p := newAffinityWorld(t)
	me, friends := circle(t, w, p)
	byAffinity, byTime := pick(friends, 1, 0, 4, 3, 2), pick(friends, 4, 3, 2, 1, 0)
	for name, c := range map[string]struct {
		who   client
		query string
		want  []string
	}{
		"own":                    {w.as(me), "", byAffinity},
		"own by affinity":        {w.as(me), "?order=affinity", byAffinity},
		"own by time":            {w.as(me), "?order=recent", byTime},
		"a friend's":             {w.as(friends[1]), "", byTime},
		"a friend's by affinity": {w.as(friends[1]), "?order=affinity", byTime},
		"anonymous":              {w.anonymous(), "?order=affinity", byTime},
		"a server":               {w.as(friends[2], "write:interactions", "read"), "?order=affinity", byTime},
	} {
		t.Run(name, func(t *testing.T) {
			if got := names(into[[]who](c.who.get(at(me, "/friends"+c.query)))); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	t.Run("pages", func(t *testing.T) {
		var got []string
		for path := at(me, "/friends?limit=2"); path != ""; {
			a := w.as(me).get(path)
			got = append(got, names(into[[]who](a))...)
			if path = next(t, a); path != "" && len(got) == 2 { // scores change meanwhile
				p.score(t, me, scores.Entry{ID: friends[4], Score: 9}, scores.Entry{ID: friends[1], Score: 1})
			}
		}
		if !slices.Equal(got, byAffinity) {
			t.Errorf("got %v, want %v", got, byAffinity)
		}
	})
	t.Run("a library drops order", func(t *testing.T) {
		a := w.as(me).get(at(me, "/friends?limit=2&order=recent"))
		path := strings.Replace(next(t, a), "&order=recent", "", 1)
		if got := names(into[[]who](w.as(me).get(path))); !slices.Equal(got, byTime[2:4]) {
			t.Errorf("got %v, want %v", got, byTime[2:4])
		}
	})
	for _, query := range []string{"?order=nearest", "?order=affinity&max_id=5-7", "?max_id=junk", "?order=affinity&since_id=5-7", "?order=recent&max_id=s1-0-5", "?limit=x"} {
		w.as(me).get(at(me, "/friends"+query)).want(http.StatusBadRequest)
	}
	w.as(friends[1]).get(at(me, "/friends?max_id=s1-0-5")).want(http.StatusBadRequest)
}

// suggested is a Suggestion as it is decoded.
type suggested struct {
	Source  string   `json:"source"`
	Sources []string `json:"sources"`
	Account who      `json:"account"`
}

func TestSuggestions(t *testing.T) {
	w, p := newAffinityWorld(t)
	me, f, x, y := w.add(false), w.add(false), w.add(false), w.add(false)
	for _, pair := range [][2]uint64{{me, f}, {f, y}, {f, x}} {
		w.clock.pass(time.Second)
		w.as(pair[0]).post(at(pair[1], "/follow")).want(http.StatusOK)
	}
	if got := into[[]suggested](w.as(me).get("/api/v2/suggestions")); len(got) != 0 {
		t.Fatalf("got %v before any were made", got)
	}
	if _, err := p.suggest.Make(t.Context(), me, false); err != nil {
		t.Fatal(err)
	}
	want := []string{text(x), text(y)}
	slices.Sort(want)
	ids := func(path string) (out []string) {
		for _, s := range into[[]suggested](w.as(me).get(path)) {
			if s.Source != "past_interactions" || !slices.Equal(s.Sources, []string{"friends_of_friends"}) {
				t.Errorf("got %+v", s)
			}
			out = append(out, s.Account.ID)
		}
		return out
	}
	if got := ids("/api/v2/suggestions"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := ids("/api/v2/suggestions?limit=1"); !slices.Equal(got, want[:1]) {
		t.Errorf("got %v, want %v", got, want[:1])
	}
	for _, id := range []string{text(x), text(x), "999999999", "junk", "0"} {
		if a := w.as(me).send(http.MethodDelete, "/api/v1/suggestions/"+id, "", "").want(http.StatusOK); a.body != "{}" {
			t.Errorf("got %s", a.body)
		}
	}
	if got := ids("/api/v2/suggestions"); !slices.Equal(got, []string{text(y)}) {
		t.Errorf("got %v, want %d alone", got, y)
	}
	w.as(me).post(at(y, "/follow")).want(http.StatusOK)
	if got := ids("/api/v2/suggestions"); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
}
