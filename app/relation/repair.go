package relation

import (
	"context"

	"kith/repo/list"
	"kith/repo/relation"
)

// Repair makes the rows of two accounts agree in everything they say about the two:
// blocks, then follows, then requests. The truth is the row of the one who blocks,
// follows or asks. A block leaves no follow and no request, a follow no request.
// It reports whether anything was wrong; then both rows are swapped. settle checks that
// the two rows hold all there is about each other, as relation.Settle does.
func (s *Service) Repair(ctx context.Context, a, b uint64, settle func(a, b *relation.Draft) bool) (bool, error) {
	var repaired bool
	err := s.commit(ctx, ActRepair, 0, []uint64{a, b}, func(rows map[uint64]*relation.Draft, done *changes) error {
		if !settle(rows[a], rows[b]) {
			return relation.ErrRecall
		}
		repaired = pair{me: rows[a], them: rows[b], from: a, to: b, done: done}.repair()
		return nil
	})
	if err != nil {
		return false, err
	}
	return repaired, nil
}

func (p pair) repair() (repaired bool) {
	sides := []pair{p, p.reverse()}
	for _, p := range sides {
		repaired = p.mirror(list.Blocking, list.BlockedBy) || repaired
	}
	for _, p := range sides {
		repaired = p.repairFollow() || repaired
		repaired = p.mirror(list.Requested, list.Requests) || repaired
		const answered = list.IsFollowing | list.IsBlocking | list.IsBlockedBy
		if r := p.me.Rel(p.to); r&list.IsRequested != 0 && r&answered != 0 {
			p.withdraw()
			repaired = true
		}
	}
	if repaired {
		p.me.Touch()
		p.them.Touch()
	}
	return repaired
}

// mirror makes a section of their row agree with that of mine.
func (p pair) mirror(mine, theirs list.Section) bool {
	if at, is := p.me.Time(mine, p.to); is {
		return p.them.Put(theirs, p.from, at)
	}
	return p.them.Drop(theirs, p.from)
}

// repairFollow makes their row agree with mine about my follow of them, and ends the
// follow where there is a block, about which the rows agree already.
func (p pair) repairFollow() bool {
	if p.me.Rel(p.to)&(list.IsBlocking|list.IsBlockedBy) != 0 {
		there := p.follows()
		p.disconnect()
		return there
	}
	out, in := p.me.Rel(p.to)&list.IsFollowing != 0, p.them.Rel(p.from)&list.IsFollower != 0
	at, _ := p.me.Times(p.to)
	if _, inAt := p.them.Times(p.from); out == in && at == inAt {
		return false
	}
	p.them.DropFollower(p.from)
	if out {
		p.them.AddFollower(p.from, at)
	}
	return true
}
