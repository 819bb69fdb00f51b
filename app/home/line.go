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
//
// A line that another reading began to build may lack what was posted or followed before
// this one began. So after that, what memcached holds then is looked at again.
func (r *read) load(ctx context.Context) (timeline.Line, error) {
	for waited := false; ; waited = true {
		if l, ok, err := r.hot(ctx); ok || err != nil {
			return l, err
		}
		l, mine, err := r.built(ctx)
		if err != nil || mine || waited && l.RowVer == r.row.Ver {
			return l, err
		}
	}
}

// hot returns what memcached holds, if that is good.
func (r *read) hot(ctx context.Context) (l timeline.Line, ok bool, err error) {
	l, token, ok := r.cfg.Lines.Load(ctx, r.viewer.ID)
	if ok {
		ok, err = r.good(&l)
	}
	if ok && err == nil {
		ok, err = r.pull(ctx, &l)
	}
	if !ok || err != nil {
		return l, false, err
	}
	r.cfg.Metrics.hot.Inc()
	return l, true, r.compact(ctx, token, l)
}

// compact stores a line again to which much was pushed, and saves it.
func (r *read) compact(ctx context.Context, token timeline.Token, l timeline.Line) error {
	if l.Appended <= timeline.CompactAt {
		return nil
	}
	l = l.Whole()
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
	l := timeline.Line{RowVer: r.row.Ver, BuiltAt: r.viewer.Now}
	ids, err := r.cfg.Relations.Following(ctx, r.row)
	if err == nil {
		l.Follows, err = r.followed()
	}
	if err == nil {
		err = r.collect(ctx, &l, append(ids, r.viewer.ID))
	}
	if err != nil {
		return l, err
	}
	_, err = r.cfg.Lines.Store(ctx, token, l)
	return l, err
}

// collect puts into a line what authors posted, of all or since the warm row.
func (r *read) collect(ctx context.Context, l *timeline.Line, ids []uint64) error {
	first := ids[:min(len(ids), r.cfg.AtOnce)]
	rows, missing := r.cfg.Feeds.Cached(ctx, first)
	g := below(r.cfg.Posts, 0, r.cfg.Cap)
	changed, warm, err := r.renew(ctx, l, g, ids, len(missing))
	switch {
	case err != nil:
		return err
	case warm:
		r.cfg.Metrics.warm.Inc()
		rows, ids = nil, changed
	default:
		r.cfg.Metrics.cold.Inc()
		ids = ids[len(first):]
		loaded, err := r.cfg.Feeds.Rows(ctx, pick(first, missing))
		if err != nil {
			return err
		}
		for i, at := range missing {
			rows[at] = loaded[i]
		}
	}
	for {
		for i := range rows {
			if !warm && r.pulls(rows[i].ID, rows[i].PulledSince) {
				l.Pulled = append(l.Pulled, rows[i].ID)
			}
		}
		if err := g.add(ctx, rows); err != nil {
			return err
		}
		if len(ids) == 0 {
			break
		}
		n := min(len(ids), r.cfg.AtOnce)
		if rows, err = r.cfg.Feeds.Rows(ctx, ids[:n]); err != nil {
			return err
		}
		ids = ids[n:]
	}
	slices.Sort(l.Pulled)
	l.Events, l.Floor = g.found, g.reach
	return nil
}

// pulls reports whether the events of an author are not pushed, who is not since a time.
func (r *read) pulls(id uint64, since uint32) bool {
	return id != r.viewer.ID && (!r.cfg.Push || since != 0)
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
	since := max(l.Floor, event.First(l.BuiltAt.Add(-slack)))
	if l.Partial() && l.Events[len(l.Events)-1].ID > since {
		*l = l.Whole()
	}
	for part := range slices.Chunk(append(slices.Clone(l.Pulled), r.viewer.ID), r.cfg.AtOnce) {
		rows, err := r.cfg.Feeds.Rows(ctx, part)
		if err != nil {
			return false, err
		}
		for i := range rows {
			if whole, err := newer(&rows[i], since, l); err != nil || !whole {
				return false, err
			}
		}
	}
	return true, nil
}

// newer adds what an author did from an id on to a line, and reports whether its feed has all
// of that.
func newer(row *feed.Row, since uint64, l *timeline.Line) (bool, error) {
	if row.LastID < since {
		return true, nil
	}
	for _, events := range []func([]event.Event) ([]event.Event, uint64, error){row.Head, row.Events} {
		found, floor, err := events(nil)
		if err != nil {
			return false, err
		}
		if floor <= since {
			add(l, found, since)
			return true, nil
		}
	}
	return false, nil
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
