package event

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/repo"
)

var update = flag.Bool("update", false, "write the golden files and the saved bad inputs anew")

// form is one packed form, for tests that are the same for all.
type form struct {
	name string
	pack func([]Event) ([]byte, error)
	read func(dst []Event, b []byte) ([]Event, error)
}

const feedAuthor = 7<<repo.BucketBits | 5

var (
	feed = form{"feed",
		func(e []Event) ([]byte, error) { return AppendFeed(nil, feedAuthor, e) },
		func(dst []Event, b []byte) ([]Event, error) { return ReadFeed(dst, b, feedAuthor) }}
	list    = form{"list", func(e []Event) ([]byte, error) { return AppendList(nil, e) }, ReadList}
	records = form{"records", func(e []Event) (b []byte, err error) {
		for _, e := range e {
			b = AppendRecord(b, e)
		}
		return b, nil
	}, ReadRecords}
	forms = []form{feed, list, records}
)

// at returns an id by its parts.
func at(ms, sequence, author uint64) uint64 {
	return ms<<timeShift | sequence<<repo.BucketBits | uint64(repo.Bucket(author))
}

// goldens are events whose bytes may never change within a version of a form. Those of
// other authors are not in a feed.
func goldens() map[string][]Event {
	const a, b = feedAuthor, 9_000_000_123
	year := uint64(26 * 365 * 24 * time.Hour / time.Millisecond)
	return map[string][]Event{
		"empty": {},
		"posts": {{at(year+60_000, 15, a), a, 0}, {at(year+59_000, 0, a), a, 0}, {at(year, 1, a), a, 0}},
		"reposts": {
			{at(year, 3, a), a, at(year-10_000_000, 9, b)}, {at(year-1, 3, a), a, at(year-1, 0, a)},
			{at(year-2, 3, a), a, at(year+5_000, 16, b)}, {at(year-3, 3, a), a, at(0, 4095, b)},
		},
		"sequence": {{at(year, 4095, a), a, 0}, {at(year, 17, a), a, 0}, {at(year, 16, a), a, 0}, {at(year, 15, a), a, 0}, {at(0, 1, a), a, 0}},
		"limits":   {{maxID&^(repo.Buckets-1) | a&(repo.Buckets-1), a, maxID}, {at(maxMS, 0, a), a, 1}, {at(0, 0, a), a, maxID}},
		"authors": {
			{at(year, 1, b), b, 0}, {at(year-5, 1, a), a, at(year-6, 1, b)}, {at(year-6, 1, b), b, 0},
			{at(year-7, 1, maxID), maxID, 0}, {at(year-8, 1, 1), 1, 0}, {at(year-9, 1, 2), 2, at(3, 1, 1)},
		},
	}
}

func eventsOf(f form, events []Event) []Event {
	if f.name == "feed" {
		events = slices.DeleteFunc(slices.Clone(events), func(e Event) bool { return e.Author != feedAuthor })
	}
	return events
}

func TestGolden(t *testing.T) {
	for name, events := range goldens() {
		for _, f := range forms {
			t.Run(name+"/"+f.name, func(t *testing.T) {
				events := eventsOf(f, events)
				b, err := f.pack(events)
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join("testdata", name+"."+f.name)
				if *update {
					writeHex(t, file, b)
				}
				want := readHex(t, file)
				if !bytes.Equal(b, want) {
					t.Fatalf("got  %x\nwant %x", b, want)
				}
				if got, err := f.read(nil, want); err != nil || !slices.Equal(got, events) {
					t.Fatalf("got  %v, %v\nwant %v", got, err, events)
				}
			})
		}
	}
}

func writeHex(t *testing.T, file string, b []byte) {
	t.Helper()
	var text strings.Builder
	for part := range slices.Chunk(b, 32) {
		text.WriteString(hex.EncodeToString(part) + "\n")
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readHex(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestForms_Plain compares with the plain slow version, and reads back.
func TestForms_Plain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		events := randomEvents(r, r.IntN(50), 1+r.IntN(1+i%600))
		if i%300 == 0 {
			events = randomEvents(r, 2000, 1500)
		}
		var want []byte
		for _, e := range events {
			want = append(want, plainRecord(e)...)
		}
		same(t, records, events, want)
		same(t, list, events, plainList(events))
		of := slices.DeleteFunc(slices.Clone(events), func(e Event) bool { return e.Author != events[0].Author })
		author := uint64(1)
		if len(of) > 0 {
			author = of[0].Author
		}
		same(t, form{"feed",
			func(e []Event) ([]byte, error) { return AppendFeed(nil, author, e) },
			func(dst []Event, b []byte) ([]Event, error) { return ReadFeed(dst, b, author) },
		}, of, plainFeed(of))
	}
}

func same(t *testing.T, f form, events []Event, want []byte) {
	t.Helper()
	b, err := f.pack(events)
	if err != nil || !bytes.Equal(b, want) {
		t.Fatalf("%s of %v:\ngot  %x, %v\nwant %x", f.name, events, b, err, want)
	}
	before := []Event{{1, 1, 1}}
	got, err := f.read(before, b)
	if err != nil || !slices.Equal(got, append(before, events...)) {
		t.Fatalf("%s %x:\ngot  %v, %v\nwant %v", f.name, b, got, err, events)
	}
}

// TestAppend_Refused packs what is no feed or list.
func TestAppend_Refused(t *testing.T) {
	const a = feedAuthor
	good := Event{at(9, 0, a), a, 0}
	for name, events := range map[string][]Event{
		"rising":             {good, {at(10, 0, a), a, 0}},
		"twice":              {good, good},
		"id 0":               {{0, repo.Buckets, 0}},
		"id past the last":   {{1<<63 | a&(repo.Buckets-1), a, 0}},
		"author 0":           {{at(9, 0, 0), 0, 0}},
		"author past":        {{at(9, 0, 1<<63|a), 1<<63 | a, 0}},
		"origin past":        {{at(9, 0, a), a, 1 << 63}},
		"bucket of another":  {{at(9, 0, a+1), a, 0}},
		"behind a good one":  {good, {0, a, 0}},
		"id of no author":    {good, {at(8, 0, 0), 0, 0}},
		"another's in list":  {good, {at(8, 0, a), a + 1, 0}},
		"falling, then back": {good, {at(8, 0, a), a, 0}, good},
	} {
		for _, f := range []form{feed, list} {
			if b, err := f.pack(events); err == nil || len(b) != 0 {
				t.Errorf("%s of %s: got %x, %v, want an error and no bytes", f.name, name, b, err)
			}
		}
	}
	other := Event{at(8, 0, a+repo.Buckets), a + repo.Buckets, 0}
	if b, err := feed.pack([]Event{good, other}); err == nil || len(b) != 0 {
		t.Errorf("feed with an event of another author of the bucket: got %x, %v, want an error and no bytes", b, err)
	}
}

// badInputs are the saved inputs, by form and by what is wrong with them.
func badInputs() map[string][]byte {
	ff := bytes.Repeat([]byte{0xff}, 9)
	good := func(f form) []byte {
		b, _ := f.pack([]Event{{at(300, 17, feedAuthor), feedAuthor, at(200, 17, 3)}, {at(299, 1, feedAuthor), feedAuthor, 0}})
		return b
	}
	all := map[string][]byte{}
	for _, f := range forms {
		b := good(f)
		all[f.name+".cut"] = b[:len(b)-1]
		all[f.name+".tail"] = append(slices.Clone(b), 0)
		all[f.name+".version"] = append([]byte{b[0] + 2}, b[1:]...)
	}
	add := func(name string, b ...byte) { all[name] = b }
	add("feed.no_bytes")
	add("list.no_bytes")
	add("feed.no_count", 0x11)
	add("list.no_count", 0x21)
	add("feed.is_list", good(list)...)
	add("list.is_feed", good(feed)...)
	add("records.is_list", good(list)...)
	add("feed.count_padded", 0x11, 0x80, 0)
	add("feed.count_huge", append([]byte{0x11}, append(ff, 1)...)...)
	add("feed.count_endless", append([]byte{0x11}, bytes.Repeat([]byte{0x80}, 12)...)...)
	add("feed.count_high", 0x11, 2, 0, 1)
	add("feed.count_low", 0x11, 1, 0, 2, 0, 1)
	add("feed.place", 0x11, 1, 1<<6, 1)
	add("feed.same_id", 0x11, 2, 1, 5, 1, 0)
	add("feed.rising", 0x11, 2, 1, 5, 2, 0)
	add("feed.ms_below_0", 0x11, 2, 1, 5, 1, 6)
	add("feed.ms_past", append([]byte{0x11, 1, 1}, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40)...)
	add("feed.high_0", 0x11, 1, 1|1<<5, 5, 0)
	add("feed.high_256", 0x11, 1, 1|1<<5, 5, 0x80, 2)
	add("feed.origin_0", 0x11, 1, 1|1<<4, 5, 0, 0, 5)
	add("feed.origin_cut", 0x11, 1, 1|1<<4, 5, 0)
	add("feed.origin_below_0", 0x11, 1, 1|1<<4, 5, 0, 1, 6)
	add("feed.origin_high_0", 0x11, 1, 1|1<<4, 5, 0x40, 1, 4, 0)
	add("feed.origin_newer_by_0", 0x11, 1, 1|1<<4, 5, 0x80, 1, 0)
	add("feed.origin_past", 0x11, 1, 1|1<<4, 5, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f)
	add("list.id_0", 0x21, 1, 1, 0x80, 8, 0, 0, 0)
	add("list.authors_none", 0x21, 1, 0, 1, 0, 5)
	add("list.authors_more_than_events", 0x21, 1, 2, 1, 1, 1, 0, 5)
	add("list.authors_of_nothing", 0x21, 0, 1, 1)
	add("list.author_0", 0x21, 1, 1, 0, 1, 0, 5)
	add("list.author_twice", 0x21, 2, 2, 1, 0, 1, 0, 5, 0x41, 0, 1)
	add("list.author_past", append([]byte{0x21, 2, 2, 1}, append(ff[:8:8], 0x7f, 1, 0, 5, 0x41, 0, 1)...)...)
	add("list.author_unused", 0x21, 2, 2, 1, 1, 1, 0, 5, 1, 0, 1)
	add("list.place_past", 0x21, 2, 2, 1, 1, 1, 0, 5, 0x81, 0, 1)
	add("list.place_far_past", 0x21, 2, 2, 1, 1, 1, 0, 5, 0x41, 1, 1)
	add("list.count_high", 0x21, 2, 1, 1, 1, 0, 5)
	add("records.form", 0x33, 0, 0, 0, 0, 0, 0, 4, 1, 1)
	add("records.id_0", 0x31, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 8)
	add("records.id_past", 0x31, 0x80, 0, 0, 0, 0, 0, 4, 1, 1)
	add("records.author_0", 0x31, 0, 0, 0, 0, 0, 0, 4, 0, 0)
	add("records.author_of_another_bucket", 0x31, 0, 0, 0, 0, 0, 0, 4, 1, 2)
	add("records.author_padded", 0x31, 0, 0, 0, 0, 0, 0, 4, 1, 0x81, 0)
	add("records.origin_0", 0x32, 0, 0, 0, 0, 0, 0, 4, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0)
	add("records.origin_past", 0x32, 0, 0, 0, 0, 0, 0, 4, 1, 1, 0x80, 0, 0, 0, 0, 0, 0, 0)
	add("records.behind_a_good_one", append(AppendRecord(nil, Event{1025, 1, 0}), 0)...)
	return all
}

// TestBad reads saved inputs of which each is broken in the way that its name says.
func TestBad(t *testing.T) {
	if *update {
		for name, b := range badInputs() {
			writeHex(t, filepath.Join("testdata", "bad", name), b)
		}
	}
	files, err := filepath.Glob("testdata/bad/*")
	if err != nil || len(files) != len(badInputs()) {
		t.Fatalf("got %d saved inputs, error %v, want %d", len(files), err, len(badInputs()))
	}
	before := []Event{{1, 1, 1}}
	for _, file := range files {
		for _, f := range forms {
			if !strings.HasPrefix(filepath.Base(file), f.name+".") {
				continue
			}
			if got, err := f.read(before, readHex(t, file)); !errors.Is(err, ErrFormat) || !slices.Equal(got, before) {
				t.Errorf("%s: got %v, %v, want what was there and %v", file, got, err, ErrFormat)
			}
		}
	}
}

// TestRead_EveryCut reads each beginning of good bytes, and the bytes with each bit turned.
// Records may be cut between two.
func TestRead_EveryCut(t *testing.T) {
	events := eventsOf(feed, goldens()["reposts"])
	for _, f := range forms {
		b, err := f.pack(events)
		if err != nil {
			t.Fatal(err)
		}
		for n := range b {
			got, err := f.read(nil, b[:n])
			whole := f.name == "records" && bytes.Equal(must(f.pack(got)), b[:n])
			if err == nil && !whole {
				t.Errorf("%s cut to %d of %d bytes: got %v, want an error", f.name, n, len(b), got)
			}
			for bit := range 8 {
				turned := slices.Clone(b)
				turned[n] ^= 1 << bit
				checkRead(t, f, turned)
			}
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// checkRead reads bytes that may be anything: an error, or what packs to the same bytes.
func checkRead(t *testing.T, f form, b []byte) {
	t.Helper()
	events, err := f.read(nil, b)
	if err != nil {
		if !errors.Is(err, ErrFormat) || len(events) != 0 {
			t.Fatalf("%s %x: got %v, %v, want nothing and %v", f.name, b, events, err, ErrFormat)
		}
		return
	}
	if got, err := f.pack(events); err != nil || !bytes.Equal(got, b) {
		t.Fatalf("%s %x:\nread  %v\npacked %x, %v", f.name, b, events, got, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/*.*", "testdata/bad/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %d files, error %v", pattern, len(files), err)
		}
		for _, file := range files {
			f.Add(readHex(f, file))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, f := range forms {
			checkRead(t, f, b)
		}
	})
}

// mixed returns n events as a home has them: one a minute, by 200 of 20 million accounts,
// of which a share are reposts of what is up to two days old.
func mixed(n int, reposts float64) []Event {
	r := rand.New(rand.NewPCG(3, 4))
	authors := make([]uint64, 200)
	for i := range authors {
		authors[i] = 1 + r.Uint64N(20_000_000)
	}
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	events := make([]Event, n)
	for i := range events {
		author := authors[r.IntN(len(authors))]
		now = now.Add(-time.Duration(1+r.ExpFloat64()*60_000) * time.Millisecond)
		events[i] = Event{ID: Next(author, 0, now, r.Uint64()), Author: author}
		if r.Float64() < reposts {
			old := time.Duration(r.Int64N(int64(48 * time.Hour)))
			events[i].Origin = Next(1+r.Uint64N(20_000_000), 0, now.Add(-old), r.Uint64())
		}
	}
	return events
}

// TestSpace holds the forms to what a warm row and an author's feed may take.
func TestSpace(t *testing.T) {
	for _, c := range []struct {
		reposts          float64
		list, feed, each float64 // bytes an event at most
	}{{0, 5.8, 4.1, 13}, {0.4, 8.2, 6.6, 16.5}, {1, 11.9, 10.1, 21}} {
		events := mixed(800, c.reposts)
		one := slices.Clone(events)
		for i := range one {
			one[i].Author, one[i].ID = feedAuthor, events[i].ID&^(repo.Buckets-1)|feedAuthor&(repo.Buckets-1)
		}
		for _, f := range []struct {
			form
			events []Event
			most   float64
		}{{list, events, c.list}, {feed, one, c.feed}, {records, events, c.each}} {
			got := float64(len(must(f.pack(f.events)))) / float64(len(f.events))
			t.Logf("%s, %.0f %% reposts: %.2f bytes an event", f.name, 100*c.reposts, got)
			if got > f.most {
				t.Errorf("%s, %.0f %% reposts: got %.2f bytes an event, want %.2f at most", f.name, 100*c.reposts, got, f.most)
			}
		}
	}
}

func BenchmarkList(b *testing.B) {
	for _, reposts := range []float64{0, 0.4} {
		events := mixed(800, reposts)
		packed := must(list.pack(events))
		b.Run(fmt.Sprintf("reposts=%v/pack", reposts), func(b *testing.B) {
			b.ReportAllocs()
			for room := []byte(nil); b.Loop(); {
				room = must(AppendList(room[:0], events))
			}
		})
		b.Run(fmt.Sprintf("reposts=%v/read", reposts), func(b *testing.B) {
			b.ReportAllocs()
			for room := []Event(nil); b.Loop(); {
				var err error
				if room, err = ReadList(room[:0], packed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRecords(b *testing.B) {
	packed := must(records.pack(mixed(100, 0.4)))
	b.ReportAllocs()
	for room := []Event(nil); b.Loop(); {
		var err error
		if room, err = ReadRecords(room[:0], packed); err != nil {
			b.Fatal(err)
		}
	}
}
