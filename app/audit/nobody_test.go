package audit_test

import (
	"context"
	"strings"
	"testing"

	"kith/app/audit"
	"kith/repo/list"
	"kith/repo/relation"
)

// late is rows of whose accounts one comes to be once it was missed.
type late struct {
	*relation.Store
	come func()
}

func (l late) Missing(ctx context.Context, ids []uint64) (map[uint64]bool, error) {
	out, err := l.Store.Missing(ctx, ids)
	if out[none] {
		l.come()
	}
	return out, err
}

// An account that comes to be while an audit runs is not forgotten.
func TestRun_NobodyComes(t *testing.T) {
	s := newScene(t)
	s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(none, 77) })
	cfg := s.config()
	cfg.Repair = true
	cfg.Rows = late{s.rows, func() { s.exist(none) }}
	if sum, faults := s.run(cfg); sum.Found != 0 {
		t.Errorf("got %v, want that the account is not missed", faults)
	}
	if sum, faults := s.audit(true); kinds(faults) != "edge" || sum.Remain() != 0 {
		t.Errorf("got %v, want a half edge", faults)
	}
	if s.is(s.a, none) != follows || s.is(none, s.a) != list.IsFollower {
		t.Error("the follow is gone")
	}
	s.clean()
}

// Where very many accounts are gone it is their table that is damaged.
func TestRun_AccountsLost(t *testing.T) {
	s := newScene(t)
	s.exec(`DELETE FROM account WHERE account_id % 2 = 0`)
	before := s.dump()
	sum, faults := s.audit(true)
	if sum.Mended != 0 || sum.Faults[audit.Nobody] == 0 || !strings.Contains(faults[0].String(), "is the table account whole?") {
		t.Errorf("got %+v, %v, want that nothing is mended", sum, faults)
	}
	if s.dump() != before {
		t.Error("rows were changed")
	}
	cfg := s.config()
	cfg.Account, cfg.Repair = s.star, true
	if sum, faults := s.run(cfg); sum.Mended != 0 || sum.Faults[audit.Nobody] != 11 {
		t.Errorf("one account: got %+v, %v, want that nothing is mended", sum, faults)
	}
	if s.dump() != before {
		t.Error("rows were changed")
	}
}

// One account forgets those who do not exist, and is forgotten if it does not.
func TestRun_NobodyOfOne(t *testing.T) {
	s := newScene(t)
	truth := s.graph()
	s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(none, 77); d.AddFollowing(none+1, 77) })
	s.plant(none, func(d *relation.Draft) { d.AddFollower(s.a, 77); d.AddFollower(s.b, 77) })
	s.plant(s.b, func(d *relation.Draft) { d.AddFollowing(none, 77) })
	for _, tt := range []struct {
		id    uint64
		kinds string
	}{{s.a, "nobody nobody"}, {none, "nobody nobody"}} {
		for _, repair := range []bool{false, true} {
			cfg := s.config()
			cfg.Account, cfg.Repair = tt.id, repair
			if sum, faults := s.run(cfg); kinds(faults) != tt.kinds || repair != (sum.Remain() == 0) {
				t.Errorf("account %d: got %v, want %s", tt.id, faults, tt.kinds)
			}
		}
	}
	s.clean()
	if got := s.graph(); got != truth {
		t.Errorf("got more:\n%s\nand less:\n%s", without(got, truth), without(truth, got))
	}
}
