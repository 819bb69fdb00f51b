package sql_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kith/repo"
	"kith/repo/list"
	"kith/repo/relation"
)

// line is a decoded entry as decode.sql shows it.
type line struct{ Section, Place, ID, Mine, Theirs string }

// entries decodes a list with the codec.
func (p *plant) entries(v list.View) []line {
	p.t.Helper()
	out := []line{}
	for s := list.Friends; s <= list.Options; s++ {
		position := 0
		err := v.Each(s, func(id uint64, mine, theirs uint32) bool {
			position++
			out = append(out, line{s.String(), text(position), text(id), utc(mine), utc(theirs)})
			return true
		})
		if err != nil {
			p.t.Fatal(err)
		}
	}
	return out
}

func utc(at uint32) string {
	if at == 0 {
		return null
	}
	return time.Unix(int64(at), 0).UTC().Format(time.DateTime)
}

func decoded(t table) []line {
	out := []line{}
	for _, r := range t {
		out = append(out, line{r["section"], r["position"], r["id"], r["mine_utc"], r["theirs_utc"]})
	}
	return out
}

func (p *plant) decode(t *testing.T) {
	all := append(slices.Clone(p.ids[:100]), p.narrow, p.wide, crowned, straddling, 6001, 7, untimed, untimed+1, untimed+2, untimed+3, p.ids[len(p.ids)-1])
	widths, countWidths := map[string]int{}, map[byte]int{}
	for _, id := range all {
		r := p.row(id)
		got := run(t, usual(), p.dsn, "decode.sql", map[string]string{"account": text(id)})
		if r.Ver == 0 {
			if len(got) == 0 || len(got[0]) != 1 || !strings.HasPrefix(got[0][0]["missing"], "No row: account "+text(id)) {
				t.Errorf("account %d has no row, but decodes to %v", id, got)
			}
			continue
		}
		head := got[0][0]
		widths[head["id_width"]]++
		countWidths[r.List[1]>>4]++
		same(t, "header", []string{head["account_id"], head["ver"], head["bytes"], head["format"]}, []string{text(id), text(r.Ver), text(len(r.List)), "3"})
		same(t, "row of "+text(id), decoded(got[3]), p.entries(p.view(r.List)))
		segments, own := p.archive(id)
		same(t, "what is archived of "+text(id), archived(got[1]), p.sections(r, segments, own))
		same(t, "segments of "+text(id), len(got[2]), len(segments))
	}
	if widths["4"] < 10 || widths["8"] < 10 {
		t.Errorf("rows by width: %v, want many of both", widths)
	}
	if countWidths[1] < 10 || countWidths[2] == 0 {
		t.Errorf("rows by count width: %v, want some of both", countWidths)
	}
	p.decodeArchive(t)
	p.decodeBad(t)
	p.decodeLong(t)
}

// sectionLine is what decode.sql says of an archived section.
type sectionLine struct{ Section, Name, RowSays, Entries, Segments, Newest string }

func archived(t table) []sectionLine {
	out := []sectionLine{}
	for _, r := range t {
		out = append(out, sectionLine{r["section"], r["name"], r["row_says"], r["entries"], r["segments"], r["newest_utc"]})
	}
	return out
}

// sections are the lines that there must be. What the row says of the newest entry is
// exact in the plant.
func (p *plant) sections(r relation.Row, segments []relation.Segment, own list.View) []sectionLine {
	says, err := r.Archive()
	if err != nil {
		p.t.Fatal(err)
	}
	out := []sectionLine{}
	for s := list.Friends; s <= list.Options; s++ {
		entries, count, newest := own.Len(s), 0, uint32(0)
		_ = own.Each(s, func(_ uint64, mine, theirs uint32) bool { newest = max(mine, theirs); return false })
		for _, g := range segments {
			if g.Section == s {
				entries, count, newest = entries+int(g.N), count+1, max(newest, g.NewestAt)
			}
		}
		if entries > 0 {
			out = append(out, sectionLine{text(uint8(s)), s.String(), text(says.Len(s)), text(entries), text(count), utc(newest)})
		}
	}
	return out
}

// decodeLong: counts of 4 bytes.
func (p *plant) decodeLong(t *testing.T) {
	l := list.New()
	edges := make([]list.Edge, 1<<16)
	for i := range edges {
		edges[i] = list.Edge{ID: uint64(i + 1), Time: uint32(start + i)}
	}
	l.Merge(edges)
	l.AddFollowing(1<<17, start)
	b, err := l.Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.setList(p.ids[0], b)()
	got := run(t, usual(), p.dsn, "decode.sql", map[string]string{"account": text(p.ids[0])})
	same(t, "a long list", decoded(got[3]), p.entries(p.view(b)))
	edge := run(t, usual(), p.dsn, "edge.sql", map[string]string{"follower": text(1 << 17), "followee": text(p.ids[0])})[0]
	same(t, "an edge of a long list", column(edge, "at_to"), []string{"-", "-"})
	same(t, "the other way", column(edge, "at_from"), []string{"-", "row: following"})
}

// setList stores a list as it is, and returns what puts the old one back.
func (p *plant) setList(id uint64, b []byte) (back func()) {
	was := p.row(id).List
	set := func(b []byte) {
		p.exec(`UPDATE relation SET list = ? WHERE bucket = ? AND account_id = ?`, b, repo.Bucket(id), id)
	}
	set(b)
	return func() { set(was) }
}

// decodeBad: of a list that cannot be read nothing is shown but its row, and why.
func (p *plant) decodeBad(t *testing.T) {
	was := p.row(p.ids[0]).List
	for _, b := range [][]byte{
		{}, was[:3], was[:4], {7, 7, 7, 7, 7},
		{1, 4, 0, 2, 0, 0, 0, 1, 0, 0, 0, 7, 1, 9}, // version 1
		append([]byte{2}, was[1:]...),
		append([]byte{3, 0x34}, was[2:]...), append([]byte{3, 0x04}, was[2:]...), append([]byte{3, 0x15}, was[2:]...), append([]byte{3, 0xf4}, was[2:]...),
	} {
		back := p.setList(p.ids[0], b)
		got := run(t, usual(), p.dsn, "decode.sql", map[string]string{"account": text(p.ids[0])})
		if !strings.HasPrefix(got[0][0]["missing"], "The list cannot be read") || len(got) < 2 || got[1][0]["account_id"] != text(p.ids[0]) || !empty(got[2:]) {
			t.Errorf("%v: got %v, want a remark and the row", b, got)
		}
		back()
	}
}

func empty(results []table) bool {
	return !slices.ContainsFunc(results, func(t table) bool { return len(t) > 0 })
}

// decodeArchive: every segment, and every section of what an account did itself.
func (p *plant) decodeArchive(t *testing.T) {
	n := map[list.Section]int{}
	for _, id := range []uint64{p.narrow, p.wide, crowned} {
		segments, own := p.archive(id)
		for _, g := range segments {
			n[g.Section]++
			got := run(t, usual(), p.dsn, "decode.sql", map[string]string{"account": text(id), "section": text(uint8(g.Section)), "seq": text(g.Seq)})
			same(t, "segment of "+text(id), decoded(got[3]), p.entries(p.view(g.List)))
		}
		all := p.entries(own)
		for s := list.Friends; s <= list.Options; s++ {
			want := slices.DeleteFunc(slices.Clone(all), func(l line) bool { return l.Section != s.String() })
			if len(want) == 0 {
				continue
			}
			n[s]++
			got := run(t, usual(), p.dsn, "decode.sql", map[string]string{"account": text(id), "section": text(uint8(s))})
			same(t, "archived "+s.String()+" of "+text(id), decoded(got[3]), want)
		}
	}
	for s := list.Friends; s <= list.Options; s++ {
		if n[s] < 2 {
			t.Errorf("%s lies in %d archives, want 2 at least", s, n[s])
		}
	}
	if n[list.Followers] < 5 {
		t.Errorf("%d segments of followers, want several of one account", n[list.Followers])
	}
}
