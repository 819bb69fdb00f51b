package audit_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/app/audit"
	app "kith/app/relation"
	"kith/repo"
	"kith/repo/list"
	"kith/repo/relation"
)

// scene is a graph in which everything occurs: archives, blocks, requests,
// options. Of its people
//
//	star        is followed by all fans, most of them in the archive, and follows two of them back
//	fan 0       follows star and is followed by it
//	a, b        know nobody
//	blocker     blocks blocked, asker asked to follow locked
type scene struct {
	*world
	star, a, b, blocker, blocked, asker, locked uint64
	fans                                        []uint64
	truth                                       string // what a repair must come back to
}

func newScene(t *testing.T) *scene {
	w := newWorld(t, 0)
	p := make([]uint64, 30)
	for i := range p {
		p[i] = firstPerson + uint64(i)
	}
	s := &scene{world: w, star: p[0], a: p[1], b: p[2], blocker: p[3], blocked: p[4], asker: p[5], locked: p[6], fans: p[8:]}
	if !saved.IsZero() {
		w.now = saved
		for _, table := range tables {
			w.all(`INSERT INTO ` + table + ` SELECT * FROM saved_` + table)
		}
		return s
	}
	s.make()
	for _, table := range tables {
		w.all(`CREATE TABLE saved_` + table + ` AS SELECT * FROM ` + table)
	}
	saved = w.now
	return s
}

// saved is what the clock of a scene shows, once one was made: it is saved in tables
// beside those of the world, and the next is a copy.
var saved time.Time

func (s *scene) make() {
	w := s.world
	s.exist(append(slices.Clone(s.fans), s.star, s.a, s.b, s.blocker, s.blocked, s.asker, s.locked, firstPerson+7)...)
	for i, f := range s.fans {
		w.follow(f, s.star)
		w.follow(f, s.fans[(i+1)%len(s.fans)])
		w.follow(f, s.fans[(i+5)%len(s.fans)])
	}
	w.follow(s.star, s.fans[0])
	w.follow(s.star, s.fans[1])
	for _, id := range []uint64{s.a, s.b} {
		w.must(w.Mute(w.Context(), id, s.fans[3], true, time.Hour))
	}
	w.must(w.Block(w.Context(), s.blocker, s.blocked))
	if _, err := w.accounts.SetLocked(w.Context(), s.locked, true); err != nil {
		w.Fatal(err)
	}
	w.follow(s.asker, s.locked)
	w.must(w.SetNote(w.Context(), s.star, s.fans[0], "an old friend"))
	w.trim(s.star, 5)
	w.trim(s.fans[4], 1)
	w.clean()
}

func (w *world) trim(id uint64, limit int) {
	w.Helper()
	if done, err := w.rows.Trim(w.Context(), id, limit); err != nil || done == 0 {
		w.Fatalf("trim %d: %+v, %v", id, done, err)
	}
}

// archiveBlock moves both sides of the block to the archive.
func (s *scene) archiveBlock() {
	s.Helper()
	s.trim(s.blocker, 0)
	s.trim(s.blocked, 0)
	s.truth = s.graph()
}

// oldFan is a follower of star who stands in the archive.
func (s *scene) oldFan() uint64 { return s.fans[2] }

// is returns what b is to a.
func (s *scene) is(a, b uint64) list.Rel {
	s.Helper()
	row, err := s.rows.Row(s.Context(), a)
	if err != nil {
		s.Fatal(err)
	}
	rels, _, err := s.rows.Rels(s.Context(), row, []uint64{b}, relation.EveryRel)
	if err != nil {
		s.Fatal(err)
	}
	return rels[0] &^ list.HasOption
}

// tangle damages the list of an account: by stands twice then, where id was.
func (s *scene) tangle(account, id, by uint64) {
	s.Helper()
	s.rewriteList(account, func(b []byte) []byte { return overwrite(b, id, by) })
}

// none is no account's id.
const none = 1<<40 + 5

const (
	friend  = list.IsFollowing | list.IsFollower
	follows = list.IsFollowing
	nothing = list.Rel(0)
)

// A planted fault is found, named with its accounts, left alone by a report, and
// repaired by a repair.
func TestRun_Planted(t *testing.T) {
	type want struct {
		a, b uint64
		rel  list.Rel
	}
	star := func(s *scene) []any { return []any{repo.Bucket(s.star), s.star} }
	segment := func(set string) func(s *scene) {
		return func(s *scene) {
			s.exec(`UPDATE relation_archive SET `+set+` WHERE bucket = ? AND account_id = ? AND section = 1`, star(s)...)
		}
	}
	columns := func(set string) func(s *scene) {
		return func(s *scene) {
			s.exec(`UPDATE relation SET `+set+` WHERE bucket = ? AND account_id = ?`, star(s)...)
		}
	}
	tests := map[string]struct {
		plant func(s *scene)
		kinds string // of the faults, sorted
		about func(s *scene) []uint64
		want  func(s *scene) []want
		note  string
		// rebuild says that a repair only reports it, with the command to type.
		rebuild bool
		// truth says that afterwards everything is as it was before, times too.
		truth bool
	}{
		"EdgeFollowersSide": {plant: func(s *scene) { s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(s.b, 77) }) }, kinds: "edge",
			about: func(s *scene) []uint64 { return []uint64{s.a, s.b} }, want: func(s *scene) []want { return []want{{s.a, s.b, follows}} }},
		"EdgeFolloweesSide": {plant: func(s *scene) { s.plant(s.b, func(d *relation.Draft) { d.AddFollower(s.a, 77) }) }, kinds: "edge",
			about: func(s *scene) []uint64 { return []uint64{s.a, s.b} }, want: func(s *scene) []want { return []want{{s.a, s.b, nothing}} }},
		"EdgeFollowersSideWithArchive": {plant: func(s *scene) { s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(s.star, 77) }) }, kinds: "edge",
			want: func(s *scene) []want { return []want{{s.a, s.star, follows}} }},
		"EdgeInArchiveOnly": {plant: func(s *scene) { s.plant(s.oldFan(), func(d *relation.Draft) { d.DropFollowing(s.star) }) }, kinds: "edge",
			about: func(s *scene) []uint64 { return []uint64{s.star, s.oldFan()} }, want: func(s *scene) []want { return []want{{s.oldFan(), s.star, nothing}} }},
		"EdgeMissingInArchive": {plant: func(s *scene) {
			s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(s.fans[4], 1) })
		}, kinds: "edge", want: func(s *scene) []want { return []want{{s.a, s.fans[4], follows}} }},
		"OtherTime": {plant: func(s *scene) {
			s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(s.b, 77) })
			s.plant(s.b, func(d *relation.Draft) { d.AddFollower(s.a, 78) })
		}, kinds: "time", about: func(s *scene) []uint64 { return []uint64{s.a, s.b} }, want: func(s *scene) []want { return []want{{s.a, s.b, follows}} }},
		"OtherTimeInArchive": {plant: func(s *scene) {
			s.plant(s.oldFan(), func(d *relation.Draft) { d.DropFollowing(s.star); d.AddFollowing(s.star, 7) })
		}, kinds: "time", want: func(s *scene) []want { return []want{{s.oldFan(), s.star, follows}} }},
		"Counts":       {plant: columns(`friends = friends + 1, followers = followers - 3, following = 0`), truth: true, kinds: "count", about: func(s *scene) []uint64 { return []uint64{s.star} }},
		"CountsTooBig": {plant: columns(`followers = 4000000000`), truth: true, kinds: "count"},
		"CountsWithoutArchive": {plant: func(s *scene) {
			s.exec(`UPDATE relation SET followers = followers + 1 WHERE bucket = ? AND account_id = ?`, repo.Bucket(s.fans[0]), s.fans[0])
		}, kinds: "count"},
		"KeptFollowers": {plant: columns(`kept_followers = 0`), kinds: "column", about: func(s *scene) []uint64 { return []uint64{s.star} }},
		"KeptFollowing": {plant: columns(`kept_following = 9`), kinds: "column"},
		"Blocks":        {plant: columns(`blocks = 7`), kinds: "column"},
		"Archived":      {plant: columns(`archived = ''`), kinds: "column", about: func(s *scene) []uint64 { return []uint64{s.star} }},
		"DoubleId": {plant: func(s *scene) { s.tangle(s.star, s.fans[21], s.fans[20]) }, kinds: "double", truth: true,
			about: func(s *scene) []uint64 { return []uint64{s.star} }},
		"FriendStandsTwice":     {plant: func(s *scene) { s.tangle(s.star, s.fans[21], s.fans[0]) }, kinds: "double", truth: true},
		"FriendOverwritten":     {plant: func(s *scene) { s.tangle(s.star, s.fans[0], s.fans[1]) }, kinds: "double", truth: true},
		"FriendByFollower":      {plant: func(s *scene) { s.tangle(s.star, s.fans[0], s.fans[20]) }, kinds: "double", truth: true},
		"FollowOverwritten":     {plant: func(s *scene) { s.tangle(s.fans[7], s.fans[8], s.fans[12]) }, kinds: "double", truth: true},
		"FollowByFollower":      {plant: func(s *scene) { s.tangle(s.fans[7], s.fans[8], s.fans[6]) }, kinds: "double", truth: true},
		"FollowerByFollow":      {plant: func(s *scene) { s.tangle(s.fans[7], s.fans[6], s.fans[8]) }, kinds: "double", truth: true},
		"EarlierCopyIsWrong":    {plant: func(s *scene) { s.tangle(s.fans[7], s.star, s.fans[12]) }, kinds: "double", truth: true, note: "1 of them were put back, 1 accounts stand as their own rows have it"},
		"LaterCopyIsWrong":      {plant: func(s *scene) { s.tangle(s.fans[7], s.fans[12], s.star) }, kinds: "double", truth: true},
		"OfARowWithArchive":     {plant: func(s *scene) { s.tangle(s.fans[4], s.fans[9], s.fans[3]) }, kinds: "double", truth: true},
		"OverwrittenByArchived": {plant: func(s *scene) { s.tangle(s.star, s.fans[20], s.oldFan()) }, kinds: "double", truth: true},
		"BlockOverwritten": {plant: func(s *scene) {
			s.must(s.Block(s.Context(), s.blocker, s.a))
			s.truth = s.graph()
			s.tangle(s.blocker, s.blocked, s.a)
		}, kinds: "double", truth: true},
		"RequestOverwritten": {plant: func(s *scene) {
			s.follow(s.a, s.locked)
			s.truth = s.graph()
			s.tangle(s.locked, s.asker, s.a)
		}, kinds: "double", truth: true},
		"TwoDouble": {plant: func(s *scene) {
			s.tangle(s.fans[7], s.fans[8], s.fans[12])
			s.tangle(s.fans[16], s.fans[17], s.fans[21])
		}, kinds: "double double", truth: true},
		"TwoDoubleThatFollow": {plant: func(s *scene) {
			s.tangle(s.fans[7], s.star, s.fans[12])
			s.tangle(s.fans[8], s.star, s.fans[13])
		}, kinds: "double double", truth: true},
		"OneDoubleOneCut": {plant: func(s *scene) {
			s.tangle(s.fans[7], s.star, s.fans[12])
			s.rewriteList(s.fans[8], func(b []byte) []byte { return b[:6] })
		}, kinds: "bytes double", truth: true},
		"WhatOnlyTheDamagedKnew": {plant: func(s *scene) {
			s.plant(s.fans[7], func(d *relation.Draft) { d.Put(list.Blocking, s.a, 9); d.Put(list.Requested, s.b, 9) })
			s.tangle(s.fans[7], s.fans[8], s.fans[12])
		}, kinds: "double", want: func(s *scene) []want {
			return []want{{s.fans[7], s.fans[8], follows}, {s.a, s.fans[7], list.IsBlockedBy}, {s.b, s.fans[7], list.HasRequest}}
		}},
		"WhatOnlyTheDamagedSaysOfOthers": {plant: func(s *scene) {
			s.plant(s.fans[7], func(d *relation.Draft) {
				d.AddFollowing(s.a, 9)
				d.AddFollower(s.b, 9)
				d.Put(list.BlockedBy, s.locked, 9)
				d.Put(list.Requests, s.asker, 9)
			})
			s.tangle(s.fans[7], s.fans[8], s.fans[12])
		}, kinds: "double", truth: true, note: "4 accounts were dropped"},
		"UnknownFollowed": {plant: func(s *scene) { s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(none, 77) }) }, kinds: "unknown", truth: true,
			about: func(s *scene) []uint64 { return []uint64{s.a, none} }},
		"UnknownFollows": {plant: func(s *scene) { s.plant(s.star, func(d *relation.Draft) { d.AddFollower(none, 77) }) }, kinds: "unknown", truth: true},
		"UnknownFriend": {plant: func(s *scene) {
			s.plant(s.a, func(d *relation.Draft) { d.AddFollower(none, 77); d.AddFollowing(none, 78) })
		}, kinds: "unknown", truth: true},
		"UnknownBlocked":   {plant: func(s *scene) { s.plant(s.a, func(d *relation.Draft) { d.Put(list.Blocking, none, 9) }) }, kinds: "unknown", truth: true},
		"UnknownBlocks":    {plant: func(s *scene) { s.plant(s.a, func(d *relation.Draft) { d.Put(list.BlockedBy, none, 9) }) }, kinds: "unknown", truth: true},
		"UnknownRequested": {plant: func(s *scene) { s.plant(s.a, func(d *relation.Draft) { d.Put(list.Requested, none, 9) }) }, kinds: "unknown", truth: true},
		"UnknownInArchive": {plant: func(s *scene) {
			s.plant(s.fans[4], func(d *relation.Draft) { d.AddFollower(none, 1) })
			s.trim(s.fans[4], 1)
		}, kinds: "unknown", truth: true},
		"UnknownOfMany": {plant: func(s *scene) {
			for _, f := range s.fans[3:6] {
				s.plant(f, func(d *relation.Draft) { d.AddFollowing(none, 77) })
			}
		}, kinds: "unknown unknown unknown", truth: true},
		"UnknownAndCounts": {plant: func(s *scene) {
			s.plant(s.star, func(d *relation.Draft) { d.AddFollower(none, 77) })
			columns(`followers = 7`)(s)
		}, kinds: "count unknown", truth: true},
		"UnknownByDamage": {plant: func(s *scene) { s.tangle(s.fans[7], s.star, 1<<31) }, kinds: "edge unknown", rebuild: true, truth: true,
			about: func(s *scene) []uint64 { return []uint64{s.star, s.fans[7], 1 << 31} }},
		"UnknownByDamageOfFriend":   {plant: func(s *scene) { s.tangle(s.star, s.fans[0], 1<<31) }, kinds: "edge edge unknown", rebuild: true, truth: true},
		"UnknownByDamageOfFollower": {plant: func(s *scene) { s.tangle(s.star, s.fans[20], 1<<31) }, kinds: "edge unknown", truth: true},
		"UnknownByDamageOfTwo": {plant: func(s *scene) {
			s.tangle(s.fans[7], s.star, 1<<31)
			s.tangle(s.fans[7], s.fans[8], 1<<31+1)
		}, kinds: "edge edge unknown unknown", rebuild: true, truth: true},
		"UnknownByDamageOfBoth": {plant: func(s *scene) {
			s.tangle(s.fans[7], s.star, 1<<31)
			s.tangle(s.fans[12], s.fans[13], 1<<31)
		}, kinds: "edge edge unknown unknown", rebuild: true, truth: true},
		"UnknownByDamageBesideDouble": {plant: func(s *scene) {
			s.tangle(s.fans[7], s.fans[8], 1<<31)
			s.tangle(s.fans[8], s.fans[9], s.fans[13])
		}, kinds: "double unknown", rebuild: true, truth: true},
		"UnknownByDamageBesideCut": {plant: func(s *scene) {
			s.tangle(s.fans[7], s.star, 1<<31)
			s.rewriteList(s.fans[12], func(b []byte) []byte { return b[:6] })
		}, kinds: "bytes edge unknown", rebuild: true, truth: true},
		"UnknownByDamageOfBlock":   {plant: func(s *scene) { s.tangle(s.blocker, s.blocked, 1<<31) }, kinds: "block unknown", rebuild: true, truth: true},
		"UnknownByDamageOfRequest": {plant: func(s *scene) { s.tangle(s.asker, s.locked, 1<<31) }, kinds: "request unknown", rebuild: true, truth: true},
		"UnknownByDamageInArchive": {plant: func(s *scene) {
			s.overwriteOwn(s.fans[4], s.fans[5], 1<<31)
		}, kinds: "column edge unknown", rebuild: true, truth: true},
		"SegmentGone": {plant: func(s *scene) {
			s.exec(`DELETE FROM relation_archive WHERE bucket = ? AND account_id = ? AND section = 1`, star(s)...)
		}, kinds: "count" + strings.Repeat(" edge", 15), truth: true},
		"SegmentOfFollowingGone": {plant: func(s *scene) { s.loseSegment(s.fans[4], list.Following) }, kinds: "count", truth: true, note: "2 of them were put back",
			about: func(s *scene) []uint64 { return []uint64{s.fans[4]} }},
		"SegmentOfFriendsGone": {plant: func(s *scene) {
			s.trim(s.fans[0], 0)
			s.truth = s.graph()
			s.loseSegment(s.fans[0], list.Friends)
		}, kinds: "count", truth: true},
		"AllSegmentsGone": {plant: func(s *scene) {
			s.exec(`DELETE FROM relation_archive WHERE bucket = ? AND account_id = ?`, repo.Bucket(s.fans[4]), s.fans[4])
			s.exec(`DELETE FROM relation_own WHERE bucket = ? AND account_id = ?`, repo.Bucket(s.fans[4]), s.fans[4])
		}, kinds: "count", truth: true},
		"TwoSegmentsGone": {plant: func(s *scene) {
			s.trim(s.fans[9], 1)
			s.truth = s.graph()
			s.loseSegment(s.fans[4], list.Following)
			s.loseSegment(s.fans[9], list.Following)
		}, kinds: "count count", truth: true},
		"ArchivedBlockGone": {plant: func(s *scene) {
			s.archiveBlock()
			s.loseSegment(s.blocker, list.Blocking)
		}, kinds: "column", truth: true, about: func(s *scene) []uint64 { return []uint64{s.blocker} }},
		"ArchivedBlockedByGone": {plant: func(s *scene) {
			s.archiveBlock()
			s.loseSegment(s.blocked, list.BlockedBy)
		}, kinds: "block column", truth: true, about: func(s *scene) []uint64 { return []uint64{s.blocker, s.blocked} }},
		"ArchivedBlockOfUnknown": {plant: func(s *scene) {
			s.archiveBlock()
			s.overwriteOwn(s.blocker, s.blocked, 1<<31)
		}, kinds: "block column unknown", rebuild: true, truth: true},
		"ArchivedRequestGone": {plant: func(s *scene) {
			s.trim(s.asker, 0)
			s.trim(s.locked, 0)
			s.truth = s.graph()
			s.loseSegment(s.asker, list.Requested)
		}, kinds: "column", truth: true},
		"ArchivedOfNewerPlace": {plant: func(s *scene) {
			s.exec(`UPDATE relation_own SET latest = latest + 1000000, mine = mine + 1000000 WHERE bucket = ? AND account_id = ?`, repo.Bucket(s.fans[4]), s.fans[4])
		}, kinds: "column time time"},
		"SegmentGoneAndDouble": {plant: func(s *scene) {
			s.exec(`DELETE FROM relation_archive WHERE bucket = ? AND account_id = ? AND section = 1`, star(s)...)
			s.tangle(s.fans[2], s.fans[3], s.fans[7])
		}, kinds: "count double" + strings.Repeat(" edge", 14), truth: true},
		"SegmentGoneAndCutList": {plant: func(s *scene) {
			s.loseSegment(s.fans[4], list.Following)
			s.rewriteList(s.fans[20], func(b []byte) []byte { return b[:6] })
		}, kinds: "bytes count", truth: true},
		"ListSwappedForOlder": {plant: func(s *scene) {
			old := s.row(s.fans[7]).List
			s.follow(s.fans[7], s.b)
			s.truth = s.graph()
			s.rewriteList(s.fans[7], func([]byte) []byte { return old })
		}, kinds: "column count", truth: true},
		"UnknownWithRow": {plant: func(s *scene) {
			s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(none, 77) })
			s.plant(none, func(d *relation.Draft) { d.AddFollower(s.a, 77) })
		}, kinds: "unknown unknown", truth: true},
		"UnknownWithOtherRow": {plant: func(s *scene) {
			s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(none, 77) })
			s.plant(none, func(d *relation.Draft) { d.AddFollowing(s.a, 77); d.AddFollower(s.b, 8); d.Put(list.Muting, s.a, 7) })
		}, kinds: "unknown unknown", truth: true},
		"TwoUnknown": {plant: func(s *scene) {
			s.plant(none, func(d *relation.Draft) { d.AddFollowing(none+1, 77) })
			s.plant(none+1, func(d *relation.Draft) { d.AddFollower(none, 77) })
		}, kinds: "unknown unknown", truth: true},
		"AccountGone":                   {plant: func(s *scene) { s.vanish(s.fans[9]) }, kinds: "unknown unknown unknown unknown unknown unknown"},
		"AccountGoneOfArchive":          {plant: func(s *scene) { s.vanish(s.fans[4]) }, kinds: "unknown unknown unknown unknown unknown unknown"},
		"AccountGoneAndRow":             {plant: func(s *scene) { s.vanish(s.fans[9]); s.dropRow(s.fans[9]) }, kinds: "unknown unknown unknown unknown unknown"},
		"AccountGoneAndRowButNoArchive": {plant: func(s *scene) { s.vanish(s.fans[4]); s.dropRow(s.fans[4]) }, kinds: "unknown unknown unknown unknown unknown unknown"},
		"AccountGoneAndListCut": {plant: func(s *scene) {
			s.vanish(s.fans[9])
			s.rewriteList(s.fans[9], func(b []byte) []byte { return b[:6] })
		}, kinds: "unknown unknown unknown unknown unknown unknown"},
		"Disorder": {plant: func(s *scene) {
			for _, f := range []uint64{s.a, s.b} {
				s.plant(f, func(d *relation.Draft) { d.AddFollowing(s.locked, 7) })
				s.plant(s.locked, func(d *relation.Draft) { d.AddFollower(f, 7) })
			}
			s.truth = s.graph()
			s.rewriteList(s.locked, func(b []byte) []byte { return exchange(b, s.a, s.b) })
		}, truth: true, kinds: "bytes", want: func(s *scene) []want { return []want{{s.a, s.locked, follows}, {s.b, s.locked, follows}} }},
		"CutList": {plant: func(s *scene) { s.rewriteList(s.star, func(b []byte) []byte { return b[:len(b)/2] }) },
			truth: true, kinds: "bytes", about: func(s *scene) []uint64 { return []uint64{s.star} }, note: "its options and notes are lost",
			want: func(s *scene) []want {
				return []want{{s.fans[0], s.star, friend}, {s.fans[1], s.star, friend}, {s.oldFan(), s.star, follows}, {s.fans[20], s.star, follows}}
			}},
		"CutListOfBlocker": {plant: func(s *scene) { s.rewriteList(s.blocker, func([]byte) []byte { return []byte{} }) },
			truth: true, kinds: "bytes", want: func(s *scene) []want { return []want{{s.blocker, s.blocked, list.IsBlocking}} }},
		"CutListOfAsker": {plant: func(s *scene) { s.rewriteList(s.asker, func(b []byte) []byte { return b[:3] }) },
			truth: true, kinds: "bytes", want: func(s *scene) []want { return []want{{s.asker, s.locked, list.IsRequested}} }},
		"TwoCutLists": {plant: func(s *scene) {
			s.rewriteList(s.star, func(b []byte) []byte { return b[:5] })
			s.rewriteList(s.fans[10], func(b []byte) []byte { return append(b, 0) })
		}, kinds: "bytes bytes", want: func(s *scene) []want {
			return []want{{s.fans[0], s.star, friend}, {s.fans[10], s.fans[11], follows}}
		}},
		"BadColumnOfList": {plant: func(s *scene) { s.rewriteList(s.fans[0], func(b []byte) []byte { b[len(b)-1] |= 0x80; return b }) }, truth: true, kinds: "bytes",
			want: func(s *scene) []want { return []want{{s.fans[0], s.star, friend}, {s.fans[0], s.fans[5], follows}} }},
		"SegmentN":       {plant: segment(`n = n + 1`), truth: true, kinds: "segment", about: func(s *scene) []uint64 { return []uint64{s.star} }},
		"SegmentNewest":  {plant: segment(`newest_at = newest_at - 1`), truth: true, kinds: "segment"},
		"SegmentOldest":  {plant: segment(`oldest_id = oldest_id + 1`), truth: true, kinds: "segment"},
		"SegmentSection": {plant: segment(`section = 2`), truth: true, kinds: "segment"},
		"SegmentNewer":   {plant: segment(`seq = seq + 102400`), truth: true, kinds: "segment"},
		"SegmentCut": {plant: segment(`list = LEFT(list, 20)`), truth: true, kinds: "bytes", about: func(s *scene) []uint64 { return []uint64{s.star} },
			want: func(s *scene) []want { return []want{{s.oldFan(), s.star, follows}} }},
		"SegmentTwice": {plant: func(s *scene) {
			s.exec(`INSERT INTO relation_archive (bucket, account_id, section, seq, newest_at, newest_id, oldest_at, oldest_id, n, ver, list) SELECT bucket, account_id, section, seq + 1, newest_at, newest_id, oldest_at, oldest_id, n, ver, list FROM relation_archive WHERE bucket = ? AND account_id = ? AND section = 1`, star(s)...)
		}, truth: true, kinds: strings.Repeat("double ", 14) + "double", want: func(s *scene) []want { return []want{{s.oldFan(), s.star, follows}} }},
		"RowAndArchive": {plant: func(s *scene) { s.plant(s.star, func(d *relation.Draft) { d.AddFollower(s.oldFan(), 5000) }) },
			truth: true, kinds: "double", about: func(s *scene) []uint64 { return []uint64{s.star, s.oldFan()} },
			want: func(s *scene) []want { return []want{{s.oldFan(), s.star, follows}} }},
		"RowAndArchiveApart": {plant: func(s *scene) { s.plant(s.star, func(d *relation.Draft) { d.AddFollowing(s.oldFan(), 5000) }) },
			truth: true, kinds: "double", want: func(s *scene) []want { return []want{{s.oldFan(), s.star, follows}} }},
		"RowGoneWithArchive": {plant: func(s *scene) { s.exec(`DELETE FROM relation WHERE bucket = ? AND account_id = ?`, star(s)...) },
			truth: true, kinds: "row", want: func(s *scene) []want { return []want{{s.oldFan(), s.star, follows}, {s.fans[0], s.star, friend}} }},
		"RowGone": {plant: func(s *scene) {
			s.exec(`DELETE FROM relation WHERE bucket = ? AND account_id = ?`, repo.Bucket(s.fans[9]), s.fans[9])
		}, truth: true, kinds: "row", rebuild: true, want: func(s *scene) []want { return []want{{s.fans[9], s.star, follows}, {s.fans[9], s.fans[10], follows}} }},
		"HalfBlockBlocker": {plant: func(s *scene) { s.plant(s.a, func(d *relation.Draft) { d.Put(list.Blocking, s.b, 9) }) }, kinds: "block",
			about: func(s *scene) []uint64 { return []uint64{s.a, s.b} },
			want:  func(s *scene) []want { return []want{{s.a, s.b, list.IsBlocking}, {s.b, s.a, list.IsBlockedBy}} }},
		"RowLostThenWritten": {plant: func(s *scene) {
			s.follow(s.a, s.fans[9])
			s.truth = s.graph()
			s.exec(`DELETE FROM relation WHERE bucket = ? AND account_id = ?`, repo.Bucket(s.fans[9]), s.fans[9])
			s.plant(s.fans[9], func(d *relation.Draft) { d.AddFollower(s.a, uint32(s.now.Unix())) })
		}, truth: true, kinds: "row", rebuild: true},
		"Phantom": {plant: func(s *scene) {
			s.exec(`UPDATE relation SET updated_at = 0, ver = ver + 1 WHERE bucket = ? AND account_id = ?`, repo.Bucket(s.fans[9]), s.fans[9])
		}, truth: true, kinds: "row", rebuild: true},
		"HalfBlockBlocked": {plant: func(s *scene) { s.plant(s.a, func(d *relation.Draft) { d.Put(list.BlockedBy, s.b, 9) }) }, kinds: "block",
			want: func(s *scene) []want { return []want{{s.a, s.b, nothing}} }},
		"HalfBlockOfFriend": {plant: func(s *scene) { s.plant(s.star, func(d *relation.Draft) { d.Put(list.Blocking, s.fans[0], 9) }) }, kinds: "block conflict",
			want: func(s *scene) []want {
				return []want{{s.star, s.fans[0], list.IsBlocking}, {s.fans[0], s.star, list.IsBlockedBy}}
			}},
		"HalfRequestAsker": {plant: func(s *scene) { s.plant(s.a, func(d *relation.Draft) { d.Put(list.Requested, s.b, 9) }) }, kinds: "request",
			want: func(s *scene) []want { return []want{{s.a, s.b, list.IsRequested}, {s.b, s.a, list.HasRequest}} }},
		"HalfRequestAsked": {plant: func(s *scene) { s.plant(s.a, func(d *relation.Draft) { d.Put(list.Requests, s.b, 9) }) }, kinds: "request",
			want: func(s *scene) []want { return []want{{s.a, s.b, nothing}} }},
		"RequestOfFollower": {plant: func(s *scene) {
			s.plant(s.fans[0], func(d *relation.Draft) { d.Put(list.Requested, s.star, 9) })
			s.plant(s.star, func(d *relation.Draft) { d.Put(list.Requests, s.fans[0], 9) })
		}, kinds: "conflict", want: func(s *scene) []want { return []want{{s.fans[0], s.star, friend}} }},
		"ManyAtOnce": {plant: func(s *scene) {
			s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(s.b, 77); d.Put(list.Requests, s.fans[2], 3) })
			s.plant(s.fans[3], func(d *relation.Draft) { d.DropFollowing(s.star) })
			columns(`followers = 1, blocks = 3`)(s)
			segment(`n = 1`)(s)
			s.rewriteList(s.fans[12], func(b []byte) []byte { return b[:6] })
		}, kinds: "bytes column count edge edge request segment"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			before := s.dump()
			s.truth = s.graph()
			tt.plant(s)
			planted := s.dump()
			if planted == before {
				t.Fatal("nothing was planted")
			}
			sum, faults := s.audit(false)
			t.Logf("%+v", sum)
			if got := kinds(faults); got != tt.kinds {
				t.Errorf("got faults %q, want %q:\n%v", got, tt.kinds, faults)
			}
			if tt.about != nil {
				wantAbout(t, faults, tt.about(s))
			}
			if s.dump() != planted {
				t.Error("a report changed the tables")
			}
			if sum.Remain() == 0 {
				t.Error("got that no fault remains")
			}
			sum, faults = s.audit(true)
			if tt.rebuild {
				s.rebuildReported(faults)
				sum, faults = s.audit(true)
			}
			if sum.Remain() != 0 {
				t.Errorf("got %d faults left after a repair: %v", sum.Remain(), faults)
			}
			if tt.note != "" && !strings.Contains(faults[0].String(), tt.note) {
				t.Errorf("got %q, want a note %q", faults[0], tt.note)
			}
			s.clean()
			if got := s.graph(); tt.truth && got != s.truth {
				t.Errorf("got after the repair, and not before:\n%s\nbefore, and not after:\n%s", without(got, s.truth), without(s.truth, got))
			}
			if got := s.lone(); got != 0 {
				t.Errorf("got %d entries in rows of accounts that do not exist", got)
			}
			if tt.want != nil {
				for _, w := range tt.want(s) {
					if got := s.is(w.a, w.b); got != w.rel {
						t.Errorf("%d is to %d %b, want %b", w.b, w.a, got, w.rel)
					}
				}
			}
		})
	}
}

// A ver that has no room for steps is reported with what to do by hand, of an account with
// an archive and of one without.
func TestRun_VerPastTheEnd(t *testing.T) {
	s := newScene(t)
	for _, id := range []uint64{s.star, s.a} {
		set := func(ver uint64) {
			s.exec(`UPDATE relation SET ver = ? WHERE bucket = ? AND account_id = ?`, ver, repo.Bucket(id), id)
		}
		set(math.MaxUint64)
		if sum, faults := s.audit(true); sum.Remain() != 1 || kinds(faults) != "row" || !strings.Contains(faults[0].String(), "set ver to 4611686018427387903") {
			t.Errorf("got %v, want one fault, with what to do", faults)
		}
		set(4611686018427387903)
		s.clean()
		s.follow(id, s.b)
	}
}

// rebuildReported does what the faults that a repair left say: kith audit --rebuild.
func (w *world) rebuildReported(faults []audit.Fault) {
	w.Helper()
	ids := map[uint64]bool{}
	for _, f := range faults {
		if f.Rebuild != 0 {
			ids[f.Rebuild] = true
			if want := fmt.Sprintf("kith audit --rebuild=%d ", f.Rebuild); f.Repaired || !strings.Contains(f.String(), want) {
				w.Errorf("got %q, want that it is not repaired and how: %q", f, want)
			}
		}
	}
	if len(ids) == 0 {
		w.Errorf("got %v, want accounts to rebuild", faults)
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		cfg := w.config()
		cfg.Account, cfg.Rebuild = id, true
		if sum, _ := w.run(cfg); sum.Found == 0 || sum.Repaired > 0 {
			w.Errorf("a dry run of a rebuild of account %d: got %+v, want what there is to repair", id, sum)
		}
		cfg.Repair = true
		w.run(cfg)
	}
}

// overwrite replaces an id that stands in the list by another: bytes that only
// a fault makes.
func overwrite(b []byte, id, by uint64) []byte {
	var was, is [4]byte
	binary.BigEndian.PutUint32(was[:], uint32(id))
	binary.BigEndian.PutUint32(is[:], uint32(by))
	copy(b[strings.Index(string(b), string(was[:])):], is[:])
	return b
}

func exchange(b []byte, x, y uint64) []byte {
	return overwrite(overwrite(overwrite(b, x, 1<<31), y, x), 1<<31, y)
}

func kinds(faults []audit.Fault) string {
	var out []string
	for _, f := range faults {
		out = append(out, string(f.Kind))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// wantAbout wants that the faults name these accounts and no others.
func wantAbout(t *testing.T, faults []audit.Fault, want []uint64) {
	t.Helper()
	var got []uint64
	for _, f := range faults {
		got = append(got, f.Account)
		if f.Other != 0 {
			got = append(got, f.Other)
		}
	}
	slices.Sort(got)
	got = slices.Compact(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got faults about %v, want %v", got, want)
	}
}

// Random graphs with archives are clean at every step.
func TestRun_Random(t *testing.T) {
	w := newWorld(t, 0)
	p := w.people(40)
	r := rand.New(rand.NewPCG(1, 2))
	for step := range 900 {
		a, b := p[r.IntN(len(p))], p[r.IntN(6)]
		if r.IntN(2) == 0 {
			a, b = b, a
		}
		if a == b {
			continue
		}
		w.now = w.now.Add(time.Second)
		switch r.IntN(12) {
		case 0:
			w.must(w.Block(t.Context(), a, b))
		case 1:
			w.must(w.Unblock(t.Context(), a, b))
		case 2, 3:
			w.must(w.Unfollow(t.Context(), a, b))
		case 4:
			if _, err := w.accounts.SetLocked(t.Context(), b, r.IntN(3) > 0); err != nil {
				t.Fatal(err)
			}
		case 5:
			if _, err := w.rows.Trim(t.Context(), b, 3+r.IntN(4)); err != nil {
				t.Fatal(err)
			}
		default:
			_, _ = w.Follow(t.Context(), a, b, app.FollowOptions{}) // a refusal where one blocks
		}
		if step%300 == 299 {
			sum := w.clean()
			if sum.Archives == 0 || sum.Segments == 0 || sum.Edges == 0 || sum.Blocks == 0 || sum.Requests == 0 || sum.Passes != 1 {
				t.Errorf("got %+v, want some of everything, in one pass", sum)
			}
		}
	}
}
