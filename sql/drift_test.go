package sql_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"kith/repo/list"
	"kith/repo/relation"
)

// What count_drift.sql shows, by place of the result.
const (
	checked = iota
	wrongRows
	wrongArchived
	wrongSegments
	wrongOwn
)

func (p *plant) drift(t *testing.T) []table {
	t.Helper()
	return run(t, usual(), p.dsn, "count_drift.sql", map[string]string{"buckets": "1024"})
}

// lengths are how many lines each result has, but the first.
func lengths(results []table) (n [4]int) {
	for i, r := range results[wrongRows:] {
		n[i] = len(r)
	}
	return n
}

func (p *plant) countDrift(t *testing.T) {
	got := p.drift(t)
	for _, n := range got[checked][0] {
		if n == "0" {
			t.Errorf("checked %v, want rows, segments and own entries", got[checked])
		}
	}
	if n := lengths(got); n != [4]int{} {
		t.Fatalf("faults in a sound graph: %v", got[wrongRows:])
	}
	p.driftRows(t)
	p.driftArchived(t)
	p.driftArchive(t)
}

// driftRows: columns of the row and its list.
func (p *plant) driftRows(t *testing.T) {
	star := p.row(p.narrow)
	where := ` WHERE bucket = ? AND account_id = ?`
	for _, c := range []struct{ sql, column, want string }{
		{`friends = friends + 1`, "friends", text(star.Friends+1) + " / " + text(star.Friends)},
		{`followers = followers - 1`, "followers", text(star.Followers-1) + " / " + text(star.Followers)},
		{`following = 0`, "following", "0 / " + text(star.Following)},
		{`kept_followers = 0`, "kept_followers", ""},
		{`kept_following = 0`, "kept_following", ""},
		{`blocks = 9`, "blocks", ""},
		{`list = INSERT(list, 1, 1, CHAR(7))`, "header", "bad"},
		{`list = INSERT(list, 1, 1, CHAR(1))`, "header", "bad"},
		{`list = INSERT(list, 1, 1, CHAR(2))`, "header", "bad"},
		{`list = INSERT(list, 2, 1, CHAR(0x34))`, "header", "bad"},
		{`list = INSERT(list, 2, 1, CHAR(0xf4))`, "header", "bad"},
		{`list = INSERT(list, 2, 1, CHAR(0x15))`, "header", "bad"},
		{`list = LEFT(list, 20)`, "header", "cut"},
		{`list = LEFT(list, 7)`, "account_id", text(p.narrow)},
		{`list = ''`, "header", "bad"},
	} {
		var kept [3]int
		row := p.pool.QueryRowContext(t.Context(), `SELECT kept_followers, kept_following, blocks FROM relation`+where, p.narrow&1023, p.narrow)
		if err := row.Scan(&kept[0], &kept[1], &kept[2]); err != nil {
			t.Fatal(err)
		}
		p.exec(`UPDATE relation SET `+c.sql+where, p.narrow&1023, p.narrow)
		got := p.drift(t)
		if rows := got[wrongRows]; len(rows) != 1 || rows[0]["account_id"] != text(p.narrow) || c.want != "" && rows[0][c.column] != c.want {
			t.Errorf("%s: got %v, want %s to be %q", c.sql, rows, c.column, c.want)
		}
		same(t, c.sql+": wrong rows, archived, segments, entries", lengths(got), [4]int{1, 0, 0, 0})
		p.exec(`UPDATE relation SET list = ?, friends = ?, followers = ?, following = ?, kept_followers = ?, kept_following = ?, blocks = ?`+where,
			star.List, star.Friends, star.Followers, star.Following, kept[0], kept[1], kept[2], p.narrow&1023, p.narrow)
	}
}

// numbers are what a column archived consists of: the stamp, and of each section
// itself, how many, and time and id of the newest.
func numbers(b []byte) (out []uint64) {
	for len(b) > 0 {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			panic("bad archived")
		}
		out, b = append(out, x), b[n:]
	}
	return out
}

func packed(numbers ...uint64) (b []byte) {
	for _, x := range numbers {
		b = binary.AppendUvarint(b, x)
	}
	return b
}

// driftArchived: what a row says of its archive.
func (p *plant) driftArchived(t *testing.T) {
	star := p.row(p.wide)
	is := numbers(star.Archived)
	if len(is) != 1+4*9 {
		t.Fatalf("archived has %d numbers, want those of all sections", len(is))
	}
	with := func(edit func(n []uint64)) []byte {
		n := slices.Clone(is)
		edit(n)
		return packed(n...)
	}
	group := func(s list.Section) int { return 1 + 4*int(s) }
	cut := packed(is[:group(list.Options)]...)
	all := []string{"friends", "followers", "following", "blocking", "blocked_by", "muting", "requests", "requested", "options"}
	for name, c := range map[string]struct {
		bytes []byte
		want  []string // sections
	}{
		"nothing said":           {nil, all},
		"another stamp":          {with(func(n []uint64) { n[0] = 1<<32 - 1 }), nil},
		"too many":               {with(func(n []uint64) { n[group(list.Muting)+1]++ }), []string{"muting"}},
		"too few":                {with(func(n []uint64) { n[group(list.BlockedBy)+1] -= 2 }), []string{"blocked_by"}},
		"an older time":          {with(func(n []uint64) { n[group(list.Followers)+2]-- }), []string{"followers"}},
		"a smaller id":           {with(func(n []uint64) { n[group(list.Friends)+3]-- }), []string{"friends"}},
		"a newer time":           {with(func(n []uint64) { n[group(list.Following)+2] += 1000; n[group(list.Following)+3] = 1 }), nil},
		"the largest id":         {with(func(n []uint64) { n[group(list.Requests)+3] = list.MaxID }), nil},
		"none of a section":      {slices.Concat(packed(is[:group(list.Muting)]...), packed(is[group(list.Requests):]...)), []string{"muting"}},
		"a section twice":        {slices.Concat(packed(is[:group(list.Muting)]...), packed(is[group(list.Blocking):]...)), []string{"blocking", "blocked_by"}},
		"a section there is not": {slices.Concat(star.Archived, packed(9, 1, 1, 1)), []string{"9"}},
		"cut in a number":        {cut[:len(cut)-1], []string{"requested", "options"}},
		"cut behind a number":    {packed(is[:len(is)-1]...), []string{"options"}},
		"numbers past all":       {packed(1, 1<<64-1, 1<<64-1, 1<<64-1, 1<<64-1), append(slices.Clone(all), text(uint64(1<<64-1)))},
		"a byte behind":          {append(slices.Clone(star.Archived), 0x80), []string{"?"}},
	} {
		set := func(b []byte) {
			p.exec(`UPDATE relation SET archived = ? WHERE bucket = ? AND account_id = ?`, append([]byte{}, b...), p.wide&1023, p.wide)
		}
		set(c.bytes)
		got := p.drift(t)
		same(t, name, column(got[wrongArchived], "section"), c.want)
		if shown := run(t, usual(), p.dsn, "decode.sql", map[string]string{"account": text(p.wide)}); len(shown) != 4 || len(shown[1]) < len(all) {
			t.Errorf("%s: decode.sql shows %d results, want 4 with what is archived", name, len(shown))
		}
		if len(got[wrongRows])+len(got[wrongSegments])+len(got[wrongOwn]) > 0 {
			t.Errorf("%s: got %v besides", name, got)
		}
		set(star.Archived)
	}
}

// driftArchive: headers of segments and entries of relation_own.
func (p *plant) driftArchive(t *testing.T) {
	segments, own := p.archive(p.narrow)
	h := segments[slices.IndexFunc(segments, func(g relation.Segment) bool { return g.Section == list.Followers })]
	friend, muted, option := newest(own, list.Friends), newest(own, list.Muting), newest(own, list.Options)
	set := func(table, set string, args ...any) func() {
		return func() {
			p.exec(`UPDATE `+table+` SET `+set+` WHERE bucket = ? AND account_id = ?`+map[string]string{`relation_archive`: ` AND section = ? AND seq = ?`, `relation_own`: ` AND other_id = ? AND section = ?`}[table],
				append([]any{p.narrow & 1023, p.narrow}, args...)...)
		}
	}
	segment := func(how string) func() { return set(`relation_archive`, how, h.Section, h.Seq) }
	for name, c := range map[string]struct {
		wrong, right func()
		want         [4]int // wrong rows, archived, segments, entries
	}{
		"n":                {segment(`n = n + 1`), segment(`n = n - 1`), [4]int{1, 1, 1, 0}},
		"newest_id":        {segment(`newest_id = newest_id - 1`), segment(`newest_id = newest_id + 1`), [4]int{0, 0, 1, 0}},
		"oldest_id":        {segment(`oldest_id = oldest_id + 1`), segment(`oldest_id = oldest_id - 1`), [4]int{0, 0, 1, 0}},
		"newest_at":        {segment(`newest_at = newest_at + 1`), segment(`newest_at = newest_at - 1`), [4]int{0, 1, 0, 0}},
		"section":          {segment(`section = 3`), set(`relation_archive`, `section = 1`, 3, h.Seq), [4]int{1, 2, 1, 0}},
		"a friend's times": {set(`relation_own`, `theirs = theirs + 100000000`, friend, 0), set(`relation_own`, `theirs = theirs - 100000000`, friend, 0), [4]int{0, 0, 0, 1}},
		"a newer friend":   {set(`relation_own`, `latest = latest + 1`, friend, 0), set(`relation_own`, `latest = latest - 1`, friend, 0), [4]int{0, 1, 0, 1}},
		"another section":  {set(`relation_own`, `section = 0`, muted, 5), set(`relation_own`, `section = 5`, muted, 0), [4]int{1, 2, 0, 0}},
		"one of others":    {set(`relation_own`, `section = 4`, muted, 5), set(`relation_own`, `section = 5`, muted, 4), [4]int{0, 2, 0, 1}},
		"a choice":         {set(`relation_own`, `choice = CHAR(2)`, muted, 5), set(`relation_own`, `choice = ''`, muted, 5), [4]int{0, 0, 0, 1}},
		"no choice":        {set(`relation_own`, `choice = ''`, option, 8), set(`relation_own`, `choice = CHAR(18)`, option, 8), [4]int{0, 0, 0, 1}},
		"an entry gone": {set(`relation_own`, `account_id = account_id + 1024`, muted, 5),
			func() {
				p.exec(`UPDATE relation_own SET account_id = ? WHERE bucket = ? AND account_id = ?`, p.narrow, p.narrow&1023, p.narrow+1024)
			}, [4]int{0, 2, 0, 0}},
	} {
		c.wrong()
		same(t, name+": wrong rows, archived, segments, entries", lengths(p.drift(t)), c.want)
		c.right()
	}
	if n := lengths(p.drift(t)); n != [4]int{} {
		t.Errorf("not all was put right: %v", n)
	}
}
