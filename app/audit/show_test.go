package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"kith/app/audit"
)

func TestShow(t *testing.T) {
	s := newScene(t)
	var text strings.Builder
	show := func(id uint64) string {
		t.Helper()
		text.Reset()
		if err := audit.Show(t.Context(), &text, s.rows, id); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	for id, want := range map[uint64][]string{
		s.star: {"friends         2\nfollowers       22, kept 7\nfollowing       2, kept 2\n", "\nfriends, 2\n", fmt.Sprintf("\nfollowers, 5\n  %-20d 2023-11-14 22:", s.fans[len(s.fans)-1]),
			"a note", "\narchive\n  followers  seq ", "15 entries, 2023-11-14 "},
		s.a:       {"\nmuting, 1\n", "hides notifications, muted until 2023-11-14 23:"},
		s.blocker: {"\nblocking, 1\n"},
		s.locked:  {"\nrequests, 1\n"},
		s.fans[4]: {"\narchive\n", "\nfollowing, 2\n"},
		1 << 40:   {"row             none\n"},
	} {
		got := show(id)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("account %d is shown as\n%s\nwant %q in it", id, got, w)
			}
		}
	}
	s.exec(`UPDATE relation_archive SET n = 3 WHERE account_id = ?`, s.star)
	s.rewriteList(s.a, func(b []byte) []byte { return b[:6] })
	if got := show(s.star); !strings.Contains(got, "WRONG") {
		t.Errorf("got\n%s\nwant that a segment is wrong", got)
	}
	if got := show(s.a); !strings.Contains(got, "the list cannot be read") {
		t.Errorf("got\n%s\nwant that the list cannot be read", got)
	}
}
