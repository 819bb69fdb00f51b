package relation

import (
	"context"

	"kith/repo/list"
	"kith/repo/relation"
)

// Repair makes the rows of two accounts agree in everything they say about the two:
// blocks, then follows, then requests. Who blocks, follows or asks is the one whose
// own row is the truth. A block leaves no follow and no request, a follow no request.
// It reports whether anything was wrong; then both rows are swapped. sure makes sure
// that two rows say all there is about each other, as relation.Settle does.
func (s *Service) Repair(ctx context.Context, a, b uint64, sure func(a, b *relation.Draft) bool) (repaired bool, err error) {
	err = s.commit(ctx, ActRepair, 0, []uint64{a, b}, func(rows map[uint64]*relation.Draft, done *changes) error {
		if !sure(rows[a], rows[b]) {
			return relation.ErrRecall
		}
		repaired = repair(pair{rows[a], rows[b], s.now(), done})
		return nil
	})
	return repaired, err
}

func repair(p pair) (repaired bool) {
	for _, p := range []pair{p, p.turned()} {
		repaired = mirror(p, list.Blocking, list.BlockedBy) || repaired
	}
	for _, p := range []pair{p, p.turned()} {
		repaired = repairFollow(p) || repaired
		repaired = mirror(p, list.Requested, list.Requests) || repaired
		const answered = list.IsFollowing | list.IsBlocking | list.IsBlockedBy
		if r := p.me.Rel(p.them.AccountID()); r&list.IsRequested != 0 && r&answered != 0 {
			withdraw(p)
			repaired = true
		}
	}
	if repaired {
		p.me.Touch()
		p.them.Touch()
	}
	return repaired
}

// mirror makes their row say about me what mine says of them.
func mirror(p pair, mine, theirs list.Section) bool {
	at, is := p.me.Time(mine, p.them.AccountID())
	if is {
		return p.them.Put(theirs, p.me.AccountID(), at)
	}
	return p.them.Drop(theirs, p.me.AccountID())
}

// repairFollow makes their row say of my follow what mine says, and ends it where
// one of the rows, which agree about that, has a block.
func repairFollow(p pair) bool {
	me, them := p.me.AccountID(), p.them.AccountID()
	if p.me.Rel(them)&(list.IsBlocking|list.IsBlockedBy) != 0 {
		there := follows(p)
		disconnect(p)
		return there
	}
	out, in := p.me.Rel(them)&list.IsFollowing != 0, p.them.Rel(me)&list.IsFollower != 0
	at, _ := p.me.Times(them)
	if _, inAt := p.them.Times(me); out == in && at == inAt {
		return false
	}
	p.them.DropFollower(me)
	if out {
		p.them.AddFollower(me, at)
	}
	return true
}
