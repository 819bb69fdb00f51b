package token

import "testing"

// What servers may say about everybody is covered by nothing but itself.
func TestCovers_ServerScope(t *testing.T) {
	for _, granted := range append([]string{"write:statuses", "read:interactions", "write"}, parents...) {
		if Covers(granted, ServerScope) {
			t.Errorf("%s covers %s", granted, ServerScope)
		}
	}
	if !Covers(ServerScope, ServerScope) {
		t.Error("it does not cover itself")
	}
	if _, err := ParseScopes(ServerScope); err != nil {
		t.Error(err)
	}
}
