package audit_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kith/app/audit"
	app "kith/app/relation"
	"kith/repo"
	"kith/repo/list"
	"kith/repo/relation"
)

// Whatever one row is damaged by, a repair comes back to what was before: the
// others know it, and since when.
func TestRun_Damaged(t *testing.T) {
	w := newWorld(t, 0)
	p := w.people(24)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 260 {
		a, b := p[r.IntN(len(p))], p[r.IntN(len(p))]
		if a == b {
			continue
		}
		w.now = w.now.Add(time.Duration(r.IntN(3)) * time.Second)
		if r.IntN(10) == 0 {
			w.must(w.Block(t.Context(), a, b))
			continue
		}
		_, _ = w.Follow(t.Context(), a, b, app.FollowOptions{}) // refused where one blocks
	}
	for _, id := range p[:6] {
		if _, err := w.rows.Trim(t.Context(), id, 2); err != nil {
			t.Fatal(err)
		}
	}
	w.clean()
	truth := w.graph()
	for i := range 60 {
		victim := p[r.IntN(len(p))]
		how := w.damage(r, victim)
		if how == "" {
			continue
		}
		sum, faults := w.audit(i%2 == 0)
		if sum.Found == 0 {
			t.Fatalf("%d: %s of %d was not found", i, how, victim)
		}
		if i%2 != 0 {
			sum, faults = w.audit(true)
		}
		if sum.Remain() != 0 {
			t.Errorf("%d: %s of %d: %d faults remain: %v", i, how, victim, sum.Remain(), faults)
		}
		w.clean()
		if got := w.graph(); got != truth {
			t.Fatalf("%d: %s of %d, %v: got more:\n%s\nand less:\n%s", i, how, victim, faults, without(got, truth), without(truth, got))
		}
	}
}

// damage does something to the row or archive of an account that leaves it other
// than a row may be, and says what; nothing if it was no damage.
func (w *world) damage(r *rand.Rand, id uint64) string {
	w.Helper()
	row := w.row(id)
	v, err := row.View()
	if err != nil {
		w.Fatal(err)
	}
	ids := v.AppendIDs(nil, list.ByFollower)
	for _, s := range []list.Section{list.Following, list.Blocking, list.BlockedBy} {
		_ = v.Each(s, func(id uint64, _, _ uint32) bool { ids = append(ids, id); return true })
	}
	if len(ids) < 2 {
		return ""
	}
	x, y := ids[r.IntN(len(ids))], ids[r.IntN(len(ids))]
	if x == y {
		return ""
	}
	was := row.List
	how := "an id twice"
	w.rewriteOrLeave(id, func(b []byte) []byte {
		switch r.IntN(6) {
		case 0:
			how = "a cut list"
			return b[:r.IntN(len(b))]
		case 1:
			how = "a list with a flipped bit"
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			return b
		case 2:
			how = "an order"
			return exchange(b, x, y)
		default:
			return overwrite(b, x, y)
		}
	})
	now, err := w.row(id).View()
	// Whom it blocks only the row itself decides: a false one is like a true one.
	saved, _ := relation.Salvage(w.row(id).List)
	blocks := slices.ContainsFunc(saved.AppendIDs(nil, list.Blocking), func(id uint64) bool { return v.Rel(id)&list.IsBlocking == 0 })
	if (err != nil || now.Check() != nil) && !blocks {
		return how
	}
	w.rewriteOrLeave(id, func([]byte) []byte { return was }) // the same, or other than true but as a row may be
	return ""
}

func (w *world) rewriteOrLeave(id uint64, edit func(b []byte) []byte) {
	w.Helper()
	b := edit(append([]byte(nil), w.row(id).List...))
	if _, err := w.pool.ExecContext(w.Context(), `UPDATE relation SET list = ? WHERE bucket = ? AND account_id = ?`, b, repo.Bucket(id), id); err != nil {
		w.Fatal(err)
	}
}

// A row whose ids stand twice is still written to. What the others said before
// that does not come back.
func TestRun_DamagedWritten(t *testing.T) {
	s := newScene(t)
	fan, gone, there, new := s.fans[7], s.fans[8], s.fans[12], s.b
	s.tangle(fan, gone, there)
	cfg := s.config()
	cfg.Repair = true
	written := false
	cfg.Step = func(ctx context.Context, at audit.Progress) error {
		if at.Phase != "rebuild" || written {
			return nil
		}
		written = true
		s.must(s.Unfollow(ctx, fan, gone))
		s.follow(fan, new)
		return nil
	}
	if sum, faults := s.run(cfg); sum.Remain() != 0 || kinds(faults) != "double" || !written {
		t.Errorf("got %v, want a double id that is repaired", faults)
	}
	s.clean()
	for other, want := range map[uint64]list.Rel{gone: nothing, there: follows, new: follows, s.star: follows} {
		if got := s.is(fan, other); got != want {
			t.Errorf("%d is to %d %b, want %b", other, fan, got, want)
		}
	}
}
