package home

import (
	"cmp"
	"context"
	crc64sum "hash/crc64"
	"slices"
	"time"

	"kith/repo/event"
	"kith/repo/feed"
	"kith/repo/timeline"
)

// slack is how much older than the time at which a line was built events may be that it
// lacks: commits under way then, and clocks that differ.
const slack = time.Minute

// Late is how much later than the time of its id an event comes into a home, at most: where
// its push is lost, with the next line.
const Late = DefaultRecheck + slack

// load returns the reader's line with all that is not pushed: from memcached where one is
// held that is good, else built anew. Events that are pushed come into what is held by
// themselves; those of the reader, and of authors who are too big, are read each time.
func (r *read) load(ctx context.Context) (timeline.Line, error) {
	l, token, ok := r.cfg.Lines.Load(ctx, r.viewer.ID)
	if ok {
		var err error
		if ok, err = r.good(&l); err != nil {
			return l, err
		}
	}
	if ok {
		whole, err := r.pull(ctx, &l)
		if err != nil {
			return l, err
		}
		if whole {
			r.cfg.Metrics.hot.Inc()
			return l, r.compact(ctx, token, l)
		}
	}
	return r.build(ctx)
}

// compact stores a line again to which much was pushed, and saves it.
func (r *read) compact(ctx context.Context, token timeline.Token, l timeline.Line) error {
	if l.Appended <= timeline.CompactAt {
		return nil
	}
	stored, err := r.cfg.Lines.Store(ctx, token, l)
	if stored && err == nil {
		if _, err := r.save(ctx, r.viewer.ID, l); err != nil {
			r.cfg.Log.Warn("a warm timeline is not saved", "account", r.viewer.ID, "error", err)
		}
	}
	return err
}

// good reports whether a line is for those whom the reader follows now, and not too old. The
// reader's row mostly is the one that the line was built for; else a hash tells.
func (r *read) good(l *timeline.Line) (bool, error) {
	if r.viewer.Now.Sub(l.BuiltAt) >= r.cfg.Recheck || l.BuiltAt.After(r.viewer.Now.Add(slack)) {
		return false, nil
	}
	if l.RowVer == r.row.Ver {
		return true, nil
	}
	follows, err := r.followed()
	return l.Follows == follows, err
}

// build builds the line, from the warm row or from the feeds alone. What is pushed meanwhile
// is kept.
func (r *read) build(ctx context.Context) (timeline.Line, error) {
	token := r.cfg.Lines.Begin(ctx, r.viewer.ID)
	r.feeds = nil
	l := timeline.Line{RowVer: r.row.Ver, BuiltAt: r.viewer.Now}
	follows, err := r.cfg.Relations.Following(ctx, r.row)
	if err == nil {
		l.Follows, err = r.followed()
	}
	if err != nil {
		return l, err
	}
	ids := append(follows, r.viewer.ID)
	rows, missing := r.cfg.Feeds.Cached(ctx, ids)
	warm, err := r.renew(ctx, &l, ids, len(missing))
	if err == nil && !warm {
		err = r.gather(ctx, &l, ids, rows, missing)
	}
	if err != nil {
		return l, err
	}
	_, err = r.cfg.Lines.Store(ctx, token, l)
	return l, err
}

// gather makes the line from feeds alone.
func (r *read) gather(ctx context.Context, l *timeline.Line, ids []uint64, rows []feed.Row, missing []int) error {
	r.cfg.Metrics.cold.Inc()
	loaded, err := r.cfg.Feeds.Rows(ctx, pick(ids, missing))
	if err != nil {
		return err
	}
	for i, at := range missing {
		rows[at] = loaded[i]
	}
	l.Pulled = r.pulled(ids, func(i int) uint32 { return rows[i].PulledSince })
	if r.feeds, err = sources(rows); err != nil {
		return err
	}
	var end bool
	l.Events, l.Floor, end, err = gather(ctx, r.feeds, r.cfg.Posts, 0, false, r.cfg.Cap)
	if end {
		l.Floor = 0
	}
	return err
}

// pulled returns those of authors whose events are not pushed; since is their PulledSince.
func (r *read) pulled(ids []uint64, since func(i int) uint32) (out []uint64) {
	for i, id := range ids {
		if id != r.viewer.ID && (!r.cfg.Push || since(i) != 0) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// pick returns some of ids.
func pick(ids []uint64, at []int) []uint64 {
	out := make([]uint64, len(at))
	for i, k := range at {
		out[i] = ids[k]
	}
	return out
}

// pull adds what the reader and the authors who are not pushed did since the line was built,
// and reports whether it found all of that.
func (r *read) pull(ctx context.Context, l *timeline.Line) (whole bool, err error) {
	rows, err := r.cfg.Feeds.Rows(ctx, append(slices.Clone(l.Pulled), r.viewer.ID))
	if err != nil {
		return false, err
	}
	since := max(l.Floor, event.First(l.BuiltAt.Add(-slack)))
	for i := range rows {
		if whole = rows[i].LastID < since; whole {
			continue
		}
		for _, events := range []func([]event.Event) ([]event.Event, uint64, error){rows[i].Head, rows[i].Events} {
			var found []event.Event
			var floor uint64
			if found, floor, err = events(nil); err != nil {
				return false, err
			}
			if whole = floor <= since; whole {
				add(l, found, since)
				break
			}
		}
		if !whole {
			return false, nil
		}
	}
	return true, nil
}

// add adds the events of one author to a line, from an id on.
func add(l *timeline.Line, found []event.Event, since uint64) {
	for _, e := range found { // newest first
		if e.ID < since {
			break
		}
		at, have := slices.BinarySearchFunc(l.Events, e, func(a, b event.Event) int { return cmp.Compare(b.ID, a.ID) })
		if !have {
			l.Events = slices.Insert(l.Events, at, e)
		}
	}
}

// crc64 is one number for some bytes.
func crc64(b []byte) uint64 { return crc64sum.Checksum(b, ecma) }

var ecma = crc64sum.MakeTable(crc64sum.ECMA)

// hash is one number for a follow. The hashes of all whom a reader follows add up to that
// of the line. It says since when, too: what was posted while the reader did not follow the
// author was not pushed to the line.
func hash(id uint64, since uint32) uint64 {
	id = id*0x9e3779b97f4a7c15 + uint64(since)
	id ^= id >> 30
	id *= 0xbf58476d1ce4e5b9
	id ^= id >> 27
	id *= 0x94d049bb133111eb
	return id ^ id>>31
}
