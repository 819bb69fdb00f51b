package sql_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"kith/repo/list"
	"kith/repo/relation"
)

func (p *plant) ask(follower, followee uint64) table {
	p.t.Helper()
	return run(p.t, usual(), p.dsn, "edge.sql", map[string]string{"follower": text(follower), "followee": text(followee)})[0]
}

func verdict(follows bool) string {
	if follows {
		return "follows"
	}
	return "does not follow"
}

// kind is a part of an account's lists without the number of its segment.
func kind(part string) string {
	table, section, _ := strings.Cut(part, ": ")
	table, _, _ = strings.Cut(table, " ")
	return strings.TrimSpace(table + " " + section)
}

// edge compares the script with the store's own answer.
func (p *plant) edge(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	parts := map[string]int{}
	for i := range 150 {
		star := []uint64{p.narrow, p.wide, p.ids[rng.IntN(60)]}[i%3]
		other := []uint64{p.ids[rng.IntN(len(p.ids))], star + 1000 + rng.Uint64N(300), star + 1340 + rng.Uint64N(60), star + 10_000 + rng.Uint64N(50)}[rng.IntN(4)]
		if other == star {
			continue
		}
		rels, _, err := p.store.Rels(t.Context(), p.row(other), []uint64{star}, relation.EveryRel)
		if err != nil {
			t.Fatal(err)
		}
		got := p.ask(other, star)
		want := []string{verdict(rels[0]&list.IsFollowing != 0), verdict(rels[0]&list.IsFollower != 0)}
		same(t, "does "+text(other)+" follow "+text(star)+", and back", column(got, "verdict"), want)
		parts[kind(got[0]["at_to"])]++
		parts[kind(got[1]["at_from"])]++
	}
	for _, part := range []string{"-", "row friends", "row followers", "row following", "segment followers", "relation_own friends", "relation_own following"} {
		if parts[part] < 4 {
			t.Errorf("%d edges at %s, want some: %v", parts[part], part, parts)
		}
	}
	same(t, "across two ids", column(p.ask(straddling, across), "verdict"), []string{"does not follow", "does not follow"})
	same(t, "across two ids, then as one", p.ask(straddling+1, across)[0]["at_from"], "row: following")
	same(t, "an id too wide for the list", column(p.ask(straddling, 1<<40|before), "verdict"), []string{"does not follow", "does not follow"})
	p.edgeFaults(t)
}

// edgeFaults: what is wrong is found wherever it lies. Each fault is put right again.
func (p *plant) edgeFaults(t *testing.T) {
	p.draft(8001).AddFollowing(8002, start)
	p.draft(8003).AddFollower(8004, start)
	p.save()
	same(t, "only the follower's side", column(p.ask(8001, 8002), "verdict"), []string{"HALF EDGE: only from has it", "does not follow"})
	same(t, "only the followee's side", column(p.ask(8004, 8003), "verdict"), []string{"HALF EDGE: only to has it", "does not follow"})

	segments, own := p.archive(p.wide)
	follower, friend := newest(p.view(segments[0].List), list.Followers), newest(own, list.Friends)
	same(t, "before", column(p.ask(p.wide, friend), "verdict"), []string{"follows", "follows"})
	move := func(other, to uint64) {
		p.exec(`UPDATE relation_own SET other_id = ? WHERE bucket = ? AND account_id = ? AND other_id = ?`, to, p.wide&1023, p.wide, other)
	}
	move(friend, 1<<50)
	same(t, "gone from relation_own", column(p.ask(p.wide, friend), "verdict"), []string{"HALF EDGE: only to has it", "HALF EDGE: only from has it"})
	move(1<<50, friend)

	was := p.row(p.wide)
	back := p.setList(p.wide, was.List)
	l, err := p.view(was.List).Open()
	if err != nil {
		t.Fatal(err)
	}
	l.AddFollower(follower, start)
	l.AddFollowing(friend, start)
	b, err := l.Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	p.setList(p.wide, b)
	same(t, "in the row and in a segment", p.ask(follower, p.wide)[0]["verdict"], "TWICE")
	got := p.ask(p.wide, friend)[0]
	same(t, "in the row and in relation_own", []string{got["verdict"], got["at_from"]}, []string{"TWICE", "relation_own: friends, row: following"})
	back()
}

// newest is the newest id of a section.
func newest(v list.View, s list.Section) (id uint64) {
	_ = v.Each(s, func(o uint64, _, _ uint32) bool { id = o; return false })
	return id
}
