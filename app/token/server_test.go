package token

import "testing"

// What servers may say about everybody is covered by nothing but itself.
func TestClaims_Allows_ServerScope(t *testing.T) {
	for _, granted := range append([]string{"write:statuses", "read:interactions", "write"}, parents...) {
		if (Claims{Scopes: []string{granted}}).Allows(ServerScope) {
			t.Errorf("%s covers %s", granted, ServerScope)
		}
	}
	if !(Claims{Scopes: []string{ServerScope}}).Allows(ServerScope) {
		t.Error("it does not cover itself")
	}
	if _, err := ParseScopes(ServerScope); err != nil {
		t.Error(err)
	}
}
