package bulk

import (
	"context"
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
	for moved := true; moved; {
		var err error
		if moved, err = im.follow(ctx); err != nil {
			return err
		}
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
	if before == 0 {
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
	if h.Target = target; target == 0 {
		return im.reject(at, &h, noKey)
	}
	return im.lines.put(at, &h)
}

// follow makes answers and reposts follow what became of the lines that they name, and
// reports whether any changed: then others may have to. In the order of time most are right
// after one round.
func (im *importer) follow(ctx context.Context) (moved bool, err error) {
	w := im.timed.Walk()
	for r, ok := w.Next(); ok; r, ok = w.Next() {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		at := int64(r.Lo)
		h, err := im.lines.get(at)
		if err != nil {
			return false, err
		}
		if h.State != isGood {
			continue
		}
		was := h
		why, err := im.followOne(&h)
		switch {
		case err != nil:
			return false, err
		case why != "":
			moved, err = true, im.reject(at, &h, why)
		case h != was:
			moved, err = moved || h.At != was.At || h.Visibility != was.Visibility, im.lines.put(at, &h)
		}
		if err != nil {
			return false, err
		}
	}
	return moved, w.Err()
}

const (
	// maxHops is how many lines are passed to find what is shown: reposts, and repeats.
	maxHops = 100
	// maxMoved is how far an answer is moved behind what it answers, in milliseconds.
	maxMoved = 1000
)

// followOne brings one line in line with the one that it names, or says why it cannot be.
func (im *importer) followOne(h *header) (why string, err error) {
	var t header
	for hops := 0; ; hops++ {
		if t, err = im.lines.get(h.Target - 1); err != nil {
			return "", err
		}
		if t.State == isRejected {
			return fmt.Sprintf("line %d, which it names, is rejected", t.Line), nil
		}
		if t.State != isRepeat && t.Kind != isRepost {
			break
		}
		if hops == maxHops {
			return "it names itself in a circle", nil
		}
		h.Target = t.Target // who answers a repost answers what it shows
	}
	switch {
	case h.Created < t.Created:
		return fmt.Sprintf("created_at is before that of line %d, which it names", t.Line), nil
	case h.Kind == isRepost && post.Visibility(t.Visibility) > post.Unlisted && (post.Visibility(t.Visibility) != post.Followers || t.Account != h.Account):
		return fmt.Sprintf("line %d, which it names, cannot be reposted", t.Line), nil
	case h.Kind == isRepost:
		h.Visibility = max(h.Visibility, t.Visibility)
	}
	if h.At = max(h.At, t.At+1); h.At > h.Created+maxMoved {
		return "too many lines at its time name each other", nil
	}
	return "", nil
}
