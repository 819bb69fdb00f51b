package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
)

// Stars is how many accounts with full lists the works need: one for each case and round of
// hot and contend, and one for processes to warm up.
func Stars(rounds int) int { return (len(hotClients)+len(processes))*rounds + 1 }

var hotClients = []int{64, 256}

// mostNaive is the most clients of naive on one row: with 256 of them a call takes about two
// seconds, so a round says nothing.
const mostNaive = 64

// hot lets n clients follow one account with a full list, each time by a new account.
func (b *Bench) hot(ctx context.Context, peers []peer.Peer) error {
	var loads []load
	for i, n := range hotClients {
		taking := slices.DeleteFunc(slices.Clone(peers), func(p peer.Peer) bool { return p.Name() == peer.NaiveName && n > mostNaive })
		loads = append(loads, rate("hot", fmt.Sprintf("%d clients", n), "follows/s",
			each(taking, func(ctx context.Context, p peer.Peer, round int) (report.Round, error) {
				star := i*b.Rounds + round
				l := newLedger(p, n, fansOf(graph.Star(star), firstFan(star)))
				r, err := gained(ctx, p, graph.Star(star), func() (report.Round, error) {
					return drive(ctx, n, b.Span, uint64(round), l.follow)
				})
				if err == nil {
					err = l.check(ctx)
				}
				return r, err
			})))
	}
	return b.run(ctx, loads...)
}

// firstFan is the id before that of the first new follower of a star.
func firstFan(star int) uint64 { return graph.Fresh + uint64(star)*graph.FreshEach }

// fansOf lets new accounts, from first on, follow one.
func fansOf(star, first uint64) func(*client, uint32) pair {
	return func(_ *client, n uint32) pair { return pair{first + uint64(n), star} }
}

// spread lets clients follow and unfollow all over the graph, by its degrees. A client
// unfollows only what it followed.
func (b *Bench) spread(ctx context.Context, peers []peer.Peer) error {
	var loads []load
	for _, n := range []int{64, 256} {
		loads = append(loads, rate("spread", fmt.Sprintf("%d clients", n), "changes/s",
			each(peers, func(ctx context.Context, p peer.Peer, round int) (report.Round, error) {
				l := newLedger(p, n, b.pairs)
				return l.drive(ctx, b.Span, round, l.change)
			})))
	}
	return b.run(ctx, loads...)
}

func (b *Bench) pairs(c *client, _ uint32) (e pair) {
	e.from, e.to = b.Graph.Pair(c.Rand)
	return e
}

// one measures how long one follow takes on an idle machine. The follows are undone when the
// clock has stopped.
func (b *Bench) one(ctx context.Context, peers []peer.Peer) error {
	return b.run(ctx, latency("one follow", "1 client",
		each(peers, func(ctx context.Context, p peer.Peer, round int) (report.Round, error) {
			l := newLedger(p, 1, b.pairs)
			r, err := l.drive(ctx, b.Span, round, l.follow)
			if err == nil {
				err = l.undo(ctx)
			}
			return r, err
		})))
}

// gained checks how many followers an account gains in a round. A follow that gave up may
// have been made all the same, if its answer was lost.
func gained(ctx context.Context, p peer.Peer, id uint64, take func() (report.Round, error)) (report.Round, error) {
	before, err := p.Counts(ctx, []uint64{id})
	if err != nil {
		return report.Round{}, err
	}
	r, err := take()
	if err != nil {
		return r, err
	}
	return r, eventually(ctx, func(ctx context.Context) error {
		after, err := p.Counts(ctx, []uint64{id})
		if err != nil {
			return err
		}
		if n := after[0].Followers - before[0].Followers; n < r.Ops || n > r.Ops+r.Failed {
			return fmt.Errorf("after %d follows that were acknowledged and %d given up, %d has %d followers more", r.Ops, r.Failed, id, n)
		}
		return nil
	})
}

// settled is how long a peer may take until it shows all that it acknowledged. Only kith
// needs it: its counts may be a second old.
const settled = 3 * time.Second

// eventually repeats a check until it passes or settled is over.
func eventually(ctx context.Context, check func(context.Context) error) error {
	for begin := time.Now(); ; {
		err := check(ctx)
		if err == nil || time.Since(begin) > settled {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ledger records the changes that each client makes.
type ledger struct {
	peer    peer.Peer
	next    func(c *client, n uint32) pair // the edge of the n-th change of all
	changes atomic.Uint32
	mine    [][]pair // of each client: what it has followed
	done    [][]entry
}

type pair struct{ from, to uint64 }

// entry is a change that was made, or whose outcome is unknown.
type entry struct {
	pair
	follow, unknown bool
}

// changesFrom is the time of the first change, later than every follow of the graph.
const changesFrom = 1_720_000_000

func newLedger(p peer.Peer, clients int, next func(*client, uint32) pair) *ledger {
	return &ledger{peer: p, next: next, mine: make([][]pair, clients), done: make([][]entry, clients)}
}

// drive lets the clients make changes and then checks them.
func (l *ledger) drive(ctx context.Context, span time.Duration, seed int, do func(context.Context, *client) error) (report.Round, error) {
	r, err := drive(ctx, len(l.done), span, uint64(seed), do)
	if err == nil {
		err = l.check(ctx)
	}
	return r, err
}

// follow makes the next follow.
func (l *ledger) follow(ctx context.Context, c *client) error {
	n := l.changes.Add(1)
	e := l.next(c, n)
	err := l.peer.Follow(ctx, e.from, e.to, changesFrom+n)
	l.mine[c.n] = append(l.mine[c.n], e)
	l.done[c.n] = append(l.done[c.n], entry{e, true, err != nil})
	return err
}

// change makes the next follow, and every other time drops one of the client's.
func (l *ledger) change(ctx context.Context, c *client) error {
	made := l.mine[c.n]
	if c.IntN(2) == 1 || len(made) == 0 {
		return l.follow(ctx, c)
	}
	i := c.IntN(len(made))
	e := made[i]
	made[i] = made[len(made)-1]
	l.mine[c.n] = made[:len(made)-1]
	err := l.peer.Unfollow(ctx, e.from, e.to)
	l.done[c.n] = append(l.done[c.n], entry{pair: e, unknown: err != nil})
	return err
}

// How many edges are checked after a round, and for how many of them both accounts are.
const (
	edgesChecked = 256
	pairsChecked = 12
)

// check checks the last changes from both sides, and that lists are as long as their counts
// say.
func (l *ledger) check(ctx context.Context) error {
	last := l.last()
	for _, e := range last {
		if err := eventually(ctx, func(ctx context.Context) error { return l.checkEdge(ctx, e) }); err != nil {
			return err
		}
	}
	checked := map[uint64]bool{}
	for _, e := range last[:min(pairsChecked, len(last))] {
		for _, id := range []uint64{e.from, e.to} {
			if checked[id] {
				continue
			}
			checked[id] = true
			if err := eventually(ctx, func(ctx context.Context) error { return l.checkCounts(ctx, id) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// last returns the last changes of edges that only one client has changed: of two clients it
// is unknown which came last. The latest change of each client comes first.
func (l *ledger) last() (all []entry) {
	const several = -1
	by := map[pair]int{} // the client that changed the edge
	longest := 0
	for n, done := range l.done {
		longest = max(longest, len(done))
		for _, e := range done {
			if was, there := by[e.pair]; e.unknown || (there && was != n) {
				by[e.pair] = several
			} else {
				by[e.pair] = n
			}
		}
	}
	for back := 1; back <= longest; back++ {
		for n, done := range l.done {
			if back > len(done) || by[done[len(done)-back].pair] != n {
				continue
			}
			if all = append(all, done[len(done)-back]); len(all) == edgesChecked {
				return all
			}
			by[done[len(done)-back].pair] = several // what comes before it no longer counts
		}
	}
	return all
}

func (l *ledger) checkEdge(ctx context.Context, e entry) error {
	out, err := l.peer.States(ctx, e.from, []uint64{e.to})
	if err != nil {
		return err
	}
	in, err := l.peer.States(ctx, e.to, []uint64{e.from})
	if err != nil {
		return err
	}
	if out[0].Following != e.follow || in[0].FollowedBy != e.follow {
		return fmt.Errorf("%d follows %d: got %v, from the other side %v, want %v", e.from, e.to, out[0].Following, in[0].FollowedBy, e.follow)
	}
	return nil
}

// longestRead is the longest list that checkCounts reads.
const longestRead = 4_000

func (l *ledger) checkCounts(ctx context.Context, id uint64) error {
	counts, err := l.peer.Counts(ctx, []uint64{id})
	if err != nil {
		return err
	}
	followers, err := l.peer.Page(ctx, peer.Followers, id, peer.Entry{}, longestRead)
	if err != nil {
		return err
	}
	following, err := l.peer.Page(ctx, peer.Following, id, peer.Entry{}, longestRead)
	if err != nil {
		return err
	}
	got := peer.Counts{Following: int64(len(following)), Followers: int64(len(followers))}
	want := peer.Counts{Following: min(counts[0].Following, longestRead), Followers: min(counts[0].Followers, longestRead)}
	if got != want {
		return fmt.Errorf("the lists of %d are %+v long, its counts %+v", id, got, counts[0])
	}
	return nil
}

// undo drops what was followed, by several at once.
func (l *ledger) undo(ctx context.Context) error {
	made := slices.Concat(l.mine...)
	errs := make([]error, 64)
	var all sync.WaitGroup
	for n := range errs {
		all.Go(func() {
			for i := n; i < len(made) && errs[n] == nil; i += len(errs) {
				errs[n] = l.peer.Unfollow(ctx, made[i].from, made[i].to)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
