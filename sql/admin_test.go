package sql_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"kith/repo"
	"kith/repo/job"
	"kith/repo/lease"
	"kith/repo/list"
	"kith/repo/relation"
)

// scripts has a test for each script; grants.sql has a file of its own.
var scripts = map[string]func(p *plant, t *testing.T){
	"followers.sql":     (*plant).followers,
	"over_cap.sql":      (*plant).overCap,
	"row_sizes.sql":     (*plant).rowSizes,
	"hot_rows.sql":      (*plant).hotRows,
	"hot_growth.sql":    (*plant).hotGrowth,
	"decode.sql":        (*plant).decode,
	"edge.sql":          (*plant).edge,
	"count_drift.sql":   (*plant).countDrift,
	"archive_sizes.sql": (*plant).archiveSizes,
	"job_history.sql":   (*plant).jobHistory,
}

func TestAdmin(t *testing.T) {
	p := newPlant(t)
	for name, test := range scripts {
		t.Run(strings.TrimSuffix(name, ".sql"), func(t *testing.T) { test(p, t) })
	}
}

// required are what scripts cannot do without.
var required = map[string]map[string]string{
	"decode.sql":     {"account": "5000"},
	"edge.sql":       {"follower": "6000", "followee": "5000"},
	"hot_growth.sql": {"wait": "0.1"},
}

// TestAdmin_BothWays runs every script by the client and by the driver: what
// this package tests by one of them holds for the other.
func TestAdmin_BothWays(t *testing.T) {
	if _, ok := client(); !ok {
		t.Skip("no client is installed; the other tests go through the driver")
	}
	p := newPlant(t)
	for name := range scripts {
		if name == "hot_growth.sql" {
			continue // shows nothing while nobody writes
		}
		one := run(t, byClient, p.dsn, name, required[name])
		two := run(t, byDriver, p.dsn, name, required[name])
		if d := diff.Diff(one, two); d != "" {
			t.Errorf("%s: the driver's answer is not the client's (-client +driver):\n%s", name, d)
		}
		shown(t, name, one)
	}
}

// shown: the README has the output of a script as it is now.
func shown(t *testing.T, name string, out []table) {
	t.Helper()
	_, chapter, _ := strings.Cut(readme(t), "\n## `"+name+"`\n")
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	for _, result := range out {
		if len(result) == 0 {
			continue
		}
		for column := range result[0] {
			if !strings.Contains(chapter, " "+column+" ") {
				t.Errorf("README.md does not show column %s of %s", column, name)
			}
		}
	}
}

func readme(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// A script that lacks a parameter says how to give it, and nothing more.
func TestAdmin_Required(t *testing.T) {
	p := newPlant(t)
	for _, c := range []struct {
		script string
		vars   map[string]string
		want   string
	}{
		{"decode.sql", nil, `--init-command="SET @account = `},
		{"decode.sql", map[string]string{"account": "1", "seq": "5"}, "Give both, @section and @seq"},
		{"decode.sql", map[string]string{"account": "4711"}, "No row: account 4711"},
		{"decode.sql", map[string]string{"account": "'abc'"}, "No account: abc is no number"},
		{"decode.sql", map[string]string{"account": "-1"}, "No account: -1 is no number"},
		{"over_cap.sql", map[string]string{"cap": "'x'"}, "The cap is no number: x"},
		{"over_cap.sql", map[string]string{"cap": "-1"}, "The cap is no number: -1"},
		{"edge.sql", nil, `--init-command="SET @follower = 12, @followee = `},
		{"edge.sql", map[string]string{"follower": "6000"}, "Give both accounts"},
		{"edge.sql", map[string]string{"followee": "5000"}, "Give both accounts"},
	} {
		for _, by := range []way{usual(), byDriver} {
			out := run(t, by, p.dsn, c.script, c.vars)
			if len(out) == 0 || len(out[0]) != 1 || !strings.Contains(out[0][0]["missing"], c.want) {
				t.Errorf("%s with %v shows %v, want %q first", c.script, c.vars, out, c.want)
			}
			for _, more := range out[min(1, len(out)):] {
				if len(more) > 0 {
					t.Errorf("%s with %v shows %v besides", c.script, c.vars, more)
				}
			}
		}
	}
}

// TestAdmin_Files: every script is tested, described at its top and in the
// README, and those that say that they only read are told so by the server.
func TestAdmin_Files(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) < len(scripts)+2 {
		t.Fatalf("files of %s: %d, %v", folder, len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if name == "README.md" {
			continue
		}
		if scripts[name] == nil && name != "grants.sql" {
			t.Errorf("%s has no test", file)
		}
		if !strings.Contains(readme(t), "\n## `"+name+"`\n") || !strings.Contains(readme(t), "admin/"+name) {
			t.Errorf("README.md does not say how to run %s", name)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"-- Purpose: ", "-- Set: ", "-- Cost: ", "-- Safety: "} {
			if !strings.Contains(string(content), "\n"+word) && !strings.HasPrefix(string(content), word) {
				t.Errorf("%s: no %q at its top", file, word)
			}
		}
		if strings.Contains(string(content), "reads only") && !strings.Contains(string(content), "SET SESSION TRANSACTION READ ONLY") {
			t.Errorf("%s says that it reads only, but does not tell the server", file)
		}
	}
}

// column returns one column of a result.
func column(t table, name string) (out []string) {
	for _, row := range t {
		out = append(out, row[name])
	}
	return out
}

// rows returns all rows, by an order and then by id, as the scripts sort them.
func (p *plant) rows(by func(a, b relation.Row) int) []relation.Row {
	var out []relation.Row
	for _, id := range p.ids {
		out = append(out, p.row(id))
	}
	slices.SortFunc(out, func(a, b relation.Row) int { return cmp.Or(by(a, b), cmp.Compare(a.AccountID, b.AccountID)) })
	return out
}

func ids(rows []relation.Row) (out []string) {
	for _, r := range rows {
		out = append(out, text(r.AccountID))
	}
	return out
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := diff.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func (p *plant) followers(t *testing.T) {
	p.exec(`INSERT INTO account (bucket, account_id, ver, username, display_name, locked, created_at) VALUES (? & 1023, ?, 1, 'Zoë', '', 0, 0)`, p.narrow, p.narrow)
	want := p.rows(func(a, b relation.Row) int { return cmp.Compare(b.Followers, a.Followers) })[:25]
	got := run(t, usual(), p.dsn, "followers.sql", map[string]string{"least": "0", "top": "25"})[0]
	same(t, "accounts", column(got, "account_id"), ids(want))
	first := got[0]
	archived := want[0].ArchivedFollowers(p.view(want[0].List))
	same(t, "the first", []string{first["username"], first["followers"], first["friends"], first["following"], first["archived_followers"], first["ver"], first["updated_utc"]},
		[]string{"Zoë", text(want[0].Followers), text(want[0].Friends), text(want[0].Following), text(archived), text(want[0].Ver), "2023-11-14 22:13:20"})
	if archived < 300 {
		t.Errorf("%d archived followers: the graph does not test what it should", archived)
	}
	// 128 followers are 64 friends or 64 others, before a trim.
	p.follow(9000, 9001, start)
	for i := range uint64(127) {
		p.follow(9002+i, 9001, start)
	}
	p.save()
	got = run(t, usual(), p.dsn, "followers.sql", map[string]string{"least": "128"})[0]
	same(t, "with an index", column(got, "account_id"), []string{text(untimed), "9001"})
}

func (p *plant) overCap(t *testing.T) {
	const limit = 40
	type line struct{ id, over string }
	var want []line
	entries := 0
	longest := func(r relation.Row) int {
		v := p.view(r.List)
		return max(v.Len(list.Friends), v.Len(list.Followers), v.Len(list.Following))
	}
	for _, r := range p.rows(func(a, b relation.Row) int { return cmp.Compare(longest(b), longest(a)) }) {
		if over := longest(r) - limit; over > 0 {
			want, entries = append(want, line{text(r.AccountID), text(over)}), entries+over
		}
	}
	got := run(t, usual(), p.dsn, "over_cap.sql", map[string]string{"cap": text(limit)})
	sum := got[0][0]
	same(t, "sum", []string{sum["rows_over_cap"], sum["entries_over_cap"], sum["furthest"]}, []string{text(len(want)), text(entries), want[0].over})
	var lines []line
	for _, row := range got[1] {
		lines = append(lines, line{row["account_id"], row["over_cap"]})
	}
	if d := diff.Diff(want, lines, diff.AllowUnexported(line{})); d != "" {
		t.Errorf("rows over %d (-want +got):\n%s", limit, d)
	}
	if got := run(t, usual(), p.dsn, "over_cap.sql", nil); got[0][0]["rows_over_cap"] != "0" || len(got[1]) != 0 {
		t.Errorf("over the usual cap: %v, want nobody", got)
	}
}

func (p *plant) rowSizes(t *testing.T) {
	accounts, bytes := map[string]int{}, map[string]int{}
	for _, r := range p.rows(func(a, b relation.Row) int { return 0 }) {
		from := 4
		for 2*from <= len(r.List) {
			from *= 2
		}
		accounts[text(from)]++
		bytes[text(from)] += len(r.List)
	}
	got := run(t, usual(), p.dsn, "row_sizes.sql", map[string]string{"buckets": "1024"})[0]
	if len(got) != len(accounts) || len(got) < 4 {
		t.Errorf("%d classes, want %d", len(got), len(accounts))
	}
	for _, row := range got {
		from := row["from_bytes"]
		if row["accounts"] != text(accounts[from]) || row["bytes"] != text(bytes[from]) || row["histogram"] == "" {
			t.Errorf("class %s: %v, want %d accounts, %d bytes", from, row, accounts[from], bytes[from])
		}
	}
}

func (p *plant) hotRows(t *testing.T) {
	want := p.rows(func(a, b relation.Row) int { return cmp.Compare(b.Ver, a.Ver) })[:5]
	got := run(t, usual(), p.dsn, "hot_rows.sql", map[string]string{"top": "5"})[0]
	same(t, "hottest", column(got, "account_id"), ids(want))
	same(t, "commits", column(got, "commits")[0], text((want[0].Ver+repo.StepMean/2)/repo.StepMean))
}

// hotGrowth writes rows for as long as the script looks, some of which did not
// exist before.
func (p *plant) hotGrowth(t *testing.T) {
	stop, done := make(chan struct{}), make(chan error)
	go func() { done <- p.write(t.Context(), stop) }()
	got := run(t, usual(), p.dsn, "hot_growth.sql", map[string]string{"wait": "0.5", "top": "3"})[0]
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	p.exec(`DELETE FROM relation WHERE account_id > ?`, 1<<50)
	if len(got) != 3 {
		t.Fatalf("%d rows, want 3", len(got))
	}
	same(t, "the two hottest", column(got, "account_id")[:2], []string{text(p.wide), text(p.narrow)})
	if n, _ := strconv.Atoi(got[0]["commits"]); n < 3 || got[2]["commits"] != "1" && got[2]["commits"] != "2" {
		t.Errorf("%q and %q commits, want 3 or more and about 1", got[0]["commits"], got[2]["commits"])
	}
}

// write raises two vers, and makes rows, until told to stop.
func (p *plant) write(ctx context.Context, stop <-chan struct{}) error {
	for id := uint64(1<<50 + 1); ; id++ {
		select {
		case <-stop:
			return nil
		default:
		}
		for star, by := range map[uint64]int{p.wide: 3, p.narrow: 1} {
			if _, err := p.pool.ExecContext(ctx, `UPDATE relation SET ver = ver + ? WHERE bucket = ? AND account_id = ?`, by*repo.StepMean, star&1023, star); err != nil {
				return err
			}
		}
		d, err := relation.Open(relation.Absent(id))
		if err != nil {
			return err
		}
		d.Touch()
		r, err := p.store.Pack(d, start)
		if err != nil {
			return err
		}
		if _, err := p.store.Swap(ctx, []relation.Row{r}); err != nil {
			return err
		}
	}
}

// line is a decoded entry as decode.sql shows it.
type line struct{ Section, Place, ID, Mine, Theirs string }

// entries decodes a list with the codec.
func (p *plant) entries(v list.View) []line {
	p.t.Helper()
	out := []line{}
	for s := list.Friends; s <= list.Options; s++ {
		place := 0
		err := v.Each(s, func(id uint64, mine, theirs uint32) bool {
			place++
			out = append(out, line{s.String(), text(place), text(id), utc(mine), utc(theirs)})
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
		out = append(out, line{r["section"], r["place"], r["id"], r["mine_utc"], r["theirs_utc"]})
	}
	return out
}

func (p *plant) decode(t *testing.T) {
	all := append(slices.Clone(p.ids[:100]), p.narrow, p.wide, straddling, 6001, 7, untimed, untimed+1, untimed+2, untimed+3, p.ids[len(p.ids)-1])
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
		same(t, "header", []string{head["account_id"], head["ver"], head["bytes"], head["format"]}, []string{text(id), text(r.Ver), text(len(r.List)), "2"})
		same(t, "row of "+text(id), decoded(got[2]), p.entries(p.view(r.List)))
		same(t, "segments of "+text(id), len(got[1]), len(p.headers(id)))
	}
	if widths["4"] < 10 || widths["8"] < 10 {
		t.Errorf("rows by width: %v, want many of both", widths)
	}
	if countWidths[1] < 10 || countWidths[2] == 0 {
		t.Errorf("rows by count width: %v, want some of both", countWidths)
	}
	p.decodeSegments(t)
	p.decodeBad(t)
	p.decodeLong(t)
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
	same(t, "a long list", decoded(got[2]), p.entries(p.view(b)))
	edge := run(t, usual(), p.dsn, "edge.sql", map[string]string{"follower": text(1 << 17), "followee": text(p.ids[0])})[0]
	same(t, "an edge of a long list", column(edge, "at_to"), []string{"-", "-"})
	same(t, "the other way", column(edge, "at_from"), []string{"-", "row: following"})
}

// setList stores a list as it is, and returns what puts the old one back.
func (p *plant) setList(id uint64, b []byte) (back func()) {
	was := p.row(id).List
	set := func(b []byte) {
		p.exec(`UPDATE relation SET list = ? WHERE bucket = ? AND account_id = ?`, b, id&1023, id)
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
		append([]byte{2, 0x34}, was[2:]...), append([]byte{2, 0x04}, was[2:]...), append([]byte{2, 0x15}, was[2:]...), append([]byte{2, 0xf4}, was[2:]...),
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

func (p *plant) decodeSegments(t *testing.T) {
	n := 0
	for _, id := range []uint64{p.narrow, p.wide} {
		for _, h := range p.headers(id) {
			n++
			got := run(t, usual(), p.dsn, "decode.sql", map[string]string{"account": text(id), "section": text(uint8(h.Section)), "seq": text(h.Seq)})
			same(t, "segment of "+text(id), decoded(got[2]), p.entries(p.segment(id, h)))
		}
	}
	if n < 4 {
		t.Errorf("%d segments, want 4 at least", n)
	}
}

// edge compares the script with the store's own answer.
func (p *plant) edge(t *testing.T) {
	ask := func(a, b uint64) table {
		return run(t, usual(), p.dsn, "edge.sql", map[string]string{"follower": text(a), "followee": text(b)})[0]
	}
	rng := rand.New(rand.NewPCG(1, 1))
	archived := 0
	for i := range 100 {
		star := []uint64{p.narrow, p.wide, p.ids[rng.IntN(60)]}[i%3]
		other := p.ids[rng.IntN(len(p.ids))]
		if other == star {
			continue
		}
		rels, _, err := p.store.Rels(t.Context(), other, []uint64{star})
		if err != nil {
			t.Fatal(err)
		}
		got := ask(other, star)
		want := []string{verdict(rels[0]&list.IsFollowing != 0), verdict(rels[0]&list.IsFollower != 0)}
		same(t, "does "+text(other)+" follow "+text(star)+", and back", column(got, "verdict"), want)
		if strings.Contains(got[0]["at_to"], "segment") {
			archived++
		}
	}
	if archived < 10 {
		t.Errorf("%d of the edges lay in the archive, want more", archived)
	}
	same(t, "across two ids", column(ask(straddling, across), "verdict"), []string{"does not follow", "does not follow"})
	same(t, "across two ids, then as one", ask(straddling+1, across)[0]["at_from"], "row: following")
	same(t, "an id too wide for the list", column(ask(straddling, 1<<40|before), "verdict"), []string{"does not follow", "does not follow"})

	p.draft(8001).AddFollowing(8002, start)
	p.draft(8003).AddFollower(8004, start)
	p.save()
	same(t, "only the follower's side", column(ask(8001, 8002), "verdict"), []string{"HALF EDGE: only from has it", "does not follow"})
	same(t, "only the followee's side", column(ask(8004, 8003), "verdict"), []string{"HALF EDGE: only to has it", "does not follow"})

	// An id in the row and in a segment.
	h := p.headers(p.wide)[0]
	id := uint64(0)
	p.segment(p.wide, h).Each(h.Section, func(o uint64, _, _ uint32) bool { id = o; return false })
	before := p.row(p.wide)
	d := p.draft(p.wide)
	d.AddFollower(id, start)
	p.save()
	same(t, "in two places", ask(id, p.wide)[0]["verdict"], "TWICE")
	p.exec(`UPDATE relation SET list = ?, followers = ?, friends = ?, kept_followers = kept_followers - 1 WHERE bucket = ? AND account_id = ?`,
		before.List, before.Followers, before.Friends, p.wide&1023, p.wide)
}

func verdict(follows bool) string {
	if follows {
		return "follows"
	}
	return "does not follow"
}

func (p *plant) countDrift(t *testing.T) {
	check := func() []table { return run(t, usual(), p.dsn, "count_drift.sql", map[string]string{"buckets": "1024"}) }
	got := check()
	if got[0][0]["rows_checked"] == "0" || got[0][0]["segments_checked"] == "0" {
		t.Errorf("checked %v, want rows and segments", got[0])
	}
	if len(got[1])+len(got[2]) != 0 {
		t.Fatalf("faults in a sound graph: %v", got[1:])
	}
	star, section := p.row(p.narrow), p.headers(p.narrow)[0].Section
	for _, c := range []struct{ sql, column, want string }{
		{`friends = friends + 1`, "friends", text(star.Friends+1) + " / " + text(star.Friends)},
		{`followers = followers - 1`, "followers", text(star.Followers-1) + " / " + text(star.Followers)},
		{`following = 0`, "following", "0 / " + text(star.Following)},
		{`kept_followers = 0`, "kept_followers", ""},
		{`kept_following = 0`, "kept_following", ""},
		{`blocks = 9`, "blocks", ""},
		{`archived_at = 5`, "archived_at", "5 / " + text(star.ArchivedAt)},
		{`list = INSERT(list, 1, 1, CHAR(7))`, "header", "bad"},
		{`list = INSERT(list, 1, 1, CHAR(1))`, "header", "bad"},
		{`list = INSERT(list, 2, 1, CHAR(0x34))`, "header", "bad"},
		{`list = INSERT(list, 2, 1, CHAR(0xf4))`, "header", "bad"},
		{`list = INSERT(list, 2, 1, CHAR(0x15))`, "header", "bad"},
		{`list = LEFT(list, 20)`, "header", "cut"},
		{`list = LEFT(list, 7)`, "account_id", text(p.narrow)},
		{`list = ''`, "header", "bad"},
	} {
		var b []byte
		var kept [3]int
		row := p.pool.QueryRowContext(t.Context(), `SELECT list, kept_followers, kept_following, blocks FROM relation WHERE bucket = ? AND account_id = ?`, p.narrow&1023, p.narrow)
		if err := row.Scan(&b, &kept[0], &kept[1], &kept[2]); err != nil {
			t.Fatal(err)
		}
		p.exec(`UPDATE relation SET `+c.sql+` WHERE bucket = ? AND account_id = ?`, p.narrow&1023, p.narrow)
		got := check()[1]
		if len(got) != 1 || got[0]["account_id"] != text(p.narrow) || c.want != "" && got[0][c.column] != c.want {
			t.Errorf("%s: got %v, want %s to be %q", c.sql, got, c.column, c.want)
		}
		p.exec(`UPDATE relation SET list = ?, friends = ?, followers = ?, following = ?, kept_followers = ?, kept_following = ?, blocks = ?, archived_at = ? WHERE bucket = ? AND account_id = ?`,
			b, star.Friends, star.Followers, star.Following, kept[0], kept[1], kept[2], star.ArchivedAt, p.narrow&1023, p.narrow)
	}
	p.exec(`UPDATE relation_archive SET n = n + 1 WHERE bucket = ? AND account_id = ? AND section = ?`, p.narrow&1023, p.narrow, section)
	if got := check(); len(got[2]) != 1 || len(got[1]) != 1 {
		t.Errorf("a segment's n: got %v, want the segment and the row", got[1:])
	}
	p.exec(`UPDATE relation_archive SET n = n - 1 WHERE bucket = ? AND account_id = ? AND section = ?`, p.narrow&1023, p.narrow, section)
}

func (p *plant) archiveSizes(t *testing.T) {
	got := run(t, usual(), p.dsn, "archive_sizes.sql", nil)
	segments, entries := 0, 0
	for i, id := range []uint64{p.narrow, p.wide} {
		n, bytes := [3]int{}, 0
		for _, h := range p.headers(id) {
			n[h.Section] += int(h.N)
			entries += int(h.N)
			segments++
			bytes += len(p.segment(id, h).Bytes())
		}
		row := got[1][i]
		same(t, "archive", []string{row["account_id"], row["friends"], row["followers_only"], row["following_only"], row["segments"], row["bytes"]},
			[]string{text(id), text(n[0]), text(n[1]), text(n[2]), text(len(p.headers(id))), text(bytes)})
	}
	same(t, "sum", got[0][0], map[string]string{"accounts": "2", "segments": text(segments), "entries": text(entries), "small_segments": text(segments)})
	if top := run(t, usual(), p.dsn, "archive_sizes.sql", map[string]string{"top": "1"})[1]; len(top) != 1 {
		t.Errorf("%d accounts, want the one asked for", len(top))
	}
}

func (p *plant) jobHistory(t *testing.T) {
	runs := job.New(p.pool)
	now := time.Now().UnixMilli()
	for _, r := range []job.Run{
		{Name: "trim", Started: now - 60_000, Ended: now - 58_500, Tick: now - 60_000, Holder: "one:1:a", Rows: 10, Done: 3, Result: job.OK},
		{Name: "trim", Started: now - 30_000, Ended: now - 29_500, Tick: 0, Holder: "two:2:b", Rows: 20, Done: 4, Result: job.Failed, Failure: "it's so"},
		{Name: "audit", Started: now - 10_000, Holder: "one:1:c", Result: job.Running},
		{Name: "audit", Started: now - 30*86_400_000, Ended: now - 29*86_400_000, Holder: "old:1:c", Result: job.OK},
	} {
		if err := runs.Save(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	leases := lease.New(lease.Config{DB: p.pool, Process: "one:1"})
	held, err := leases.Take(t.Context(), "audit")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release(t.Context())
	if err := runs.SavePlace(t.Context(), "audit", "4711", 1, now); err != nil {
		t.Fatal(err)
	}
	got := run(t, usual(), p.dsn, "job_history.sql", nil)
	same(t, "jobs", column(got[0], "job"), []string{"audit", "trim"})
	trim := got[0][1]
	same(t, "trim", []string{trim["runs"], trim["ok"], trim["failed"], trim["mean_seconds"], trim["longest_seconds"], trim["looked_at"], trim["changed"]},
		[]string{"2", "1", "1", "1.0", "1.5", "30", "7"})
	same(t, "audit", []string{got[0][0]["not_ended"], got[0][0]["mean_seconds"]}, []string{"1", null})
	same(t, "where it goes on", column(got[1], "goes_on_at"), []string{"4711"})
	same(t, "runs", column(got[2], "result"), []string{"running", "failed", "ok"})
	same(t, "began", column(got[2], "began")[1:], []string{"by hand", "by the clock"})
	same(t, "failure", got[2][1]["failure"], "it's so")
	one := run(t, usual(), p.dsn, "job_history.sql", map[string]string{"job": "'audit'", "days": "60"})
	same(t, "one job", column(one[2], "job"), []string{"audit", "audit"})
}
