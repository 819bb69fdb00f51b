package audit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"kith/app/audit"
	"kith/repo/account"
)

// named is a world of people with names, of which an audit is asked to look at the
// names.
func named(t *testing.T) *world {
	w := newWorld(t, 0)
	for i, name := range []string{"Ann", "Bob", "Cleo"} {
		if _, err := w.accounts.Create(t.Context(), account.Account{ID: uint64(1 + i), Username: name}); err != nil {
			t.Fatal(err)
		}
	}
	w.people(40)
	return w
}

func (w *world) auditNames(change func(*audit.Config)) (sum audit.Summary, words []string) {
	w.Helper()
	cfg := w.config()
	cfg.Names = w.accounts
	change(&cfg)
	sum, faults := w.run(cfg)
	for _, f := range faults {
		words = append(words, f.String())
	}
	return sum, words
}

func repair(c *audit.Config) { c.Repair = true }

func TestRun_Names(t *testing.T) {
	claim := func(bucket int, name string, id uint64) string {
		return fmt.Sprintf(`INSERT INTO username (bucket, name, account_id) VALUES (%d, '%s', %d)`, bucket, name, id)
	}
	free := func(name string) string { return `DELETE FROM username WHERE name = '` + name + `'` }
	for name, tt := range map[string]struct {
		plant []string
		want  []string // each fault has one of these
		stay  int      // faults that cannot be repaired
		found map[string]uint64
	}{
		"Nothing":      {},
		"OfUnknown":    {plant: []string{claim(5, "zoe", 99)}, want: []string{`account 99: the name "zoe"`}},
		"OfAnother":    {plant: []string{claim(5, "anna", 1)}, want: []string{`account 1: the name "anna"`}},
		"OtherBucket":  {plant: []string{`UPDATE username SET bucket = (bucket + 1) % 1024 WHERE name = 'ann'`}, want: []string{`account 1: the name "ann"`, "account 1: its name is not claimed"}},
		"OtherCase":    {plant: []string{`UPDATE username SET name = 'Ann' WHERE name = 'ann'`}, want: []string{`account 1: the name "Ann"`, "account 1: its name is not claimed"}},
		"Lacking":      {plant: []string{free("ann")}, want: []string{"account 1: its name is not claimed"}},
		"Stolen":       {plant: []string{`UPDATE username SET account_id = 99 WHERE name = 'ann'`}, want: []string{`account 99: the name "ann"`, "account 1: its name is not claimed"}},
		"StolenByOne":  {plant: []string{`UPDATE username SET account_id = 2 WHERE name = 'ann'`}, want: []string{`account 2: the name "ann"`, "account 1: its name is not claimed"}},
		"Namesakes":    {plant: []string{`UPDATE account SET username = 'ANN' WHERE account_id = 2`}, want: []string{`account 2: the name "bob"`, "account 2: its name is not claimed"}, stay: 1},
		"AccountsGone": {plant: []string{`DELETE FROM account WHERE account_id > 1000`}, want: slices.Repeat([]string{"the name \"u10"}, 40), stay: 40},
		"NamesGone":    {plant: []string{`DELETE FROM username`}, want: slices.Repeat([]string{"its name is not claimed"}, 43)},
	} {
		t.Run(name, func(t *testing.T) {
			w := named(t)
			for _, statement := range tt.plant {
				w.exec(statement)
			}
			sum, words := w.auditNames(func(*audit.Config) {})
			if len(words) != len(tt.want) || sum.Repaired != 0 {
				t.Fatalf("found %q, want %d faults", words, len(tt.want))
			}
			for i, want := range tt.want {
				if !strings.Contains(words[i], want) {
					t.Errorf("fault %d: got %q, want %q", i, words[i], want)
				}
			}
			if sum, words := w.auditNames(repair); int(sum.Found) != len(tt.want) || int(sum.Remain()) != tt.stay {
				t.Errorf("repairing: got %q, want that %d of %d stay", words, tt.stay, len(tt.want))
			}
			if sum, words := w.auditNames(func(*audit.Config) {}); int(sum.Found) != tt.stay {
				t.Errorf("after repairing: got %q", words)
			}
			if tt.stay > 0 {
				return
			}
			for id, name := range map[uint64]string{1: "ann", 2: "bob", 3: "cleo", 1001: "u1001"} {
				if a, err := w.accounts.ByName(t.Context(), name); err != nil || a.ID != id {
					t.Errorf("%s: got %d, %v, want %d", name, a.ID, err, id)
				}
			}
		})
	}
}

func TestRun_NamesOfOne(t *testing.T) {
	w := named(t)
	w.exec(`DELETE FROM username WHERE name IN ('ann', 'bob')`)
	if sum, words := w.auditNames(func(c *audit.Config) { c.Account, c.Repair = 1, true }); sum.Found != 1 || sum.Repaired != 1 {
		t.Errorf("got %q, want the name of one", words)
	}
	if sum, words := w.auditNames(repair); sum.Found != 1 || !strings.Contains(words[0], "account 2") {
		t.Errorf("got %q, want the name of the other", words)
	}
}

// Accounts that come to be while an audit repairs keep their names.
func TestRun_NamesTraffic(t *testing.T) {
	w := named(t)
	var wg sync.WaitGroup
	done := make(chan struct{})
	for g := range 4 {
		wg.Go(func() {
			for i := range 60 {
				a := account.Account{ID: uint64(2000 + 100*g + i), Username: fmt.Sprintf("n%d_%d", g, i)}
				if _, err := w.accounts.Create(t.Context(), a); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { wg.Wait(); close(done) }()
	for more := true; more; {
		select {
		case <-done:
			more = false
		default:
		}
		if sum, words := w.auditNames(repair); sum.Found != 0 {
			t.Errorf("found %q", words)
		}
	}
}

// A pause that is refused ends the audit of names before a write.
func TestRun_NamesStopped(t *testing.T) {
	w := named(t)
	w.exec(`DELETE FROM username WHERE name = 'ann'`)
	stop := errors.New("stop")
	cfg := w.config()
	cfg.Names, cfg.Repair = w.accounts, true
	cfg.Step = func(ctx context.Context, at audit.Progress) error {
		if at.Phase == "nameless" {
			return stop
		}
		return nil
	}
	if _, err := audit.Run(t.Context(), cfg); !errors.Is(err, stop) {
		t.Errorf("got %v, want that it stops", err)
	}
	if _, err := w.accounts.ByName(t.Context(), "ann"); err == nil {
		t.Error("it wrote all the same")
	}
}
