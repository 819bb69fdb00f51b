package home

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"kith/app"
	"kith/repo/event"
	"kith/repo/feed"
	"kith/repo/list"
	"kith/repo/post"
	"kith/repo/relation"
	"kith/repo/timeline"
)

// Relations answers whom a reader follows, and what accounts are to it.
type Relations interface {
	Row(ctx context.Context, id uint64) (relation.Row, error)
	Following(ctx context.Context, row relation.Row) ([]uint64, error)
	Rels(ctx context.Context, row relation.Row, ids []uint64, of list.Rel) ([]list.Rel, relation.Options, error)
}

// Posts reads posts, whoever may see them.
type Posts interface {
	// Rows returns posts in the order of ids, with Ver 0 where there is none.
	Rows(ctx context.Context, ids []uint64) ([]post.Post, error)
	// Parts returns events of authors, from the table.
	Parts(ctx context.Context, parts []post.Part) ([]event.Event, error)
}

// Feeds reads author feeds.
type Feeds interface {
	Rows(ctx context.Context, ids []uint64) ([]feed.Row, error)
	// Cached returns the feeds that are in the cache, and the places of the others.
	Cached(ctx context.Context, ids []uint64) (rows []feed.Row, missing []int)
	// Lasts says when feeds changed last, as the database has them.
	Lasts(ctx context.Context, ids []uint64) (map[uint64]feed.Last, error)
}

// Config is what a Service works with. Zero numbers take the defaults.
type Config struct {
	Relations Relations
	Posts     Posts
	Feeds     Feeds
	Lines     timeline.Lines
	Warm      Warm // nil: none
	Now       func() time.Time
	Log       *slog.Logger
	Metrics   *Metrics // nil: nobody sees them
	// Ahead is the method of that name; nil: it asks for nothing.
	Ahead func(ctx context.Context, reader uint64) context.Context

	// Cap is how many events a line is built of, 800.
	Cap int
	// Window is KITH_REPOST_WINDOW, 80.
	Window int
	// Push says that events of authors with few followers are pushed. Otherwise all are
	// pulled.
	Push bool
	// Recheck is how old a line may be before it is built anew, 5 minutes. That ends what a
	// lost push, or an author who became too big to be pushed, left out.
	Recheck time.Duration
	// MaxSpan is how many events a page looks at, 20,000. The rules are content with some
	// 11,000 of the home's, but reposts that the reader hides come in between. Past that a
	// page ends early, and the next one goes on.
	MaxSpan int
	// Stale is how late Feeds may be, 10 minutes. Feeds that changed longer before a warm row
	// was built are not read again.
	Stale time.Duration
	// WarmFrom is of how many followed authors the feeds must be missing in the cache, and of
	// half of all, for the warm row to be read: 50. The first AtOnce of them tell.
	WarmFrom int
	// AtOnce is how many feeds are in memory at once for one reading, 1,000.
	AtOnce int
}

// Service reads homes. It is safe for concurrent use.
type Service struct {
	cfg    Config
	rules  Rules
	builds *builds
	watch  bool
}

// New makes a Service. Close it.
func New(cfg Config) *Service {
	cfg.Cap = cmp.Or(cfg.Cap, 800)
	cfg.Window = cmp.Or(cfg.Window, 80)
	cfg.Recheck = cmp.Or(cfg.Recheck, DefaultRecheck)
	cfg.MaxSpan = cmp.Or(cfg.MaxSpan, 20_000)
	cfg.Stale = cmp.Or(cfg.Stale, 10*time.Minute)
	cfg.WarmFrom = cmp.Or(cfg.WarmFrom, 50)
	cfg.AtOnce = cmp.Or(cfg.AtOnce, 1000)
	if cfg.Warm == nil {
		cfg.Warm = none{}
	}
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(nil)
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Service{cfg: cfg, rules: NewRules(cfg.Window), builds: newBuilds()}
}

// Close ends the building of lines in the background.
func (s *Service) Close() { s.builds.close() }

// DefaultRecheck is how old a line may be before it is built anew.
const DefaultRecheck = 5 * time.Minute

// Item is an entry of a home with its posts.
type Item struct {
	Entry
	Post   *post.Post // of the entry's event
	Origin *post.Post // what it reposts, or nil
	// Promoted is said of what is no entry, but a promotion between two.
	Promoted bool
}

// Items is a page of a home.
type Items struct {
	Items []Item
	Next  uint64 // see Page.Next
}

// Ahead returns a context with which a home is read and shown: it asks the cache for all that
// this needs of the reader, in one trip.
func (s *Service) Ahead(ctx context.Context, reader uint64) context.Context {
	if s.cfg.Ahead == nil {
		return ctx
	}
	return s.cfg.Ahead(ctx, reader)
}

// Home returns a part of a reader's home.
func (s *Service) Home(ctx context.Context, reader uint64, want Range) (Items, error) {
	r, err := s.open(ctx, reader)
	if err != nil {
		return Items{}, app.From(err)
	}
	page, err := r.page(ctx, want)
	if err != nil {
		return Items{}, app.From(err)
	}
	r.keep(ctx)
	out := Items{Next: page.Next, Items: make([]Item, len(page.Entries))}
	for i, e := range page.Entries {
		out.Items[i] = Item{Entry: e, Post: r.posts[e.Event.ID], Origin: r.posts[e.Event.Origin]}
	}
	return out, nil
}

// read is one reading of a home.
type read struct {
	*Service
	viewer  Viewer
	row     relation.Row
	follows uint64 // a hash of whom the reader follows, since when; see followed

	line       timeline.Line // of which the rest may not be read yet
	part       part
	up         bool // the page is walked up
	looked     bool // for the window
	first, end int  // the events of the part that the span has

	span     Span
	heard    []uint64   // those whom the reader hears, once they are needed
	until    uint32     // when the first of the others may be heard again, in unix seconds; 0: never
	feeds    []feed.Row // of those heard, where they are few
	verdicts map[uint64]Verdict
	posts    map[uint64]*post.Post

	known     table // accounts, and what they are to the reader
	relations []Relation
}

func (s *Service) open(ctx context.Context, reader uint64) (*read, error) {
	row, err := s.cfg.Relations.Row(ctx, reader)
	if err != nil {
		return nil, err
	}
	r := &read{Service: s, row: row, verdicts: map[uint64]Verdict{}, posts: map[uint64]*post.Post{}, known: newTable(leastSpan)}
	r.viewer = Viewer{ID: reader, Now: s.cfg.Now(), Relation: r.relation}
	return r, nil
}

// relation returns what an account is to the reader, as far as relate found that out.
func (r *read) relation(account uint64) Relation {
	if n := r.known.of(account); n >= 0 {
		return r.relations[n]
	}
	return Relation{}
}

// followed returns a hash of whom the reader follows, and since when.
func (r *read) followed() (uint64, error) {
	if r.follows != 0 {
		return r.follows, nil
	}
	v, err := r.row.View()
	if err != nil {
		return 0, err
	}
	// What lies in the archive is the same as long as the row says the same of it.
	follows := crc64(r.row.Archived)
	for _, section := range []list.Section{list.Friends, list.Following} {
		err := v.Each(section, func(id uint64, since, _ uint32) bool {
			follows += hash(id, since)
			return true
		})
		if err != nil {
			return 0, err
		}
	}
	r.follows = max(follows, 1)
	return r.follows, nil
}

// leastSpan is how many events are gathered at once at least.
const leastSpan = 100

// page asks the rules for a page, and brings what they need, until they have it.
func (r *read) page(ctx context.Context, want Range) (Page, error) {
	if err := r.begin(ctx, want); err != nil {
		return Page{}, err
	}
	early := false
	p := newPager(r.rules, &r.span)
	for more := min(leastSpan, r.cfg.MaxSpan); ; {
		page, need := p.page(want)
		switch {
		case !need.Any():
			if n := len(r.span.Events); early && page.Next == 0 && want.Oldest {
				page.Next = r.span.Events[0].ID
			} else if early && page.Next == 0 {
				page.Next = r.span.Events[n-1].ID
			}
			return page, nil
		case len(need.Judge) > 0:
			if err := r.judge(ctx, need.Judge); err != nil {
				return Page{}, err
			}
			continue
		case len(r.span.Events) > r.cfg.MaxSpan:
			early = true
			r.cfg.Log.Warn("a page of a home ends early", "account", r.viewer.ID, "events", len(r.span.Events))
			r.span.Top, r.span.Bottom = r.span.Top || need.Up, r.span.Bottom || need.Down
			continue
		}
		if err := r.extend(ctx, need, more); err != nil {
			return Page{}, err
		}
		p = newPager(r.rules, &r.span)
		more *= 2
	}
}

// gather gathers from the feeds of all whom the reader hears.
func (r *read) gather(ctx context.Context, wanted []*gatherer) error {
	if err := r.hear(ctx); err != nil {
		return err
	}
	for part := range slices.Chunk(r.heard, r.cfg.AtOnce) {
		rows := r.feeds
		if rows == nil {
			var err error
			if rows, err = r.cfg.Feeds.Rows(ctx, part); err != nil {
				return err
			}
		}
		if len(part) == len(r.heard) {
			r.feeds = rows // a page may come again
		}
		for _, g := range wanted {
			if err := g.add(ctx, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// hear finds those whom the reader hears: itself, and those whom it follows and does not mute.
func (r *read) hear(ctx context.Context) error {
	if r.heard != nil {
		return nil
	}
	follows, err := r.cfg.Relations.Following(ctx, r.row)
	if err != nil {
		return err
	}
	heard := append(make([]uint64, 0, len(follows)+1), r.viewer.ID)
	for part := range slices.Chunk(follows, r.cfg.AtOnce) {
		rels, options, err := r.cfg.Relations.Rels(ctx, r.row, part, list.IsMuting|list.HasOption)
		if err != nil {
			return err
		}
		for i, id := range part {
			rel := Relation{Rel: rels[i]}
			if rel.Rel&list.IsMuting != 0 && rel.Rel&list.HasOption != 0 {
				if rel.Option, err = options.Of(id); err != nil {
					return err
				}
			}
			if !r.viewer.mutes(rel) {
				heard = append(heard, id)
			} else if end := rel.Option.MuteUntil; end != 0 && (r.until == 0 || end < r.until) {
				r.until = end
			}
		}
	}
	r.heard = heard
	return nil
}

// sift brings the verdicts of a span in line with its events.
func (r *read) sift(ctx context.Context) error {
	authors := make([]uint64, len(r.span.Events))
	for i, e := range r.span.Events {
		authors[i] = e.Author
	}
	if err := r.relate(ctx, authors); err != nil {
		return err
	}
	r.span.Verdicts = r.viewer.Sift(r.span.Events)
	for i, e := range r.span.Events {
		if v, ok := r.verdicts[e.ID]; ok {
			r.span.Verdicts[i] = v
		}
	}
	return nil
}

// judge finds the verdicts of events of the span.
func (r *read) judge(ctx context.Context, at []int) error {
	ids := make([]uint64, 0, 2*len(at))
	for _, k := range at {
		e := r.span.Events[k]
		ids, r.posts[e.ID] = append(ids, e.ID), nil
	}
	for _, k := range at { // what they repost, in the same trip
		of := r.span.Events[k].Origin
		if _, known := r.posts[of]; !known && of != 0 {
			ids, r.posts[of] = append(ids, of), nil
		}
	}
	posts, err := r.cfg.Posts.Rows(ctx, ids)
	if err != nil {
		return err
	}
	var concerned []uint64
	for i := range posts {
		r.posts[ids[i]] = &posts[i]
		concerned = Concerned(concerned, &posts[i])
	}
	if err := r.relate(ctx, concerned); err != nil {
		return err
	}
	for i, k := range at {
		e := r.span.Events[k]
		v := r.viewer.Judge(e, &posts[i], r.posts[e.Origin]).Verdict()
		r.span.Verdicts[k], r.verdicts[e.ID] = v, v
	}
	return nil
}

// relate finds out what accounts are to the reader.
func (r *read) relate(ctx context.Context, ids []uint64) error {
	fresh := ids[:0]
	for _, id := range ids {
		if _, ok := r.known.add(id); ok {
			fresh = append(fresh, id)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	const bits = list.IsFollowing | list.IsBlocking | list.IsBlockedBy | list.IsMuting | list.HasOption
	rels, options, err := r.cfg.Relations.Rels(ctx, r.row, fresh, bits)
	if err != nil {
		return err
	}
	r.relations = slices.Grow(r.relations, len(fresh))
	for i, id := range fresh {
		rel := Relation{Rel: rels[i]}
		if rels[i]&list.HasOption != 0 {
			if rel.Option, err = options.Of(id); err != nil {
				return err
			}
		}
		r.relations = append(r.relations, rel)
	}
	return nil
}
