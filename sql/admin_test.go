package sql_test

import (
	"cmp"
	"context"
	"fmt"
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
	"followers.sql":        (*plant).followers,
	"over_cap.sql":         (*plant).overCap,
	"row_sizes.sql":        (*plant).rowSizes,
	"hot_rows.sql":         (*plant).hotRows,
	"hot_growth.sql":       (*plant).hotGrowth,
	"decode.sql":           (*plant).decode,
	"edge.sql":             (*plant).edge,
	"count_drift.sql":      (*plant).countDrift,
	"archive_sizes.sql":    (*plant).archiveSizes,
	"job_history.sql":      (*plant).jobHistory,
	"newest_posts.sql":     (*plant).newestPosts,
	"received_replies.sql": (*plant).receivedReplies,
	"fanout_queue.sql":     (*plant).fanoutQueue,
	"big_authors.sql":      (*plant).bigAuthors,
	"hot_posts.sql":        (*plant).hotPosts,
	"timeline.sql":         (*plant).timeline,
}

func TestAdmin(t *testing.T) {
	p := newPlant(t)
	for name, test := range scripts {
		t.Run(strings.TrimSuffix(name, ".sql"), func(t *testing.T) { test(p, t) })
	}
}

// required are what scripts cannot do without.
var required = map[string]map[string]string{
	"decode.sql":           {"account": "5000"},
	"edge.sql":             {"follower": "6000", "followee": "5000"},
	"hot_growth.sql":       {"wait": "0.1"},
	"newest_posts.sql":     {"account": "5000"},
	"received_replies.sql": {"account": "5000"},
	"timeline.sql":         {"account": "5000"},
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
		{"decode.sql", map[string]string{"account": "1", "seq": "5"}, "Give @seq together with @section"},
		{"decode.sql", map[string]string{"account": "1", "section": "1"}, "Give @seq together with @section"},
		{"decode.sql", map[string]string{"account": "1", "section": "9"}, "Give @seq together with @section"},
		{"decode.sql", map[string]string{"account": "1", "section": "0", "seq": "5"}, "Give @seq together with @section"},
		{"decode.sql", map[string]string{"account": "1", "section": "1", "seq": "5"}, "No such part of the archive of account 1"},
		{"decode.sql", map[string]string{"account": "1", "section": "0"}, "No such part of the archive of account 1"},
		{"decode.sql", map[string]string{"account": "4711"}, "No row: account 4711"},
		{"decode.sql", map[string]string{"account": "'abc'"}, "No account: abc is no number"},
		{"decode.sql", map[string]string{"account": "-1"}, "No account: -1 is no number"},
		{"over_cap.sql", map[string]string{"cap": "'x'"}, "The cap is no number: x"},
		{"over_cap.sql", map[string]string{"cap": "-1"}, "The cap is no number: -1"},
		{"timeline.sql", nil, `--init-command="SET @account = `},
		{"timeline.sql", map[string]string{"account": "4711"}, "No row: account 4711"},
		{"timeline.sql", map[string]string{"account": "'abc'"}, "No account: abc is no number"},
		{"edge.sql", nil, `--init-command="SET @follower = 12, @followee = `},
		{"edge.sql", map[string]string{"follower": "6000"}, "Give both accounts"},
		{"edge.sql", map[string]string{"followee": "5000"}, "Give both accounts"},
		{"newest_posts.sql", nil, `--init-command="SET @account = `},
		{"newest_posts.sql", map[string]string{"account": "'abc'"}, "Give the account"},
		{"received_replies.sql", nil, `--init-command="SET @account = `},
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
	slices.SortFunc(out, func(a, b relation.Row) int { return cmp.Or(by(a, b), cmp.Compare(a.ID, b.ID)) })
	return out
}

func ids(rows []relation.Row) (out []string) {
	for _, r := range rows {
		out = append(out, text(r.ID))
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
	want := p.rows(func(a, b relation.Row) int { return cmp.Compare(b.Followers, a.Followers) })[:25]
	most := want[0]
	p.exec(`INSERT INTO account (bucket, account_id, ver, username, display_name, locked, created_at) VALUES (? & 1023, ?, 1, 'Zoë', '', 0, 0)`, most.ID, most.ID)
	got := run(t, usual(), p.dsn, "followers.sql", map[string]string{"least": "0", "top": "25"})[0]
	same(t, "accounts", column(got, "account_id"), ids(want))
	long := 0
	for i, r := range want {
		segments, own := p.archive(r.ID)
		archived := own.Len(list.Friends)
		for _, g := range segments {
			if g.Section == list.Followers {
				archived += int(g.N)
			}
		}
		name := null
		if i == 0 {
			name = "Zoë"
		}
		same(t, "line "+text(i), got[i], map[string]string{"account_id": text(r.ID), "username": name, "followers": text(r.Followers), "friends": text(r.Friends),
			"following": text(r.Following), "archived_followers": text(archived), "ver": text(r.Ver), "updated_utc": "2023-11-14 22:13:20"})
		if archived > 200 {
			long++
		}
	}
	if long < 3 {
		t.Errorf("%d accounts have many archived followers: the graph does not test what it should", long)
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
			want, entries = append(want, line{text(r.ID), text(over)}), entries+over
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
		r, err := p.store.Pack(d)
		if err != nil {
			return err
		}
		if _, err := p.store.Swap(ctx, []relation.Row{r}); err != nil {
			return err
		}
	}
}

func (p *plant) archiveSizes(t *testing.T) {
	got := run(t, usual(), p.dsn, "archive_sizes.sql", nil)
	type size struct{ entries, own, segments, small, bytes int }
	sum := size{}
	for i, id := range []uint64{crowned, p.narrow, p.wide} {
		n, s, held := [list.Options + 1]int{}, size{}, 0
		segments, own := p.archive(id)
		for _, g := range segments {
			n[g.Section] += int(g.N)
			held += int(g.N)
			s.segments++
			s.bytes += len(g.List)
			if g.N <= relation.SegmentEntries/2 {
				s.small++
			}
		}
		for section := range n {
			n[section] += own.Len(list.Section(section))
			s.own += own.Len(list.Section(section))
			s.entries += n[section]
		}
		others := s.entries - n[list.Friends] - n[list.Followers] - n[list.Following]
		newest, oldest := bounds(segments, own)
		same(t, "archive of "+text(id), got[1][i], map[string]string{"account_id": text(id), "entries": text(s.entries), "friends": text(n[list.Friends]),
			"followers_only": text(n[list.Followers]), "following_only": text(n[list.Following]), "others": text(others), "own_entries": text(s.own),
			"segments": text(s.segments), "small_segments": text(s.small), "segment_bytes": text(s.bytes),
			"bytes_an_entry": fmt.Sprintf("%.2f", float64(s.bytes)/float64(held)), "newest_utc": utc(newest), "oldest_utc": utc(oldest)})
		sum.entries, sum.own, sum.segments, sum.small = sum.entries+s.entries, sum.own+s.own, sum.segments+s.segments, sum.small+s.small
	}
	same(t, "sum", got[0][0], map[string]string{"accounts": "3", "entries": text(sum.entries), "own_entries": text(sum.own), "segments": text(sum.segments), "small_segments": text(sum.small)})
	if sum.small == sum.segments || sum.small == 0 {
		t.Errorf("%d of %d segments are small, want some", sum.small, sum.segments)
	}
	if top := run(t, usual(), p.dsn, "archive_sizes.sql", map[string]string{"top": "1"})[1]; len(top) != 1 {
		t.Errorf("%d accounts, want the one asked for", len(top))
	}
	// An account may have no segments at all.
	p.exec(`INSERT INTO relation_own (bucket, account_id, other_id, section, mine, theirs, latest, choice) VALUES (9, 9, 10, 8, 0, 0, 0, CHAR(2))`)
	alone := run(t, usual(), p.dsn, "archive_sizes.sql", map[string]string{"first": "9", "buckets": "1"})[1]
	same(t, "only an option", alone, table{{"account_id": "9", "entries": "1", "friends": "0", "followers_only": "0", "following_only": "0", "others": "1", "own_entries": "1",
		"segments": "0", "small_segments": "0", "segment_bytes": "0", "bytes_an_entry": null, "newest_utc": null, "oldest_utc": null}})
	p.exec(`DELETE FROM relation_own WHERE bucket = 9 AND account_id = 9`)
}

// bounds are the times of the newest and oldest archived entry.
func bounds(segments []relation.Segment, own list.View) (newest, oldest uint32) {
	oldest = 1<<32 - 1
	for _, g := range segments {
		newest, oldest = max(newest, g.NewestAt), min(oldest, g.OldestAt)
	}
	for s := list.Friends; s < list.Options; s++ {
		_ = own.Each(s, func(_ uint64, mine, theirs uint32) bool {
			newest, oldest = max(newest, mine, theirs), min(oldest, max(mine, theirs))
			return true
		})
	}
	return newest, oldest
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
	if err := runs.SaveCursor(t.Context(), "audit", "4711", 1, now); err != nil {
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
