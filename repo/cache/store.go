package cache

import (
	"context"
	"errors"
	"sync"

	"github.com/bradfitz/gomemcache/memcache"
)

// fill adds entries.
func (n *node) fill(ctx context.Context, names *names, entries []Entry) {
	all := make([]storing, 0, len(entries))
	for _, e := range entries {
		if e.tooLarge() {
			n.metrics.fillTooLarge.Inc()
			continue
		}
		all = append(all, storing{verb: "add", entry: e, Item: n.item(names, e)})
	}
	err := ctx.Err()
	if err == nil {
		err = n.store(true, all)
	}
	if err != nil {
		n.metrics.fillFailed.Add(float64(len(all)))
		return
	}
	n.fillBodies(names, all)
}

// fillBodies sends the bodies that are apart of what was added. Where an entry
// was held already it may lack its body, so that is offered too: whoever takes it
// looks whether it is old.
func (n *node) fillBodies(names *names, all []storing) {
	var bodies []storing
	for _, s := range all {
		held := errors.Is(s.err, memcache.ErrNotStored)
		switch {
		case s.err == nil:
			n.metrics.filled.Inc()
		case held:
			n.metrics.held.Inc()
		default:
			n.metrics.fillFailed.Inc()
		}
		if (s.err == nil && s.entry.kind() == kindApart || held) && len(s.entry.Body) > 0 {
			bodies = append(bodies, n.body(names, s.entry))
		}
	}
	_ = n.store(true, bodies) // without its body an entry counts as missing, which is no harm
	freeBodies(bodies)
}

// bodies has the buffers in which bodies are put together. Lists are long, and each
// commit sends those of its rows.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// freeBodies gives back the buffers of bodies that were sent.
func freeBodies(all []storing) {
	for _, s := range all {
		if s.verb == "set" {
			bodies.Put(&s.Value)
		}
	}
}

// body stores a whole entry under its bodyKey, whatever is there: readers hold it
// against the ver under the entry's own key, where order is kept.
func (n *node) body(names *names, e Entry) storing {
	key := bodyKey(e.Key)
	buf := *bodies.Get().(*[]byte)
	return storing{verb: "set", entry: e, Item: &memcache.Item{Key: key, Value: names.seal(key, pack(buf[:0], kindWhole, e)), Expiration: seconds(n.expiry)}}
}

// put stores entries, or a hole for those too large, where a lower ver or
// nothing is held. Those with a token replace what it stands for; what is held of
// the others, and of those whose token is no longer good, has to be read first. It
// returns where a higher ver is held.
func (n *node) put(names *names, entries []Entry) (ahead map[string]uint64) {
	ahead = map[string]uint64{}
	var known, unknown []Entry
	for _, e := range entries {
		if e.Token != (Token{}) {
			known = append(known, e)
		} else {
			unknown = append(unknown, e)
		}
	}
	lost := n.swap(names, known, func(e Entry) (uint64, uint64) { return e.Token.cas, e.Token.dials })
	for range maxSwaps {
		unknown = append(unknown, lost...)
		if len(unknown) == 0 {
			return ahead
		}
		lost, unknown = n.putUnknown(names, unknown, ahead), nil
	}
	// The last resort lets a late Fill of an older row in.
	n.fail(lost)
	return ahead
}

// putUnknown reads what is held of entries and replaces what is older; what is newer
// goes into ahead. It returns those for which somebody else was quicker.
func (n *node) putUnknown(names *names, entries []Entry, ahead map[string]uint64) (lost []Entry) {
	dials := n.dials.Load()
	items, err := n.allItems(keysOf(entries))
	if err != nil {
		n.untell(entries, err)
		return nil
	}
	older := entries[:0]
	for _, e := range entries {
		ver, held := names.verOf(items[e.Key])
		if !held || ver < e.Ver {
			older = append(older, e)
			continue
		}
		n.metrics.newer.Inc()
		if ver > e.Ver {
			ahead[e.Key] = ver
		}
	}
	return n.swap(names, older, func(e Entry) (uint64, uint64) {
		if item := items[e.Key]; item != nil {
			return item.CasID, dials
		}
		return 0, 0
	})
}

// swap stores each entry in place of its old item, that of a compare-and-swap id
// read after so many dials, or where the id is 0 of nothing; bodies first, so that
// no head is without its own. It returns the entries whose old item was not there
// any more. What memcached refuses is
// deleted, so that no older row stays.
func (n *node) swap(names *names, entries []Entry, old func(Entry) (cas, dials uint64)) (lost []Entry) {
	all := make([]storing, 0, 2*len(entries))
	for _, e := range entries {
		if e.kind() == kindApart && !e.Partial {
			all = append(all, n.body(names, e))
		}
		s := storing{verb: "add", entry: e, Item: n.item(names, e)}
		if cas, dials := old(e); cas != 0 {
			s.verb, s.CasID, s.dials = "cas", cas, dials
		}
		all = append(all, s)
	}
	defer freeBodies(all)
	if err := n.store(false, all); err != nil {
		n.untell(entries, err)
		return nil
	}
	return n.swapped(all)
}

func (n *node) swapped(all []storing) (lost []Entry) {
	var failed []Entry
	refused := false // the body of the entry that follows
	for _, s := range all {
		switch {
		case s.verb == "set":
			refused = s.err != nil
			continue
		case refused || s.err != nil && !lostRace(s.err):
			failed = append(failed, s.entry)
		case s.err != nil:
			lost = append(lost, s.entry)
		default:
			n.stored(s.entry)
		}
		refused = false
	}
	n.fail(failed)
	return lost
}

// untell remembers entries that could not be told.
func (n *node) untell(entries []Entry, cause error) {
	n.untold(keysOf(entries), cause)
	n.metrics.failed.Add(float64(len(entries)))
}

// fail deletes what is held of entries that cannot be stored.
func (n *node) fail(entries []Entry) {
	n.metrics.failed.Add(float64(len(entries)))
	n.drop(keysOf(entries))
}
