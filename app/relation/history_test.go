package relation_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"kith/app"
	"kith/app/relation"
)

// call is one change as its caller saw it. Start and End are unix nanoseconds
// of the machine's clock, which both processes share.
type call struct {
	Op         string
	Actor      uint64
	Target     uint64
	Locked     bool // the target is
	Start, End int64
	Answer     string // words of the relationship, "refused …", or "unknown"
}

const unknown = "unknown"

// answerOf writes an answer as the model writes it.
func answerOf(r relation.Relationship, err error) string {
	switch app.KindOf(err) {
	case app.Forbidden:
		return "refused"
	case app.NotFound:
		return "nobody asked"
	}
	if err != nil {
		return unknown
	}
	return words(r)
}

// pairState is the plain model of two accounts, low and high by id: what the
// rules say, written as directly as can be. Index 0 is low towards high.
type pairState struct {
	follows, asks, blocks [2]bool
}

func (s pairState) words(me int) string {
	them := 1 - me
	return words(relation.Relationship{
		Following: s.follows[me], FollowedBy: s.follows[them], Blocking: s.blocks[me], BlockedBy: s.blocks[them],
		Requested: s.asks[me], RequestedBy: s.asks[them],
	})
}

func (s pairState) step(c call, me int) (pairState, string) {
	them := 1 - me
	switch c.Op {
	case "follow":
		if s.blocks[0] || s.blocks[1] {
			return s, "refused"
		}
		if c.Locked && !s.follows[me] {
			s.asks[me] = true
		} else {
			s.follows[me], s.asks[me] = true, false
		}
	case "unfollow":
		s.follows[me], s.asks[me] = false, false
	case "block":
		s = pairState{blocks: s.blocks}
		s.blocks[me] = true
	case "unblock":
		s.blocks[me] = false
	case "remove":
		s.follows[them] = false
	case "authorize":
		if !s.asks[them] {
			return s, "nobody asked"
		}
		s.follows[them], s.asks[them] = true, false
	case "reject":
		if !s.asks[them] {
			return s, "nobody asked"
		}
		s.asks[them] = false
	default:
		panic("no such op: " + c.Op)
	}
	return s, s.words(me)
}

func side(c call) int {
	if c.Actor < c.Target {
		return 0
	}
	return 1
}

var pairModel = porcupine.Model{
	Init: func() any { return pairState{} },
	Step: func(state, input, output any) (bool, any) {
		c := input.(call)
		next, want := state.(pairState).step(c, side(c))
		return output == unknown || output == want, next
	},
	DescribeOperation: func(input, output any) string {
		c := input.(call)
		return fmt.Sprintf("%s(%d,%d)=%v", c.Op, c.Actor, c.Target, output)
	},
}

// linearizable checks a history pair by pair and tells how many pairs it saw.
func linearizable(t *testing.T, calls []call) (pairs int) {
	t.Helper()
	byPair := map[[2]uint64][]porcupine.Operation{}
	for i, c := range calls {
		key := [2]uint64{min(c.Actor, c.Target), max(c.Actor, c.Target)}
		op := porcupine.Operation{ClientId: i, Input: c, Call: c.Start, Output: c.Answer, Return: c.End}
		if c.Answer == unknown {
			op.Return = math.MaxInt64 // it may take effect at any time, or as the last of all
		}
		byPair[key] = append(byPair[key], op)
	}
	for key, ops := range byPair {
		if porcupine.CheckOperationsTimeout(pairModel, ops, 20*time.Second) != porcupine.Ok {
			sort.Slice(ops, func(i, j int) bool { return ops[i].Call < ops[j].Call })
			for _, o := range ops {
				t.Logf("%d..%d %s", o.Call, o.Return, pairModel.DescribeOperation(o.Input, o.Output))
			}
			t.Errorf("the history of %v is not linearizable", key)
		}
	}
	return len(byPair)
}

func readHistory(t *testing.T, path string) (calls []call) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &calls); err != nil {
		t.Fatal(err)
	}
	return calls
}

// The checker must be able to fail: a lost update, and a stale refusal.
func TestLinearizable_FindsFaults(t *testing.T) {
	bad := map[string][]call{
		"lost follow": {
			{Op: "follow", Actor: 1, Target: 2, Start: 1, End: 2, Answer: "following"},
			{Op: "follow", Actor: 2, Target: 1, Start: 3, End: 4, Answer: "following"},
		},
		"refused after unblock": {
			{Op: "block", Actor: 1, Target: 2, Start: 1, End: 2, Answer: "blocking"},
			{Op: "unblock", Actor: 1, Target: 2, Start: 3, End: 4, Answer: ""},
			{Op: "follow", Actor: 2, Target: 1, Start: 5, End: 6, Answer: "refused"},
		},
	}
	for name, calls := range bad {
		ops := make([]porcupine.Operation, len(calls))
		for i, c := range calls {
			ops[i] = porcupine.Operation{ClientId: i, Input: c, Call: c.Start, Output: c.Answer, Return: c.End}
		}
		if porcupine.CheckOperations(pairModel, ops) {
			t.Errorf("%s passed the check", name)
		}
	}
}
