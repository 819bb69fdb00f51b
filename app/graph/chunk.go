package graph

import (
	"context"
	"io"
	"iter"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"kith/repo"
	"kith/repo/list"
	"kith/repo/relation"
	"kith/repo/spill"
)

// ownerKey orders accounts as primary keys do: by bucket, then id.
func ownerKey(id uint64) uint64 { return uint64(repo.Bucket(id))<<53 | id>>10 }

func accountOf(key uint64) uint64 { return key&(1<<53-1)<<10 | key>>53 }

// sides returns the two records of an edge: the follower's, then the followee's.
// Of equal ones the first to come has the time that counts: the smallest, and
// unknown (0) as the largest of all.
func (e edge) sides() (out, in spill.Record) {
	at := e.time - 1
	out = spill.Record{Hi: ownerKey(e.follower), Lo: e.followee << 1, Val: at}
	in = spill.Record{Hi: ownerKey(e.followee), Lo: e.follower<<1 | 1, Val: at}
	return out, in
}

// edgeOf turns a record back into what its owner's row gets.
func edgeOf(r spill.Record) list.Edge {
	return list.Edge{ID: r.Lo >> 1, Time: r.Val + 1, Out: r.Lo&1 == 0}
}

// pair is two accounts of which the first may follow the second.
type pair struct{ follower, followee uint64 }

// pairOf returns who follows whom in an edge of owner.
func pairOf(owner uint64, e list.Edge) pair {
	if e.Out {
		return pair{owner, e.ID}
	}
	return pair{e.ID, owner}
}

// owner is one account and the edges of the file that its row gets.
type owner struct {
	id    uint64
	edges []list.Edge
}

// chunk is some accounts in key order, each with all its edges.
type chunk []owner

func (c chunk) ids() []uint64 {
	ids := make([]uint64, len(c))
	for i, o := range c {
		ids[i] = o.id
	}
	return ids
}

func (c chunk) edges() (n int64) {
	for _, o := range c {
		n += int64(len(o.edges))
	}
	return n
}

// maxAccounts is how many rows are looked up together. From 1,000 values on,
// which is 500 keys of two columns, MariaDB turns an IN list into a temporary table.
const maxAccounts = 480

// packedEdge is about what an edge adds to a list, heldEdge what it takes in
// memory from the chunk to the statement.
const (
	packedEdge = 10
	heldEdge   = 96
)

// parts cuts a chunk into parts whose lists, with what outlines say is there
// already, take limit bytes at most, or are a single account.
func (c chunk) parts(outlines map[uint64]relation.Outline, limit int) iter.Seq[chunk] {
	return func(yield func(chunk) bool) {
		from, bytes := 0, 0
		for i, o := range c {
			size := outlines[o.id].Size() + packedEdge*len(o.edges)
			if i > from && bytes+size > limit {
				if !yield(c[from:i]) {
					return
				}
				from, bytes = i, 0
			}
			bytes += size
		}
		if from < len(c) {
			yield(c[from:])
		}
	}
}

// grouper makes chunks of sorted records, of all accounts or only of some. An
// account with more edges than a chunk takes comes in several, one after the other.
type grouper struct {
	records *spill.Walk
	only    *spill.Walk // keys of accounts, nil means all
	limits  limits

	last    spill.Record // handed out,
	whole   bool         // with all of its account
	next    spill.Record
	more    bool
	started bool
	out     int64 // edges seen, each once
}

// chunk returns the next accounts, io.EOF after the last.
func (g *grouper) chunk() (chunk, error) {
	if !g.started {
		g.started, g.whole = true, true
		g.next, g.more = g.records.Next()
	}
	var c chunk
	var flat []list.Edge
	for len(c) < g.limits.accounts && len(flat)*packedEdge < g.limits.bytes && g.seek() {
		from, key := len(flat), g.next.Hi
		flat = g.owner(flat)
		c = append(c, owner{id: accountOf(key), edges: flat[from:len(flat):len(flat)]})
	}
	if err := g.records.Err(); err != nil {
		return nil, err
	}
	if len(c) == 0 {
		return nil, io.EOF
	}
	return c, nil
}

// seek moves to the next account that is wanted, or stays where one goes on.
func (g *grouper) seek() bool {
	if g.only == nil || !g.whole {
		return g.more
	}
	want, ok := g.only.Next()
	for ok && g.more && g.next.Hi < want.Hi {
		g.next, g.more = g.records.Next()
	}
	return ok && g.more
}

// owner appends the edges of the account that stands next, each once, as many as a
// chunk takes.
func (g *grouper) owner(flat []list.Edge) []list.Edge {
	key := g.next.Hi
	for n := 0; g.more && g.next.Hi == key && n*packedEdge < g.limits.bytes; {
		if g.next.Hi != g.last.Hi || g.next.Lo != g.last.Lo {
			g.last = g.next
			e := edgeOf(g.next)
			flat = append(flat, e)
			n++
			if e.Out {
				g.out++
			}
		}
		g.next, g.more = g.records.Next()
	}
	g.whole = !g.more || g.next.Hi != key
	return flat
}

// turn is where a chunk stands in the order of all chunks.
type turn struct {
	before <-chan struct{} // closed when the chunk before is done
	done   chan struct{}
}

// wait returns when all chunks before are done. What is written then is written
// in the order of the keys, which leaves pages full: where three writers went
// ahead at once, rows took a fifth more.
func (t turn) wait(ctx context.Context) error {
	select {
	case <-t.before:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// eachChunk has the writers work on the edges of all accounts, or only of some.
func (im *importer) eachChunk(ctx context.Context, only *spill.Walk, work func(context.Context, chunk, turn) error) error {
	g := &grouper{records: im.edges.Walk(), only: only, limits: im.limits}
	group, ctx := errgroup.WithContext(ctx)
	room := semaphore.NewWeighted(im.limits.inFlight)
	weight := func(c chunk) int64 { return min(c.edges()*heldEdge, im.limits.inFlight) }
	type job struct {
		chunk
		turn
	}
	jobs := make(chan job)
	group.Go(func() error {
		defer close(jobs)
		before := make(chan struct{})
		close(before)
		for {
			c, err := g.chunk()
			if err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if err := room.Acquire(ctx, weight(c)); err != nil {
				return err
			}
			j := job{c, turn{before, make(chan struct{})}}
			before = j.done
			select {
			case jobs <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	for range im.cfg.Writers {
		group.Go(func() error {
			for j := range jobs {
				if err := work(ctx, j.chunk, j.turn); err != nil {
					return err
				}
				close(j.done)
				room.Release(weight(j.chunk))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil || only != nil {
		return err
	}
	im.sum.Edges, im.sum.Repeats = g.out, im.edges.Len()/2-g.out
	im.phases.Reach(im.edges.Len(), im.edges.Len())
	return nil
}
