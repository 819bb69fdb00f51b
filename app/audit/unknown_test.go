package audit_test

import (
	"context"
	"strings"
	"testing"

	"kith/app/audit"
	"kith/repo/list"
	"kith/repo/relation"
)

// An account that comes to be while an audit runs is not forgotten.
func TestRun_UnknownComes(t *testing.T) {
	s := newScene(t)
	s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(none, 77) })
	cfg := s.config()
	cfg.Repair = true
	cfg.Step = func(_ context.Context, at audit.Progress) error {
		if at.Phase == "verify" && at.Rows == at.Total { // it was missed by then
			s.exist(none)
		}
		return nil
	}
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
	if sum.Repaired != 0 || sum.Faults[audit.Unknown] == 0 || !strings.Contains(faults[0].String(), "is the table account whole?") {
		t.Errorf("got %+v, %v, want that nothing is repaired", sum, faults)
	}
	if s.dump() != before {
		t.Error("rows were changed")
	}
	cfg := s.config()
	cfg.Account, cfg.Repair = s.star, true
	if sum, faults := s.run(cfg); sum.Repaired != 0 || sum.Faults[audit.Unknown] != 11 {
		t.Errorf("one account: got %+v, %v, want that nothing is repaired", sum, faults)
	}
	if s.dump() != before {
		t.Error("rows were changed")
	}
}

// One account forgets those who do not exist, and is forgotten if it does not.
func TestRun_UnknownOfOne(t *testing.T) {
	s := newScene(t)
	truth := s.graph()
	s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(none, 77); d.AddFollowing(none+1, 77) })
	s.plant(none, func(d *relation.Draft) { d.AddFollower(s.a, 77); d.AddFollower(s.b, 77) })
	s.plant(s.b, func(d *relation.Draft) { d.AddFollowing(none, 77) })
	for _, tt := range []struct {
		id    uint64
		kinds string
		// rebuild says that it is only reported: from one account it is not seen whether
		// an unknown id stands where another was overwritten.
		rebuild bool
	}{{s.a, "unknown unknown", true}, {none, "unknown unknown", false}} {
		for _, repair := range []bool{false, true} {
			cfg := s.config()
			cfg.Account, cfg.Repair = tt.id, repair
			sum, faults := s.run(cfg)
			if kinds(faults) != tt.kinds || (repair && !tt.rebuild) != (sum.Remain() == 0) {
				t.Errorf("account %d: got %v, want %s", tt.id, faults, tt.kinds)
			}
			if repair && tt.rebuild {
				s.rebuildReported(faults)
			}
		}
	}
	s.clean()
	if got := s.graph(); got != truth {
		t.Errorf("got more:\n%s\nand less:\n%s", without(got, truth), without(truth, got))
	}
}
