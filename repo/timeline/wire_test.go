package timeline

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"kith/repo/event"
)

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// The bytes of version 1 must stay readable.
func TestWire_Golden(t *testing.T) {
	list := must(event.AppendList(nil, posts(5)))
	pushed := event.AppendRecord(nil, post(6))
	hot := filled(posts(5))
	hot.RowVer = 9
	for name, c := range map[string]struct {
		text string
		want Line
	}{
		"line": {"42" + "1122334455667788" + "30" + "fba0f1c2b134" + "0000000000000005" + "8000000000000000" + "0000000000000009" + "03" + "03" + "06" + "f7ffffffff1f" + hex.EncodeToString(list),
			hot},
		"pushed": {"42" + "1122334455667788" + "1d" + "00" + "0000000000000000" + "0000000000000000" + "0000000000000000" + "00" + "210000" + hex.EncodeToString(pushed),
			Line{Events: posts(6), BuiltAt: time.UnixMilli(0).UTC(), Appended: 1}},
	} {
		b, err := hex.DecodeString(c.text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok, err := unpack(b, 0x1122334455667788)
		if !ok || err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, %v, %v\nwant %+v", name, got, ok, err, c.want)
		}
		if got.Appended = 0; name == "line" && !bytes.Equal(must(pack(0x1122334455667788, got)), b) {
			t.Errorf("%s: packed %x\nwant   %x", name, must(pack(0x1122334455667788, got)), b)
		}
	}
	if got, want := hex.EncodeToString(empty(0x1122334455667788)), "42"+"1122334455667788"+"00"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Every beginning of a good item is bad, or a line without the last records.
func TestWire_Bad(t *testing.T) {
	base := must(pack(7, filled(posts(5, 4, 1))))
	whole := event.AppendRecord(event.AppendRecord(slices.Clone(base), post(6)), post(7))
	for n := range whole {
		l, ok, err := unpack(whole[:n], 7)
		if good := n == len(base) || n == (len(base)+len(whole))/2; good != (err == nil && ok) || !ok && len(l.Events) > 0 {
			t.Errorf("cut to %d of %d bytes: got %v, %v, %v", n, len(whole), l.Events, ok, err)
		}
	}
	body := func(change func(b []byte) []byte) []byte {
		b := change(slices.Clone(base[headBytes+1:]))
		return append(binary.AppendUvarint(slices.Clone(base[:headBytes]), uint64(len(b))), b...)
	}
	for name, b := range map[string][]byte{
		"version":          append([]byte{0x41}, base[1:]...),
		"behind":           append(slices.Clone(base), 0),
		"in the base":      body(func(b []byte) []byte { return append(b, 0) }),
		"no list":          body(func(b []byte) []byte { return b[:34] }),
		"many are pulled":  body(func(b []byte) []byte { return slices.Concat(b[:30], []byte{0xff, 0x7f}, b[31:]) }),
		"endless length":   append(slices.Clone(base[:headBytes]), bytes.Repeat([]byte{0xff}, 20)...),
		"length past ends": append(slices.Clone(base[:headBytes]), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
	} {
		if l, ok, err := unpack(b, 7); err == nil || ok || len(l.Events) > 0 {
			t.Errorf("%s: got %+v, %v, %v, want an error", name, l, ok, err)
		}
	}
	if _, ok, err := unpack(base, 8); ok || err != nil {
		t.Errorf("of another nonce: got %v, %v, want no line and no error", ok, err)
	}
}

// TestMerge compares with the plain slow way.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var events, pushed, all []event.Event
		floor := post(r.IntN(20)).ID
		for n := 29; n >= 0; n-- {
			e, in := post(n), false
			if r.IntN(3) == 0 {
				events, in = append(events, e), true
			}
			for range r.IntN(3) {
				pushed, in = append(pushed, e), true
			}
			if in && e.ID >= floor {
				all = append(all, e)
			}
		}
		r.Shuffle(len(pushed), func(i, j int) { pushed[i], pushed[j] = pushed[j], pushed[i] })
		if got := (Line{Events: slices.Clone(events), Floor: floor}).Add(slices.Clone(pushed)).Events; !slices.Equal(got, all) {
			t.Fatalf("%v and %v from %d on: got %v, want %v", events, pushed, floor, got, all)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(must(pack(7, filled(posts(5, 4, 1)))))
	f.Add(event.AppendRecord(must(pack(7, Line{BuiltAt: time.UnixMilli(9)})), post(6)))
	f.Add(empty(7))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, ok, err := unpack(b, 7)
		l = l.Whole()
		if err != nil || !ok || len(l.Events) > MaxEvents {
			return
		}
		again, ok, err := unpack(must(pack(7, l)), 7)
		again = again.Whole()
		if l.Appended = 0; !ok || err != nil || !reflect.DeepEqual(again, l) {
			t.Fatalf("got %+v, %v, %v\nwant %+v", again, ok, err, l)
		}
	})
}

// Of a long line the newest events are read at first. Where one that was pushed belongs
// behind these, all are. Where the others cannot be read, the line ends.
func TestLine_Whole(t *testing.T) {
	all := make([]event.Event, 3*NewestEvents)
	for i := range all {
		all[i] = post(2 * (len(all) - i))
	}
	b := must(pack(7, filled(all)))
	read := func(b []byte) Line {
		l, ok, err := unpack(b, 7)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		return l
	}
	l := read(b)
	if whole := l.Whole(); !l.Partial() || !slices.Equal(l.Events, all[:NewestEvents]) || whole.Partial() || !slices.Equal(whole.Events, all) {
		t.Errorf("%d events, partial %t, and whole %d", len(l.Events), l.Partial(), len(whole.Events))
	}
	if cut := l.Cut(NewestEvents + 1); !slices.Equal(cut.Events, all[:NewestEvents+1]) || cut.Floor != all[NewestEvents].ID {
		t.Errorf("cut: %d events from %d on", len(cut.Events), cut.Floor)
	}
	newer := post(2*len(all) + 1)
	if l := read(event.AppendRecord(slices.Clone(b), newer)); !l.Partial() || !slices.Equal(l.Whole().Events, append([]event.Event{newer}, all...)) {
		t.Errorf("a new one: %d events, partial %t", len(l.Events), l.Partial())
	}
	late := post(2*(len(all)-2*NewestEvents) + 1)
	if l := read(event.AppendRecord(slices.Clone(b), late)); l.Partial() || !slices.Contains(l.Events, late) || len(l.Events) != len(all)+1 {
		t.Errorf("a late one: %d events, partial %t", len(l.Events), l.Partial())
	}
	b[len(b)-1] ^= 0xff
	l = read(b)
	if whole := l.Whole(); whole.Partial() || !slices.Equal(whole.Events, l.Events) || whole.Floor != l.Events[len(l.Events)-1].ID {
		t.Errorf("bad bytes: %d events from %d on", len(whole.Events), whole.Floor)
	}
}
