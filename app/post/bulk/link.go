package bulk

import (
	"context"
	"errors"
	"fmt"

	"kith/repo/post"
	"kith/repo/spill"
)

// link finds the lines that others name, and refuses those that name none.
func (im *importer) link(ctx context.Context) error {
	for _, s := range []*spill.Sorter{im.keys, im.refs, im.timed} {
		if err := s.Sort(ctx); err != nil {
			return err
		}
	}
	if err := im.join(ctx); err != nil {
		return err
	}
	w := im.timed.Walk() // in the order of time most lines stand after those that they name
	for r, ok := w.Next(); ok; r, ok = w.Next() {
		if err := im.follow(ctx, int64(r.Lo)); err != nil {
			return err
		}
	}
	if err := w.Err(); err != nil {
		return err
	}
	return im.bad.Enough(im.keys.Len() + im.unread - im.bad.Len())
}

// join walks keys and references side by side.
func (im *importer) join(ctx context.Context) error {
	keys, refs := im.keys.Walk(), im.refs.Walk()
	key, ok := keys.Next()
	ref, more := refs.Next()
	for ok || more {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := ref.Hi
		if ok && (!more || key.Hi < hi) {
			hi = key.Hi
		}
		first := map[uint32]int64{} // of the lines whose keys begin alike; nearly always one
		for ; ok && key.Hi == hi; key, ok = keys.Next() {
			if err := im.once(first, key); err != nil {
				return err
			}
		}
		for ; more && ref.Hi == hi; ref, more = refs.Next() {
			if err := im.refer(ref, first[ref.Val]); err != nil {
				return err
			}
		}
	}
	if err := keys.Err(); err != nil {
		return err
	}
	return refs.Err()
}

// once refuses a line whose key another had before, unless it is the same line again.
func (im *importer) once(first map[uint32]int64, key spill.Record) error {
	im.phases.More(1, im.keys.Len())
	at, before := int64(key.Lo), first[key.Val]
	if before == noLine {
		first[key.Val] = at + 1
		return nil
	}
	was, err := im.lines.get(before - 1)
	if err != nil {
		return err
	}
	h, err := im.lines.get(at)
	if err != nil {
		return err
	}
	if h.Account != was.Account || h.Created != was.Created {
		return im.reject(at, &h, fmt.Sprintf("line %d has the same key", was.Line))
	}
	im.sum.Repeats++
	h.State, h.Target = isRepeat, before
	return im.lines.put(at, &h)
}

// noKey is why a line is rejected that names one of another file, or of none: a key alone does
// not say in which bucket its post is.
const noKey = "no line has the key that it names; if a file that was imported before has it, import that file and this one together: what is there already stays as it is"

// refer notes which line another one names.
func (im *importer) refer(ref spill.Record, target int64) error {
	at := int64(ref.Lo)
	h, err := im.lines.get(at)
	if err != nil || h.State != isGood {
		return err
	}
	if target == noLine {
		return im.reject(at, &h, noKey)
	}
	h.State, h.Target = isNaming, target
	return im.lines.put(at, &h)
}

// noLine is in place of where a line stands, and 1.
const noLine = 0

// follow brings a line in line with the one that it names, after that one itself was, and so
// on. Each line is brought in line once, whatever stands in the file. The way back is noted in
// the lines, so it takes no memory however long it is.
func (im *importer) follow(ctx context.Context, at int64) error {
	for circle := int64(noLine); ; { // the line at which the way back leaves a circle
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := im.lines.get(at)
		if err != nil || h.State != isNaming && h.State != isWaiting {
			return err
		}
		t, err := im.named(&h)
		if err != nil {
			return err
		}
		switch t.State {
		case isNaming:
			h.State, t.Back = isWaiting, at+1
			if err := errors.Join(im.lines.put(at, &h), im.lines.put(h.Target-1, &t)); err != nil {
				return err
			}
			at = h.Target - 1
			continue
		case isWaiting:
			circle = h.Target
		}
		if err := im.settle(at, &h, &t, circle != noLine); err != nil || h.Back == noLine {
			return err
		}
		if circle == at+1 {
			circle = noLine
		}
		at = h.Back - 1
	}
}

// named returns the line that another one names: of those that are the same the first.
func (im *importer) named(h *header) (t header, err error) {
	t, err = im.lines.get(h.Target - 1)
	if err == nil && t.State == isRepeat {
		h.Target = t.Target
		t, err = im.lines.get(h.Target - 1)
	}
	return t, err
}

// maxMoved is how far an answer is moved behind what it answers, in milliseconds.
const maxMoved = 1000

// settle brings one line in line with the one that it names, which was before, or rejects it.
func (im *importer) settle(at int64, h, t *header, circle bool) error {
	if t.State == isGood && t.Kind == isRepost { // who answers a repost answers what it shows
		h.Target = t.Target
		var err error
		if *t, err = im.lines.get(h.Target - 1); err != nil {
			return err
		}
	}
	shown := post.Visibility(t.Visibility)
	switch {
	case circle:
		return im.reject(at, h, "it names itself in a circle")
	case t.State == isRejected:
		return im.reject(at, h, fmt.Sprintf("line %d, which it names, is rejected", t.Line))
	case h.Created < t.Created:
		return im.reject(at, h, fmt.Sprintf("created_at is before that of line %d, which it names", t.Line))
	case h.Kind == isRepost && shown > post.Unlisted && (shown != post.Followers || t.Account != h.Account):
		return im.reject(at, h, fmt.Sprintf("line %d, which it names, cannot be reposted", t.Line))
	case h.Kind == isRepost:
		h.Visibility = max(h.Visibility, t.Visibility)
	}
	if h.At = max(h.At, t.At+1); h.At > h.Created+maxMoved {
		return im.reject(at, h, "too many lines at its time name each other")
	}
	h.State = isGood
	if im.cfg.DryRun {
		im.sum.Answers++
	}
	return im.lines.put(at, h)
}
