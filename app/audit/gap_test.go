package audit_test

import (
	"context"
	"testing"

	"kith/app/audit"
	"kith/repo/list"
	"kith/repo/relation"
)

// A row that has gaps is still written to. An unfollow that comes while the
// others are asked is not undone, and what stands in the row stays.
func TestRun_GapsWritten(t *testing.T) {
	for name, lose := range map[string]func(s *scene){
		"Segment": func(s *scene) { s.loseSegment(s.fans[4], list.Following) },
		"Unknown": func(s *scene) {
			s.overwriteOwn(s.fans[4], s.star, 1<<31)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			fan, gone, new := s.fans[4], s.fans[5], s.b
			lose(s)
			cfg := s.config()
			cfg.Repair = true
			if name == "Unknown" { // only reported
				s.audit(true)
				cfg.Account, cfg.Rebuild = fan, true
			}
			written := false
			cfg.Step = func(ctx context.Context, at audit.Progress) error {
				if at.Phase != "rebuild" || written {
					return nil
				}
				written = true
				s.must(s.Unfollow(ctx, fan, gone))
				s.must(s.Unfollow(ctx, fan, s.fans[9]))
				s.follow(fan, new)
				return nil
			}
			if sum, faults := s.run(cfg); sum.Remain() != 0 || !written {
				t.Errorf("got %v, want all repaired", faults)
			}
			s.audit(true)
			s.clean()
			for other, want := range map[uint64]list.Rel{s.fans[9]: nothing, new: follows, s.star: follows} {
				if got := s.is(fan, other); got != want {
					t.Errorf("%d is to %d %b, want %b", other, fan, got, want)
				}
			}
		})
	}
}

// An audit of one account asks the others too where that account, or the one at
// the other end, has gaps.
func TestRun_GapsOfOne(t *testing.T) {
	for name, tt := range map[string]struct {
		plant func(s *scene)
		of    func(s *scene) uint64
		// rebuild says that it is only reported, with the command to type.
		rebuild bool
	}{
		"Segment":      {plant: func(s *scene) { s.loseSegment(s.fans[4], list.Following) }, of: func(s *scene) uint64 { return s.fans[4] }},
		"OtherSegment": {plant: func(s *scene) { s.loseSegment(s.fans[4], list.Following) }, of: func(s *scene) uint64 { return s.star }, rebuild: true},
		"Unknown":      {plant: func(s *scene) { s.tangle(s.fans[7], s.star, 1<<31) }, of: func(s *scene) uint64 { return s.fans[7] }, rebuild: true},
		"OtherUnknown": {plant: func(s *scene) { s.tangle(s.fans[7], s.star, 1<<31) }, of: func(s *scene) uint64 { return s.star }, rebuild: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			truth := s.graph()
			tt.plant(s)
			cfg := s.config()
			cfg.Account, cfg.Repair = tt.of(s), true
			if sum, faults := s.run(cfg); sum.Found == 0 || tt.rebuild == (sum.Remain() == 0) {
				t.Errorf("got %v, want faults, repaired unless they take a rebuild", faults)
			} else if tt.rebuild {
				s.rebuildReported(faults)
			}
			s.clean()
			if got := s.graph(); got != truth {
				t.Errorf("got more:\n%s\nand less:\n%s", without(got, truth), without(truth, got))
			}
		})
	}
}

// An account that vanished is named by many rows. None of them has gaps by that.
func TestRun_Vanished(t *testing.T) {
	s := newScene(t)
	for _, f := range s.fans {
		s.plant(f, func(d *relation.Draft) { d.AddFollowing(none, 77) })
	}
	const passes = 2 // no walk to ask what others know
	sum, faults := s.audit(true)
	if sum.Remain() != 0 || len(faults) != len(s.fans) || sum.Passes != passes {
		t.Errorf("got %+v, %v, want all repaired in %d passes", sum, faults, passes)
	}
	s.clean()
}

// A row of which a list was lost and one that says so in its own way, in slices
// that are looked at in different passes.
func TestRun_GapsInManyPasses(t *testing.T) {
	s := newScene(t)
	truth := s.graph()
	for _, f := range []uint64{s.fans[7], s.fans[9], s.fans[16]} {
		s.tangle(f, s.star, 1<<31+f)
	}
	cfg := s.config()
	cfg.Repair, cfg.Collect = true, 12
	for range 2 {
		_, faults := s.run(cfg)
		s.rebuildReported(faults)
		cfg = s.config()
		cfg.Repair, cfg.Collect = true, 12
		if sum, _ := s.run(cfg); sum.Remain() == 0 {
			break
		}
	}
	s.clean()
	if got := s.graph(); got != truth {
		t.Errorf("got more:\n%s\nand less:\n%s", without(got, truth), without(truth, got))
	}
}
