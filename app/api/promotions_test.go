package api_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"kith/repo/dbtest"
	"kith/repo/promotion"
)

// promotedStatus is what is compared of a page with promotions.
type promotedStatus struct {
	ID       string `json:"id"`
	Promoted bool   `json:"promoted"`
}

// promotedWorld is a reader with ten entries in its home, and a post of a stranger.
type promotedWorld struct {
	*world
	reader, stranger uint64
	entries          []string // newest first
	post             uint64
}

func newPromotedWorld(t *testing.T) *promotedWorld {
	w := &promotedWorld{world: newWorld(t)}
	author := w.add(false)
	w.reader, w.stranger = w.add(false), w.add(false)
	into[rel](w.as(w.reader).post(at(author, "/follow")))
	w.post = w.write(w.stranger, "status=buy")
	for range 10 {
		w.entries = append([]string{fmt.Sprint(w.write(author, "status=hello"))}, w.entries...)
	}
	return w
}

func (w *promotedWorld) write(by uint64, form string) uint64 {
	w.clock.pass(time.Second)
	made := into[homeID](w.as(by).form("/api/v1/statuses", form))
	id, err := strconv.ParseUint(made.ID, 10, 64)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// promote promotes for the length of the test, and waits until the server knows.
func (w *promotedWorld) promote(p promotion.Promotion) {
	w.t.Helper()
	now := uint32(w.clock.Now().Unix())
	p.Begins, p.Ends, p.Weight = now, now+1000, 1
	if _, err := w.promotions.Add(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { // other tests have the same table, and clocks of their own
		if _, err := dbtest.DB(w.t).ExecContext(context.Background(), `DELETE FROM promotion`); err != nil {
			w.t.Error(err)
		}
	})
	w.clock.pass(time.Minute)
}

// home is a page of the reader's home: ids, those of promotions with a star.
func (w *promotedWorld) home(query string) (out []string, link string) {
	w.t.Helper()
	a := w.as(w.reader).get("/api/v1/timelines/home" + query)
	for _, s := range into[[]promotedStatus](a) {
		if s.Promoted {
			s.ID += "*"
		}
		out = append(out, s.ID)
	}
	return out, a.header.Get("Link")
}

// shows checks a page of the home: entries, and the promoted post after so many of them.
func (w *promotedWorld) shows(query string, entries []string, after int) {
	w.t.Helper()
	want := slices.Clone(entries)
	if after > 0 {
		want = slices.Insert(want, after, fmt.Sprint(w.post)+"*")
	}
	if got, _ := w.home(query); !slices.Equal(got, want) {
		w.t.Fatalf("%q: got %v, want %v", query, got, want)
	}
}

func TestPromotions(t *testing.T) {
	w := newPromotedWorld(t)
	w.shows("", w.entries, 0)
	_, link := w.home("?limit=5")
	w.promote(promotion.Promotion{Post: w.post, Every: 4})
	w.shows("", w.entries, 4)
	w.shows("", w.entries, 4)
	// A page has as many entries as before, and its links are theirs.
	w.shows("?limit=5", w.entries[:5], 4)
	if _, got := w.home("?limit=5"); got != link {
		t.Errorf("got %s, want %s", got, link)
	}
	w.shows("?limit=5&max_id="+w.entries[4], w.entries[5:], 4)
	w.shows("?limit=1", w.entries[:1], 0)
}

// Where rules speak against it, a promotion is not shown.
func TestPromotions_Rules(t *testing.T) {
	for name, change := range map[string]func(w *promotedWorld){
		"blocking":   func(w *promotedWorld) { into[rel](w.as(w.reader).post(at(w.stranger, "/block"))) },
		"blocked by": func(w *promotedWorld) { into[rel](w.as(w.stranger).post(at(w.reader, "/block"))) },
		"muting":     func(w *promotedWorld) { into[rel](w.as(w.reader).post(at(w.stranger, "/mute"))) },
		"deleted": func(w *promotedWorld) {
			w.as(w.stranger).send(http.MethodDelete, fmt.Sprintf("/api/v1/statuses/%d", w.post), "", "").want(http.StatusOK)
		},
		"turned off": func(w *promotedWorld) { w.prefer(false) },
		"ended":      func(w *promotedWorld) { w.clock.pass(1000 * time.Second) },
		"on the page": func(w *promotedWorld) {
			into[homeID](w.as(w.reader).post(fmt.Sprintf("/api/v1/statuses/%d/reblog", w.post)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPromotedWorld(t)
			w.promote(promotion.Promotion{Post: w.post, Every: 4})
			w.shows("", w.entries, 4)
			change(w)
			got, _ := w.home("")
			for _, id := range got {
				if id[len(id)-1] == '*' {
					t.Fatalf("got %v", got)
				}
			}
		})
	}
	t.Run("own", func(t *testing.T) {
		w := newPromotedWorld(t)
		w.promote(promotion.Promotion{Post: w.post, Every: 4})
		w.reader = w.stranger
		if got, _ := w.home(""); len(got) != 1 {
			t.Errorf("got %v, want the own post", got)
		}
	})
	t.Run("mentions somebody blocked", func(t *testing.T) {
		w := newPromotedWorld(t)
		blocked := w.add(false)
		w.post = w.write(w.stranger, fmt.Sprintf("status=buy+@Name%d", blocked))
		w.promote(promotion.Promotion{Post: w.post, Every: 4})
		w.shows("", w.entries, 4)
		into[rel](w.as(w.reader).post(at(blocked, "/block")))
		w.shows("", w.entries, 0)
		into[rel](w.as(w.reader).post(at(blocked, "/unblock")))
		w.shows("", w.entries, 4)
	})
}

// A promoted account is shown by its newest public post.
func TestPromotions_Account(t *testing.T) {
	w := newPromotedWorld(t)
	w.promote(promotion.Promotion{Account: w.stranger, Every: 4})
	w.shows("", w.entries, 4)
	w.write(w.stranger, "status=only+for+followers&visibility=private")
	w.write(w.stranger, "status=unlisted&visibility=unlisted")
	w.clock.pass(time.Minute)
	w.shows("", w.entries, 4)
	w.post = w.write(w.stranger, "status=newer")
	w.clock.pass(time.Minute)
	w.shows("", w.entries, 4)
}

func (w *promotedWorld) prefer(promotions bool) {
	w.t.Helper()
	me := w.as(w.reader)
	sent := into[map[string]any](me.json("/api/v1/preferences", fmt.Sprintf(`{"reading:promotions":%v}`, promotions)))
	if got := into[map[string]any](me.get("/api/v1/preferences")); got["reading:promotions"] != promotions || sent["reading:promotions"] != promotions {
		w.t.Fatalf("got %v and %v", sent, got)
	}
}

func TestPromotions_Preference(t *testing.T) {
	w := newPromotedWorld(t)
	w.promote(promotion.Promotion{Post: w.post, Every: 4})
	for _, shown := range []bool{false, true, true, false} {
		if w.prefer(shown); shown {
			w.shows("", w.entries, 4)
		} else {
			w.shows("", w.entries, 0)
		}
	}
	me := w.as(w.reader)
	for _, body := range []string{`{}`, `{"reading:promotions":"maybe"}`, `{"reading:promotions":[true]}`, `{"reading:expand:media":"show_all"}`} {
		me.json("/api/v1/preferences", body).refused(http.StatusUnprocessableEntity, "reading:promotions must be")
	}
	w.shows("", w.entries, 0)
}

// A refresh has entries only.
func TestPromotions_Refresh(t *testing.T) {
	w := newPromotedWorld(t)
	w.promote(promotion.Promotion{Post: w.post, Every: 4})
	if got := statusIDs(into[[]homeID](w.as(w.reader).post(refreshPath))); !slices.Equal(got, w.entries) {
		t.Errorf("got %v, want %v", got, w.entries)
	}
}
