package bulk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kith/app/intake"
	"kith/repo/post"
	"kith/repo/spill"
)

// counted counts the reads of a spool.
type counted struct {
	*spool
	reads int
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	c.reads++
	return c.spool.file.ReadAt(b, at)
}

func (c *counted) WriteAt(b []byte, at int64) (int, error) { return c.spool.file.WriteAt(b, at) }

func (c *counted) Close() error { return nil }

// simple is a line of a file: its key, the key that it names, and its time.
type simple struct {
	kind    uint8
	key     string
	names   string
	created int64
}

// linkAll links lines and returns their headers, the rejects, and how often the disk was read.
func linkAll(t *testing.T, all []simple) ([]header, string, int) {
	t.Helper()
	ctx := t.Context()
	lines, err := newSpool(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lines.close() })
	var rejects bytes.Buffer
	im := &importer{bad: intake.NewRejects(&rejects, -1), lines: lines}
	for _, s := range []**spill.Sorter{&im.keys, &im.refs, &im.timed} {
		*s = spill.New(spill.Config{Dir: t.TempDir(), Memory: 1 << 20})
		t.Cleanup(func() { _ = (*s).Close() })
	}
	stand := make([]int64, len(all))
	for i, l := range all {
		h := header{Line: int64(i + 1), Account: 1, Kind: l.kind, Created: l.created, At: l.created, Key: hashOf("key", l.key), Ref: hashOf("key", l.names)}
		stand[i] = lines.end
		if err := im.keep(ctx, &h, fmt.Appendf(nil, "%+v", l), &post.Content{Text: l.key}); err != nil {
			t.Fatal(err)
		}
	}
	if err := lines.flush(); err != nil {
		t.Fatal(err)
	}
	c := &counted{spool: lines}
	im.lines = &spool{file: c, end: lines.end}
	if err := im.link(ctx); err != nil {
		t.Fatal(err)
	}
	var out []header
	for _, at := range stand {
		h, err := lines.get(at)
		if err != nil {
			t.Fatal(err)
		}
		if h.Target != 0 {
			h.Target = int64(slices.Index(stand, h.Target-1)) + 1 // its line
		}
		out = append(out, h)
	}
	if err := im.bad.Flush(); err != nil {
		t.Fatal(err)
	}
	return out, rejects.String(), c.reads
}

// mostReads is how often the disk may be read for a line, whatever the file has.
const mostReads = 8

// flat is a post and answers to it, which are later.
func flat(n int) (out []simple) {
	for i := range n {
		l := simple{key: fmt.Sprint("f", i), created: int64(5000 + i)}
		if i > 0 {
			l.kind, l.names = isReply, "f0"
		}
		out = append(out, l)
	}
	return out
}

// chain is a post and lines that each name the one before, of one time, the last one first.
func chain(n int, kind uint8) (out []simple) {
	for i := range n {
		l := simple{key: fmt.Sprint("c", i), created: 5000}
		if i > 0 {
			l.kind, l.names = kind, fmt.Sprint("c", i-1)
		}
		out = append(out, l)
	}
	slices.Reverse(out)
	return out
}

// Lines that name each other in a circle are rejected, and so are those that lead there. The
// others do not pay for it.
func TestLink_Circle(t *testing.T) {
	for name, kind := range map[string]uint8{"Answers": isReply, "Reposts": isRepost} {
		t.Run(name, func(t *testing.T) {
			file := flat(1000)
			for _, l := range [][2]string{{"to", "x"}, {"x", "y"}, {"y", "z"}, {"z", "x"}, {"to to", "to"}, {"p", "q"}, {"q", "p"}} {
				file = append(file, simple{kind, l[0], l[1], 5000})
			}
			out, rejects, reads := linkAll(t, file)
			for i, h := range out {
				if good := i < 1000; good != (h.State == isGood) {
					t.Errorf("line %d: state %d", i+1, h.State)
				}
			}
			for _, want := range []string{"line 1001: line 1002, which it names, is rejected", "line 1002: it names itself in a circle", "line 1003: it names itself in a circle",
				"line 1004: it names itself in a circle", "line 1005: line 1001, which it names, is rejected", "line 1006: it names itself in a circle", "line 1007: it names itself in a circle"} {
				if !strings.Contains(rejects, want) {
					t.Errorf("rejects are\n%s\nwant %q", rejects, want)
				}
			}
			if reads > mostReads*len(file) {
				t.Errorf("%d reads for %d lines, want %d a line at most", reads, len(file), mostReads)
			}
		})
	}
}

// Lines of one time that each answer the one before are brought in order, as far as they may
// be moved.
func TestLink_Chain(t *testing.T) {
	const n = 3000
	for _, name := range []string{"LastFirst", "FirstFirst"} {
		t.Run(name, func(t *testing.T) {
			file := chain(n, isReply)
			if name == "FirstFirst" {
				slices.Reverse(file)
			}
			file = append(file, flat(n)...)
			out, rejects, reads := linkAll(t, file)
			good := 0
			for i, h := range out {
				if file[i].key[0] != 'c' {
					continue
				}
				switch {
				case h.State == isGood:
					good++
					if h.Kind == isReply && (file[h.Target-1].key != file[i].names || h.At != out[h.Target-1].At+1) {
						t.Errorf("%s is at %d behind %s at %d", file[i].key, h.At, file[h.Target-1].key, out[h.Target-1].At)
					}
				case h.State != isRejected:
					t.Errorf("%s has state %d", file[i].key, h.State)
				}
			}
			if good != maxMoved+1 || strings.Count(rejects, "too many lines at its time name each other") != 1 {
				t.Errorf("%d lines are good, want %d; rejects begin %.200s", good, maxMoved+1, rejects)
			}
			if reads > mostReads*len(file) {
				t.Errorf("%d reads for %d lines, want %d a line at most", reads, len(file), mostReads)
			}
		})
	}
}

// Who reposts a repost reposts what it shows, however many are between.
func TestLink_Reposts(t *testing.T) {
	file := chain(3000, isRepost)
	out, rejects, reads := linkAll(t, file)
	for i, h := range out[:len(out)-1] {
		if h.State != isGood || h.Target != int64(len(out)) || h.At != 5001 {
			t.Fatalf("%s: state %d, target %d, at %d; rejects %.200s", file[i].key, h.State, h.Target, h.At, rejects)
		}
	}
	if reads > mostReads*len(file) {
		t.Errorf("%d reads for %d lines, want %d a line at most", reads, len(file), mostReads)
	}
}

// plainLink is link in memory, by recursion.
type plainLink struct {
	all   []simple
	first map[string]int // the line of a key
	done  []*header      // nil: not begun
}

func (p *plainLink) line(i int) *header {
	if h := p.done[i]; h != nil {
		return h
	}
	l := p.all[i]
	h := &header{State: isRejected, At: l.created} // until it is done: that is a circle
	p.done[i] = h
	if f := p.first[l.key]; f != i {
		if p.all[f].created == l.created {
			h.State = isRepeat
		}
		return h
	}
	if l.kind == isPost {
		h.State = isGood
		return h
	}
	to, ok := p.first[l.names]
	if !ok || p.line(to).State != isGood {
		return h
	}
	if p.all[to].kind == isRepost {
		to = int(p.done[to].Target) - 1
	}
	if l.created >= p.all[to].created {
		h.State, h.Target, h.At = isGood, int64(to+1), max(l.created, p.done[to].At+1)
	}
	return h
}

// Small files at random, of lines that are crowded in time and keys, are linked as a plain
// version links them.
func TestLink_Random(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 2 + r.IntN(40)
		p := plainLink{first: map[string]int{}, done: make([]*header, n)}
		for i := range n {
			l := simple{kind: uint8(r.IntN(3)), key: fmt.Sprint(r.IntN(2 * n)), created: int64(1 + r.IntN(1+r.IntN(3)))}
			for l.kind != isPost && (l.names == "" || l.names == l.key) {
				l.names = fmt.Sprint(r.IntN(2 * n))
				if i > 0 && r.IntN(4) > 0 {
					l.names = p.all[r.IntN(i)].key
				}
			}
			if _, ok := p.first[l.key]; !ok {
				p.first[l.key] = i
			}
			p.all = append(p.all, l)
		}
		p.all = append(p.all, simple{key: "one that is good", created: 1})
		p.first["one that is good"], p.done = n, append(p.done, nil)
		out, rejects, _ := linkAll(t, p.all)
		for i, got := range out {
			want := p.line(i)
			if got.State != want.State || got.State == isGood && (got.Target != want.Target || got.At != want.At) {
				t.Fatalf("%+v\nline %d: state %d, target %d, at %d, want %d, %d, %d\n%s", p.all, i+1, got.State, got.Target, got.At, want.State, want.Target, want.At, rejects)
			}
		}
	}
}
