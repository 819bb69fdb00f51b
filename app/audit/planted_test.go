package audit_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/app/audit"
	app "kith/app/relation"
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
}

func newScene(t *testing.T) *scene {
	w := newWorld(t, 0)
	p := w.people(30)
	s := &scene{world: w, star: p[0], a: p[1], b: p[2], blocker: p[3], blocked: p[4], asker: p[5], locked: p[6], fans: p[8:]}
	for i, f := range s.fans {
		w.follow(f, s.star)
		w.follow(f, s.fans[(i+1)%len(s.fans)])
		w.follow(f, s.fans[(i+5)%len(s.fans)])
	}
	w.follow(s.star, s.fans[0])
	w.follow(s.star, s.fans[1])
	for _, id := range []uint64{s.a, s.b} {
		w.must(w.Mute(t.Context(), id, s.fans[3], true, time.Hour))
	}
	w.must(w.Block(t.Context(), s.blocker, s.blocked))
	if _, err := w.accounts.SetLocked(t.Context(), s.locked, true); err != nil {
		t.Fatal(err)
	}
	w.follow(s.asker, s.locked)
	w.must(w.SetNote(t.Context(), s.star, s.fans[0], "an old friend"))
	w.trim(s.star, 5)
	w.trim(s.fans[4], 1)
	w.clean()
	return s
}

func (w *world) trim(id uint64, limit int) {
	w.Helper()
	if done, err := w.edits.Trim(w.Context(), id, limit); err != nil || done.Entries == 0 {
		w.Fatalf("trim %d: %+v, %v", id, done, err)
	}
}

// oldFan is a follower of star who stands in the archive.
func (s *scene) oldFan() uint64 { return s.fans[2] }

// is returns what b is to a.
func (s *scene) is(a, b uint64) list.Rel {
	s.Helper()
	rels, _, err := s.rows.Rels(s.Context(), a, []uint64{b})
	if err != nil {
		s.Fatal(err)
	}
	return rels[0] &^ list.HasOption
}

const (
	friend  = list.IsFollowing | list.IsFollower
	follows = list.IsFollowing
	nothing = list.Rel(0)
)

// A planted fault is found, named with its accounts, left alone by a report, and
// mended by a repair.
func TestRun_Planted(t *testing.T) {
	type want struct {
		a, b uint64
		rel  list.Rel
	}
	star := func(s *scene) []any { return []any{relation.Bucket(s.star), s.star} }
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
		"Counts":       {plant: columns(`friends = friends + 1, followers = followers - 3, following = 0`), kinds: "count", about: func(s *scene) []uint64 { return []uint64{s.star} }},
		"CountsTooBig": {plant: columns(`followers = 4000000000`), kinds: "count"},
		"CountsWithoutArchive": {plant: func(s *scene) {
			s.exec(`UPDATE relation SET followers = followers + 1 WHERE bucket = ? AND account_id = ?`, relation.Bucket(s.fans[0]), s.fans[0])
		}, kinds: "count"},
		"KeptFollowers": {plant: columns(`kept_followers = 0`), kinds: "column", about: func(s *scene) []uint64 { return []uint64{s.star} }},
		"KeptFollowing": {plant: columns(`kept_following = 9`), kinds: "column"},
		"Blocks":        {plant: columns(`blocks = 7`), kinds: "column"},
		"ArchivedAt":    {plant: columns(`archived_at = archived_at - 1`), kinds: "column", about: func(s *scene) []uint64 { return []uint64{s.star} }},
		"DoubleId": {plant: func(s *scene) {
			s.rewriteList(s.star, func(b []byte) []byte { return overwrite(b, s.fans[len(s.fans)-1], s.fans[len(s.fans)-2]) })
		}, kinds: "double edge", about: func(s *scene) []uint64 { return []uint64{s.star, s.fans[len(s.fans)-1]} },
			want: func(s *scene) []want {
				return []want{{s.fans[len(s.fans)-1], s.star, follows}, {s.fans[len(s.fans)-2], s.star, follows}}
			}},
		"FriendStandsTwice": {plant: func(s *scene) {
			s.rewriteList(s.star, func(b []byte) []byte { return overwrite(b, s.fans[len(s.fans)-1], s.fans[0]) })
		}, kinds: "double edge", want: func(s *scene) []want {
			return []want{{s.fans[len(s.fans)-1], s.star, follows}, {s.fans[0], s.star, friend}}
		}},
		"Disorder": {plant: func(s *scene) {
			for _, f := range []uint64{s.a, s.b} {
				s.plant(f, func(d *relation.Draft) { d.AddFollowing(s.locked, 7) })
				s.plant(s.locked, func(d *relation.Draft) { d.AddFollower(f, 7) })
			}
			s.rewriteList(s.locked, func(b []byte) []byte { return exchange(b, s.a, s.b) })
		}, kinds: "bytes", want: func(s *scene) []want { return []want{{s.a, s.locked, follows}, {s.b, s.locked, follows}} }},
		"CutList": {plant: func(s *scene) { s.rewriteList(s.star, func(b []byte) []byte { return b[:len(b)/2] }) },
			kinds: "bytes", about: func(s *scene) []uint64 { return []uint64{s.star} }, note: "its options and notes are lost",
			want: func(s *scene) []want {
				return []want{{s.fans[0], s.star, friend}, {s.fans[1], s.star, friend}, {s.oldFan(), s.star, follows}, {s.fans[20], s.star, follows}}
			}},
		"CutListOfBlocker": {plant: func(s *scene) { s.rewriteList(s.blocker, func([]byte) []byte { return []byte{} }) },
			kinds: "bytes", want: func(s *scene) []want { return []want{{s.blocker, s.blocked, list.IsBlocking}} }},
		"CutListOfAsker": {plant: func(s *scene) { s.rewriteList(s.asker, func(b []byte) []byte { return b[:3] }) },
			kinds: "bytes", want: func(s *scene) []want { return []want{{s.asker, s.locked, list.IsRequested}} }},
		"TwoCutLists": {plant: func(s *scene) {
			s.rewriteList(s.star, func(b []byte) []byte { return b[:5] })
			s.rewriteList(s.fans[10], func(b []byte) []byte { return append(b, 0) })
		}, kinds: "bytes bytes", want: func(s *scene) []want {
			return []want{{s.fans[0], s.star, friend}, {s.fans[10], s.fans[11], follows}}
		}},
		"BadColumnOfList": {plant: func(s *scene) { s.rewriteList(s.fans[0], func(b []byte) []byte { b[len(b)-1] |= 0x80; return b }) }, kinds: "bytes",
			want: func(s *scene) []want { return []want{{s.fans[0], s.star, friend}, {s.fans[0], s.fans[5], follows}} }},
		"SegmentN":        {plant: segment(`n = n + 1`), kinds: "segment", about: func(s *scene) []uint64 { return []uint64{s.star} }},
		"SegmentNewest":   {plant: segment(`newest_at = newest_at - 1`), kinds: "segment"},
		"SegmentOldest":   {plant: segment(`oldest_id = oldest_id + 1`), kinds: "segment"},
		"SegmentEarliest": {plant: segment(`earliest_at = 0`), kinds: "segment"},
		"SegmentSection":  {plant: segment(`section = 2`), kinds: "segment"},
		"SegmentNewer":    {plant: segment(`seq = seq + 102400`), kinds: "segment"},
		"SegmentCut": {plant: segment(`list = LEFT(list, 20)`), kinds: "bytes", about: func(s *scene) []uint64 { return []uint64{s.star} },
			want: func(s *scene) []want { return []want{{s.oldFan(), s.star, follows}} }},
		"SegmentTwice": {plant: func(s *scene) {
			s.exec(`INSERT INTO relation_archive (bucket, account_id, section, seq, newest_at, newest_id, oldest_at, oldest_id, earliest_at, n, ver, list) SELECT bucket, account_id, section, seq + 1, newest_at, newest_id, oldest_at, oldest_id, earliest_at, n, ver, list FROM relation_archive WHERE bucket = ? AND account_id = ? AND section = 1`, star(s)...)
		}, kinds: strings.Repeat("double ", 14) + "double", want: func(s *scene) []want { return []want{{s.oldFan(), s.star, follows}} }},
		"RowAndArchive": {plant: func(s *scene) { s.plant(s.star, func(d *relation.Draft) { d.AddFollower(s.oldFan(), 5000) }) },
			kinds: "double", about: func(s *scene) []uint64 { return []uint64{s.star, s.oldFan()} },
			want: func(s *scene) []want { return []want{{s.oldFan(), s.star, follows}} }},
		"RowAndArchiveApart": {plant: func(s *scene) { s.plant(s.star, func(d *relation.Draft) { d.AddFollowing(s.oldFan(), 5000) }) },
			kinds: "double", want: func(s *scene) []want { return []want{{s.oldFan(), s.star, friend}} }},
		"RowGoneWithArchive": {plant: func(s *scene) { s.exec(`DELETE FROM relation WHERE bucket = ? AND account_id = ?`, star(s)...) },
			kinds: "row", want: func(s *scene) []want { return []want{{s.oldFan(), s.star, follows}, {s.fans[0], s.star, friend}} }},
		"RowGone": {plant: func(s *scene) {
			s.exec(`DELETE FROM relation WHERE bucket = ? AND account_id = ?`, relation.Bucket(s.fans[9]), s.fans[9])
		}, kinds: "row", want: func(s *scene) []want { return []want{{s.fans[9], s.star, follows}, {s.fans[9], s.fans[10], follows}} }},
		"HalfBlockBlocker": {plant: func(s *scene) { s.plant(s.a, func(d *relation.Draft) { d.Put(list.Blocking, s.b, 9) }) }, kinds: "block",
			about: func(s *scene) []uint64 { return []uint64{s.a, s.b} },
			want:  func(s *scene) []want { return []want{{s.a, s.b, list.IsBlocking}, {s.b, s.a, list.IsBlockedBy}} }},
		"HalfBlockBlocked": {plant: func(s *scene) { s.plant(s.a, func(d *relation.Draft) { d.Put(list.BlockedBy, s.b, 9) }) }, kinds: "block",
			want: func(s *scene) []want { return []want{{s.a, s.b, nothing}} }},
		"HalfBlockOfFriend": {plant: func(s *scene) { s.plant(s.star, func(d *relation.Draft) { d.Put(list.Blocking, s.fans[0], 9) }) }, kinds: "beside block",
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
		}, kinds: "beside", want: func(s *scene) []want { return []want{{s.fans[0], s.star, friend}} }},
		"ManyAtOnce": {plant: func(s *scene) {
			s.plant(s.a, func(d *relation.Draft) { d.AddFollowing(s.b, 77); d.Put(list.Requests, s.fans[2], 3) })
			s.plant(s.fans[3], func(d *relation.Draft) { d.DropFollowing(s.star) })
			columns(`followers = 1, blocks = 3`)(s)
			segment(`n = 1`)(s)
			s.rewriteList(s.fans[12], func(b []byte) []byte { return b[:9] })
		}, kinds: "bytes column count edge edge request segment"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			before := s.dump()
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
			if sum.Remain() != 0 {
				t.Errorf("got %d faults left after a repair: %v", sum.Remain(), faults)
			}
			if tt.note != "" && !strings.Contains(faults[0].String(), tt.note) {
				t.Errorf("got %q, want a note %q", faults[0], tt.note)
			}
			s.clean()
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

// dump is everything that stands in the tables.
func (w *world) dump() string {
	w.Helper()
	var out []string
	for _, query := range []string{
		`SELECT CONCAT_WS(' ', account_id, ver, HEX(list), friends, followers, following, kept_followers, kept_following, blocks, archived_at) FROM relation ORDER BY bucket, account_id`,
		`SELECT CONCAT_WS(' ', account_id, section, seq, newest_at, newest_id, oldest_at, oldest_id, earliest_at, n, ver, HEX(list)) FROM relation_archive ORDER BY bucket, account_id, section, seq`,
	} {
		var lines []string
		if err := w.small.SelectContext(w.Context(), &lines, query); err != nil {
			w.Fatal(err)
		}
		out = append(out, lines...)
	}
	return strings.Join(out, "\n")
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
			if _, err := w.edits.Trim(t.Context(), b, 3+r.IntN(4)); err != nil {
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
