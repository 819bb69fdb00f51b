package main

import (
	"log/slog"
	"time"

	appaffinity "kith/app/affinity"
	appinteraction "kith/app/interaction"
	appsuggest "kith/app/suggest"
	"kith/config"
	"kith/repo/affinity"
	"kith/repo/interaction"
	"kith/repo/seen"
	"kith/repo/suggest"
)

// near are the parts of a stack that know who has to do with whom: the recorder
// and the order for servers, the folder and the suggestions for their jobs.
type near struct {
	interactions *appinteraction.Recorder
	folder       *appaffinity.Folder
	order        *appaffinity.Service
	suggestions  *appsuggest.Service
}

// openNear makes them over the database, cache and rows of the stack. The recorder
// must be closed.
func (s *stack) openNear(c config.Affinity, log *slog.Logger) near {
	worth := appaffinity.Config{Weights: c.Weights, HalfLife: c.HalfLife, Kept: c.Kept}
	events := interaction.New(s.pool)
	rows := affinity.New(s.pool, s.cache, log)
	marks := seen.New(s.pool)
	return near{
		interactions: appinteraction.New(appinteraction.Config{Log: events, Marks: marks, Accounts: s.people, Weighs: worth.Weighs,
			Buffer: c.Buffer, Every: c.Flush, Logger: log, Metrics: appinteraction.NewMetrics(s.registry)}),
		folder: appaffinity.NewFolder(worth, events, rows, time.Now, log),
		order:  appaffinity.NewService(rows, s.rows),
		suggestions: appsuggest.New(appsuggest.Config{Rows: suggest.New(s.pool, s.cache, log), Relations: s.rows,
			Affinities: rows, Seen: marks, Now: time.Now, HalfLife: c.HalfLife, SeenWithin: c.SeenWithin, Refresh: c.Refresh}),
	}
}
