package bulk

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"kith/app/intake"
	"kith/repo"
	"kith/repo/feed"
	"kith/repo/post"
	"kith/repo/spill"
)

const (
	// authorsAtOnce and linesAtOnce bound what one transaction writes: servers that post for
	// the same authors wait for it.
	authorsAtOnce = 64
	linesAtOnce   = 512
)

// batch is some lines in the order of a sorter.
type batch []spill.Record

// inBatches has the writers work on the records of a sorter, up to linesAtOnce of up to
// authorsAtOnce different Hi at once.
func (im *importer) inBatches(ctx context.Context, s *spill.Sorter, work func(context.Context, batch) error) error {
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(im.cfg.Writers)
	w := s.Walk()
	var some batch
	different, last := 0, uint64(0)
	for more := true; more && working.Err() == nil; {
		var r spill.Record
		r, more = w.Next()
		fresh := more && (len(some) == 0 || r.Hi != last)
		if len(some) > 0 && (!more || len(some) == linesAtOnce || fresh && different == authorsAtOnce) {
			now := some
			group.Go(func() error {
				if err := work(working, now); err != nil {
					return err
				}
				im.phases.More(int64(len(now)), s.Len())
				return nil
			})
			some, different, fresh = nil, 0, more
		}
		if fresh {
			different++
		}
		if more {
			some, last = append(some, r), r.Hi
		}
	}
	return errors.Join(group.Wait(), w.Err(), ctx.Err())
}

// posts writes the lines that have no post yet.
func (im *importer) posts(ctx context.Context) error {
	return im.inBatches(ctx, im.authors, im.write)
}

// made is a line and the post that it becomes.
type made struct {
	at     int64
	header header
	post   post.Post
}

// write makes the posts of some lines: those of a few authors, or some of one.
func (im *importer) write(ctx context.Context, some batch) error {
	of := map[uint64][]*made{}
	for _, r := range some {
		m, err := im.make(int64(r.Lo))
		if err != nil {
			return err
		}
		if m != nil {
			of[m.post.Author] = append(of[m.post.Author], m)
		}
	}
	authors := make([]uint64, 0, len(of))
	for id := range of {
		authors = append(authors, id)
	}
	for try := 1; ; try++ {
		bounded, cancel := context.WithTimeout(ctx, intake.CallTime)
		repeats, fresh, won, err := im.commit(bounded, authors, of)
		cancel()
		switch {
		case won:
			return im.written(repeats, fresh)
		case err != nil && (!intake.Passing(err) || try >= intake.Tries):
			return err
		case err == nil && try >= intake.Tries:
			return fmt.Errorf("write posts of %d authors: the ids of some were taken, or their feeds keep changing: %w", len(authors), repo.ErrConflict)
		}
		if err := intake.Pause(ctx, try, err != nil); err != nil {
			return err
		}
	}
}

// make makes the post of a line, or rejects the line.
func (im *importer) make(at int64) (*made, error) {
	h, err := im.lines.get(at)
	if err != nil {
		return nil, err
	}
	m := &made{at: at, header: h}
	p := &m.post
	p.ID, p.Author, p.Visibility, p.Imported = h.ID, h.Account, post.Visibility(h.Visibility), h.Key.High
	if h.Kind != isRepost {
		if p.Content, err = im.lines.content(at, &h); err != nil {
			return nil, err
		}
	}
	if h.Kind == isPost {
		return m, nil
	}
	t, err := im.lines.get(h.Target - 1)
	switch {
	case err != nil:
		return nil, err
	case t.ID >= h.ID: // it was moved far, since ids were taken
		return nil, im.reject(at, &h, fmt.Sprintf("there is no free id after that of line %d, which it names", t.Line))
	case h.Kind == isReply:
		p.ReplyTo, p.ReplyWho = t.ID, t.Account
	default:
		p.Origin = t.ID
	}
	return m, nil
}

// commit makes the posts of some authors in one transaction, but for those that were made
// meanwhile, and reposts of what the author has reposted.
func (im *importer) commit(ctx context.Context, authors []uint64, of map[uint64][]*made) (repeats []*made, fresh int64, won bool, err error) {
	won, err = im.cfg.Feeds.Locked(ctx, authors, nil, func(drafts map[uint64]*feed.Draft) (out []feed.Row, err error) {
		repeats, fresh = nil, 0
		for author, all := range of {
			d := drafts[author]
			if !known(d, all) {
				continue
			}
			for _, m := range all {
				switch there, _ := d.Post(m.post.ID); {
				case there.Ver != 0 && there.Imported == m.post.Imported:
					continue // by another import of the file
				case m.post.Origin != 0:
					if former, _ := d.RepostOf(m.post.Origin); former != 0 {
						repeats = append(repeats, m)
						continue
					}
				}
				fresh++
				p := m.post
				d.AddPast(&p)
			}
			if d.Changed() {
				row, err := im.cfg.Feeds.Pack(d)
				if err != nil {
					return nil, err
				}
				out = append(out, row)
			}
		}
		return out, nil
	})
	return repeats, fresh, won, err
}

// known reports whether a draft knows all that is asked of it; else it is read, and the edit
// runs again.
func known(d *feed.Draft, all []*made) bool {
	ok := true
	for _, m := range all {
		_, err := d.Post(m.post.ID)
		ok = ok && err == nil
		if m.post.Origin != 0 {
			_, err := d.RepostOf(m.post.Origin)
			ok = ok && err == nil
		}
	}
	return ok
}

// written notes what was written.
func (im *importer) written(repeats []*made, fresh int64) error {
	for _, m := range repeats {
		m.header.State = isRepeat
		if err := im.lines.put(m.at, &m.header); err != nil {
			return err
		}
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	im.sum.New += fresh
	im.sum.Repeats += int64(len(repeats))
	return nil
}

// counts notes all answers and reposts at the posts that they are of, also those of posts
// that were held: an import before may have been stopped.
func (im *importer) counts(ctx context.Context) error {
	w := im.timed.Walk()
	for r, ok := w.Next(); ok; r, ok = w.Next() {
		h, err := im.lines.get(int64(r.Lo))
		if err != nil {
			return err
		}
		if h.State != isGood && h.State != isHeld {
			continue
		}
		t, err := im.lines.get(h.Target - 1)
		if err != nil {
			return err
		}
		im.sum.Answers++
		if err := im.targets.Add(ctx, spill.Record{Hi: orderKey(t.ID), Lo: h.ID}); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Err(), im.targets.Sort(ctx)); err != nil {
		return err
	}
	return im.inBatches(ctx, im.targets, func(ctx context.Context, some batch) error {
		ids := make([]uint64, len(some))
		for i, r := range some {
			ids[i] = r.Lo
		}
		_, err := intake.Retry(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, im.cfg.Posts.SettleAll(ctx, ids) })
		return err
	})
}
