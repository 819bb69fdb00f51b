package post

import "testing"

func TestVisibility(t *testing.T) {
	for v, name := range map[Visibility]string{Public: "public", Unlisted: "unlisted", Followers: "private", Direct: "direct"} {
		if got := v.String(); got != name {
			t.Errorf("%d: got %q, want %q", v, got, name)
		}
		if got, ok := ParseVisibility(name); !ok || got != v {
			t.Errorf("%q: got %d, %v; want %d", name, got, ok, v)
		}
	}
	if got := (Direct + 1).String(); got != "direct" {
		t.Errorf("an unknown one: got %q", got)
	}
	for _, name := range []string{"", "Public", "followers", "public "} {
		if v, ok := ParseVisibility(name); ok || v != Public {
			t.Errorf("%q: got %d, %v", name, v, ok)
		}
	}
}
