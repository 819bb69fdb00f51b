package api_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/mattn/go-mastodon"
)

// The tests here speak to the server with the client library that Go programs
// use for Mastodon, on a real database.

func (w *world) library(id uint64) *mastodon.Client {
	return mastodon.NewClient(&mastodon.Config{Server: w.http.URL, AccessToken: w.as(id).token})
}

func patience(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // it tries again by itself
	t.Cleanup(cancel)
	return ctx
}

func TestLibrary_RequestsAndPages(t *testing.T) {
	w, ctx := newLiveWorld(t), patience(t)
	locked := w.add(true)
	fans := w.people(5)
	star := mastodon.ID(text(locked))
	for _, f := range fans {
		r, err := w.library(f).AccountFollow(ctx, star)
		if err != nil || !r.Requested || r.Following {
			t.Fatalf("got %+v, %v; want a request", r, err)
		}
		if err := w.library(locked).FollowRequestAuthorize(ctx, mastodon.ID(text(f))); err != nil {
			t.Fatal(err)
		}
	}
	var seen []string
	for pg := (mastodon.Pagination{Limit: 2}); ; {
		page, err := w.library(fans[0]).GetAccountFollowers(ctx, star, &pg)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page {
			seen = append(seen, string(a.ID))
		}
		if pg.MaxID == "" {
			break
		}
	}
	slices.Sort(seen)
	if want := textsOf(fans); !slices.Equal(seen, want) {
		t.Fatalf("got %v, want %v", seen, want)
	}
}

func TestLibrary_Relationships(t *testing.T) {
	w, ctx := newLiveWorld(t), patience(t)
	me, you, other := w.add(false), w.add(false), w.add(false)
	c, id := w.library(me), mastodon.ID(text(you))
	if r, err := c.AccountFollow(ctx, id); err != nil || !r.Following || !r.ShowingReblogs {
		t.Fatalf("got %+v, %v; want a follow", r, err)
	}
	rels, err := c.GetAccountRelationships(ctx, []string{text(you), text(other)})
	if err != nil || len(rels) != 2 || !rels[0].Following || rels[1].Following {
		t.Fatalf("got %+v, %v", rels, err)
	}
	if r, err := c.AccountMute(ctx, id); err != nil || !r.Muting || !r.MutingNotifications {
		t.Fatalf("got %+v, %v; want a mute", r, err)
	}
	if mutes, err := c.GetMutes(ctx, nil); err != nil || len(mutes) != 1 || mutes[0].FollowersCount != 1 {
		t.Fatalf("got %+v, %v; want you with a follower", mutes, err)
	}
	if r, err := c.AccountBlock(ctx, id); err != nil || !r.Blocking || r.Following {
		t.Fatalf("got %+v, %v; want a block", r, err)
	}
	_, err = c.AccountFollow(ctx, id)
	var refused *mastodon.APIError
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusForbidden || refused.Message != "This action is not allowed" {
		t.Fatalf("got %v, want a refusal", err)
	}
}

func TestLibrary_WhoAndWhere(t *testing.T) {
	w, ctx := newLiveWorld(t), patience(t)
	me := w.add(false)
	c := w.library(me)
	self, err := c.GetAccountCurrentUser(ctx)
	if err != nil || self.ID != mastodon.ID(text(me)) || self.Source == nil || !self.CreatedAt.Equal(w.clock.Now()) {
		t.Fatalf("got %+v, %v", self, err)
	}
	if found, err := c.AccountLookup(ctx, self.Acct); err != nil || found.ID != self.ID {
		t.Fatalf("got %+v, %v", found, err)
	}
	instance, err := mastodon.NewClient(&mastodon.Config{Server: w.http.URL}).GetInstance(ctx)
	if err != nil || instance.URI != "kith.example" || instance.GetConfig() == nil {
		t.Fatalf("got %+v, %v", instance, err)
	}
}
