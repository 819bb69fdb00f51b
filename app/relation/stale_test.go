package relation_test

import (
	"context"
	"testing"

	"kith/app/relation"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/committer"
)

// late are accounts of which pages do not see one yet, which another process has
// just made.
type late struct {
	*account.Store
	id uint64
}

func (l late) Show(ctx context.Context, ids []uint64) ([]account.Account, error) {
	found, err := l.Store.Show(ctx, ids)
	for i := range found {
		if ids[i] == l.id {
			found[i] = account.Account{ID: l.id}
		}
	}
	return found, err
}

// An edit about somebody whom pages do not show yet answers as any other does, also
// where the answer lies in an archive.
func TestService_JustMade(t *testing.T) {
	w := newWorld(t, cache.NewNone(), 0)
	ids := w.People(6)
	me, fresh := ids[0], ids[5]
	w.Follows(me, ids[1:5]...)
	if _, err := w.Rows.Trim(t.Context(), me, 1); err != nil {
		t.Fatal(err)
	}
	edits := committer.New(w.Rows, committer.Config{})
	defer edits.Close(context.Background())
	s := relation.New(relation.Config{Rows: w.Rows, Committer: edits, Accounts: late{w.Accounts, fresh}, Now: w.Now})
	for _, edit := range []struct {
		name string
		do   func() (relation.Relationship, error)
	}{
		{"Note", func() (relation.Relationship, error) { return s.SetNote(t.Context(), me, fresh, "hello") }},
		{"Mute", func() (relation.Relationship, error) { return s.Mute(t.Context(), me, fresh, true, 0) }},
		{"Unmute", func() (relation.Relationship, error) { return s.Unmute(t.Context(), me, fresh) }},
		{"Follow", func() (relation.Relationship, error) {
			return s.Follow(t.Context(), me, fresh, relation.FollowOptions{})
		}},
		{"Unfollow", func() (relation.Relationship, error) { return s.Unfollow(t.Context(), me, fresh) }},
		{"Block", func() (relation.Relationship, error) { return s.Block(t.Context(), me, fresh) }},
		{"Unblock", func() (relation.Relationship, error) { return s.Unblock(t.Context(), me, fresh) }},
	} {
		if r, err := edit.do(); err != nil || r.ID != fresh {
			t.Errorf("%s: got %+v, %v, want what %d is to %d", edit.name, r, err, fresh, me)
		}
	}
}
