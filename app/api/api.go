package api

import (
	"cmp"
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"kith/app/affinity"
	"kith/app/api/accounts"
	"kith/app/api/core"
	"kith/app/api/entity"
	"kith/app/api/instance"
	"kith/app/api/interactions"
	"kith/app/api/lists"
	"kith/app/api/markers"
	"kith/app/api/operations"
	"kith/app/api/relations"
	"kith/app/api/statuses"
	"kith/app/api/suggestions"
	"kith/app/api/timelines"
	"kith/app/home"
	"kith/app/marker"
	"kith/app/post"
	"kith/app/promotion"
	"kith/app/relation"
	"kith/app/suggest"
)

// Config configures the API. Relations, Posts, Homes, Markers, Promotions, Accounts and
// Tokens must be set; the rest has defaults.
type Config struct {
	core.Config

	Relations  *relation.Service
	Posts      *post.Service
	Homes      *home.Service
	Markers    *marker.Service
	Promotions *promotion.Service
	// Affinity orders the caller's own friends; nil: by time.
	Affinity *affinity.Service
	// Suggestions are accounts that the caller may want to follow; nil: none.
	Suggestions *suggest.Service

	instance.About
	// HideMetrics leaves /metrics out, where operations.Handler serves it.
	HideMetrics bool
	// Ready names what is not ready; nil: everything is ready.
	Ready operations.Ready
}

// New checks the configuration and makes the API. It starts nothing.
func New(cfg Config) (*core.Server, error) {
	if cfg.Relations == nil || cfg.Posts == nil || cfg.Homes == nil || cfg.Markers == nil || cfg.Promotions == nil {
		return nil, errors.New("api: Relations, Posts, Homes, Markers and Promotions must be set")
	}
	about := instance.About{
		Title: cmp.Or(cfg.Title, "kith"), Version: cmp.Or(cfg.Version, "dev"),
		Description: cmp.Or(cfg.Description, "A social graph that speaks Mastodon's client API."),
	}
	if cfg.Ready == nil {
		cfg.Ready = func(context.Context) []string { return nil }
	}
	cfg.Registry = cmp.Or(cfg.Registry, prometheus.NewRegistry())
	shown := cfg.Registry
	if cfg.HideMetrics {
		shown = nil
	}
	people := entity.Accounts{Accounts: cfg.Accounts, Relations: cfg.Relations, Posts: cfg.Posts}
	posts := entity.Statuses{Accounts: people}
	return core.New(cfg.Config,
		accounts.Routes(people, cfg.Interactions),
		relations.Routes(people),
		lists.Routes(people, cfg.Affinity),
		statuses.Routes(posts),
		timelines.Routes(posts, cfg.Homes, cfg.Markers, cfg.Promotions),
		markers.Routes(cfg.Markers),
		interactions.Routes(cfg.Interactions),
		suggestions.Routes(people, cfg.Suggestions),
		instance.Routes(about),
		operations.Routes(cfg.Ready, shown),
	)
}
