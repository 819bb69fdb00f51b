package affinity

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kith/repo/interaction"
)

// ranking is somebody an account has to do with, by the plain formula.
type ranking struct {
	id    uint64
	score float64
	acts  string // every event with its kind and time: who has the same has the same score
}

// rank puts those with whom an account has to do into order: the highest score
// first, and by id among equals.
func rank(events []interaction.Event) []ranking {
	events = slices.SortedFunc(slices.Values(events), func(a, b interaction.Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind))
	})
	acts := map[uint64]string{}
	for _, e := range events {
		acts[e.Target] += fmt.Sprint(e.Kind, e.At, " ")
	}
	var out []ranking
	for id, score := range plain(higgsWorth, events, events[len(events)-1].At) {
		out = append(out, ranking{id, score, acts[id]})
	}
	slices.SortFunc(out, func(a, b ranking) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	return out
}

// compare tells how an order differs from that of the formula. Two may only stand
// the other way round where a float32, rounded in each fold, cannot tell their
// scores apart; and never two with the same events, who stand by id. It returns
// how many come after somebody with the same events.
func compare(got []uint64, want []ranking) (ties int, err error) {
	if len(got) != len(want) {
		return 0, fmt.Errorf("%d in order, want %d", len(got), len(want))
	}
	left := map[uint64]ranking{}
	for _, r := range want {
		left[r.id] = r
	}
	last := map[string]uint64{}
	for i, id := range got {
		r, ok := left[id]
		delete(left, id)
		if !ok || math.Abs(r.score-want[i].score) > 1e-6*want[i].score {
			return ties, fmt.Errorf("%d (score %g) at rank %d, want %d (score %g)", id, r.score, i, want[i].id, want[i].score)
		}
		if before, tied := last[r.acts]; tied {
			if ties++; before >= id {
				return ties, fmt.Errorf("%d before %d at rank %d, who have the same events", before, id, i)
			}
		}
		last[r.acts] = id
	}
	return ties, nil
}

// byLength returns the accounts with most in their order first.
func byLength(ranked map[uint64][]ranking) []uint64 {
	return slices.SortedFunc(maps.Keys(ranked), func(a, b uint64) int {
		return cmp.Or(cmp.Compare(len(ranked[b]), len(ranked[a])), cmp.Compare(a, b))
	})
}

// wantFollowedOrder takes the accounts of the fragment with most scores among
// those they follow, and compares the order of these in their rows.
func (w *world) wantFollowedOrder(t *testing.T, byActor map[uint64][]interaction.Event, edges map[uint64]map[uint64]bool) {
	const accounts = 200
	ranked := map[uint64][]ranking{}
	for id, follows := range edges {
		if events := byActor[id]; len(events) > 0 {
			ranked[id] = slices.DeleteFunc(rank(events), func(r ranking) bool { return !follows[r.id] })
		}
	}
	most := byLength(ranked)[:accounts]
	if n := len(ranked[most[0]]); n < 10 {
		t.Fatalf("nobody has more than %d scores among the followed", n)
	}
	rows, err := w.store.Fresh(t.Context(), most)
	if err != nil {
		t.Fatal(err)
	}
	all, ties := 0, 0
	for _, id := range most {
		var got []uint64
		for _, e := range rows[id].Entries {
			if edges[id][e.ID] {
				got = append(got, e.ID)
			}
		}
		tied, err := compare(got, ranked[id])
		if err != nil {
			t.Errorf("followed by %d: got %v", id, err)
		}
		all, ties = all+len(got), ties+tied
	}
	t.Logf("%d accounts: %d followed with a score in the order of the formula, %d to %d each, %d among others with the same events",
		accounts, all, len(ranked[most[accounts-1]]), len(ranked[most[0]]), ties)
}

// wantFriendsOrder makes friends of the busiest accounts and all those they have
// to do with, and of some they have not, and pages through their friends.
func (w *world) wantFriendsOrder(t *testing.T, byActor map[uint64][]interaction.Event) {
	const accounts = 10
	ranked := map[uint64][]ranking{}
	for id, events := range byActor {
		// Who falls out of a full row begins anew, which the formula does not know.
		if r := rank(events); len(r) <= higgsWorth.Kept {
			ranked[id] = r
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	checked, hasFriend := 0, map[uint64]bool{}
	for _, me := range byLength(ranked) {
		if hasFriend[me] { // perhaps one more than it has to do with
			continue
		}
		for _, r := range ranked[me] {
			hasFriend[r.id] = true
		}
		w.wantFriendsOrderOf(t, me, ranked[me], random)
		if checked++; checked == accounts {
			return
		}
	}
	t.Errorf("%d accounts checked, want %d", checked, accounts)
}

func (w *world) wantFriendsOrderOf(t *testing.T, me uint64, scored []ranking, random *rand.Rand) {
	t.Helper()
	const strangers, firstStranger = 30, 10_000_000 // above the ids of the data
	var friends []uint64
	for _, r := range scored {
		friends = append(friends, r.id)
	}
	for i := range uint64(strangers) {
		friends = append(friends, firstStranger+i)
	}
	random.Shuffle(len(friends), func(i, j int) { friends[i], friends[j] = friends[j], friends[i] })
	w.relations.Make(append(slices.Clone(friends), me)...)
	for _, f := range friends {
		w.relations.Befriend(me, f)
	}
	begin := time.Now()
	got := w.walk(me, 40, nil)
	took := time.Since(begin)
	if len(got) != len(friends) {
		t.Fatalf("got %d friends of %d, want %d", len(got), me, len(friends))
	}
	ties, err := compare(got[:len(scored)], scored)
	if err != nil {
		t.Errorf("friends of %d: got %v", me, err)
	}
	slices.Reverse(friends) // newest first
	want := slices.DeleteFunc(friends, func(id uint64) bool { return id < firstStranger })
	if !slices.Equal(got[len(scored):], want) {
		t.Errorf("friends of %d: got %v at the end, want those without a score, newest first: %v", me, got[len(scored):], want)
	}
	t.Logf("account %d: %d friends with a score, %d among others with the same events, and %d without, in the order of the formula; all pages in %v",
		me, len(scored), ties, strangers, took.Round(time.Microsecond))
}

// An order that is not that of the formula is seen.
func TestCompare(t *testing.T) {
	want := rank([]interaction.Event{
		{Target: 7, Kind: "repost", At: 1000}, {Target: 8, Kind: "repost", At: 1000},
		{Target: 9, Kind: "mention", At: 1000}, {Target: 9, Kind: "reply", At: 1000},
	})
	for _, c := range []struct {
		got  []uint64
		ties int
		good bool
	}{
		{[]uint64{9, 7, 8}, 1, true}, {[]uint64{9, 8, 7}, 1, false}, {[]uint64{7, 9, 8}, 0, false},
		{[]uint64{9, 7}, 0, false}, {[]uint64{9, 7, 7}, 0, false}, {[]uint64{9, 7, 6}, 0, false},
	} {
		if ties, err := compare(c.got, want); ties != c.ties || (err == nil) != c.good {
			t.Errorf("%v: got %d ties, %v; want %d", c.got, ties, err, c.ties)
		}
	}
}
