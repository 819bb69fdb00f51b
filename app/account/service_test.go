package account_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"kith/app"
	"kith/app/account"
	store "kith/repo/account"
	"kith/repo/cache"
	"kith/repo/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestService_Add(t *testing.T) {
	s := account.New(store.New(dbtest.DB(t), cache.NewNone()), func() time.Time { return time.UnixMilli(1_700_000_000_123) })
	ids := dbtest.IDs(t, 2)
	a, err := s.Add(t.Context(), account.Fresh{ID: ids[0], Username: "Mei.Li-2"})
	if err != nil || a.DisplayName != "Mei.Li-2" || a.CreatedAt != 1_700_000_000_123 {
		t.Fatalf("got %+v, %v", a, err)
	}
	bad := map[string]account.Fresh{
		"no name":          {},
		"space":            {Username: "a b"},
		"not ascii":        {Username: "梅"},
		"leading dot":      {Username: ".a"},
		"trailing dash":    {Username: "a-"},
		"61 letters":       {Username: strings.Repeat("a", 61)},
		"newline":          {Username: "a\n"},
		"id too large":     {Username: "large", ID: 1 << 63},
		"display name":     {Username: "shown", DisplayName: strings.Repeat("梅", 101)},
		"display not text": {Username: "shown", DisplayName: "\xff"},
		"taken name":       {Username: "mei.li-2"},
		"taken id":         {Username: "other", ID: ids[0]},
	}
	for name, f := range bad {
		if _, err := s.Add(t.Context(), f); app.KindOf(err) != app.Unprocessable {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
	}
	if b, err := s.ByName(t.Context(), "MEI.LI-2"); err != nil || b.ID != ids[0] {
		t.Errorf("by name: %+v, %v", b, err)
	}
	for _, name := range []string{"nobody", "", "a b"} {
		if _, err := s.ByName(t.Context(), name); app.KindOf(err) != app.NotFound {
			t.Errorf("by name %q: %v, want not found", name, err)
		}
	}
	if _, err := s.One(t.Context(), ids[1]); app.KindOf(err) != app.NotFound {
		t.Errorf("nobody: %v", err)
	}
	var e *app.Error
	if _, err := s.One(t.Context(), ids[1]); !errors.As(err, &e) || e.Sentence != "Record not found" {
		t.Errorf("sentence of %v", err)
	}
}
