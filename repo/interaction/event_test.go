package interaction

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kith/repo"
	"kith/repo/list"
)

// ids gives ids in order.
func ids() func() uint64 {
	last := uint64(0)
	return func() uint64 { last++; return last }
}

func TestBatches_RoundTrip(t *testing.T) {
	kinds := []string{"follow", "visit", "message", "x"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		events := make([]Event, 1+r.IntN(3000))
		for i := range events {
			events[i] = Event{Actor: 1 + r.Uint64N(5000), Target: 1 + r.Uint64N(list.MaxID), Kind: kinds[r.IntN(4)], At: r.Uint32()}
		}
		var got []Event
		for _, b := range Batches(events, ids()) {
			some, err := b.Decode()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range some {
				if repo.Bucket(e.Actor) != b.Bucket {
					t.Fatalf("%d lies in bucket %d", e.Actor, b.Bucket)
				}
			}
			if len(some) > MaxEvents {
				t.Fatalf("%d events in a batch", len(some))
			}
			got = append(got, some...)
		}
		sortEvents(got)
		sortEvents(events)
		if !slices.Equal(got, events) {
			t.Fatalf("got %d events back of %d, or others", len(got), len(events))
		}
	}
}

func sortEvents(e []Event) {
	slices.SortFunc(e, func(a, b Event) int {
		return bytes.Compare(encodeOne(a), encodeOne(b))
	})
}

func encodeOne(e Event) []byte { return append(encode([]Event{e}), byte(e.Actor), byte(e.Actor>>8)) }

func TestBatches_Extremes(t *testing.T) {
	events := []Event{
		{Actor: list.MaxID, Target: 1, Kind: "visit", At: math.MaxUint32},
		{Actor: list.MaxID, Target: list.MaxID, Kind: "visit", At: 0},
	}
	batches := Batches(events, ids())
	if len(batches) != 1 || batches[0].Bucket != 1023 {
		t.Fatalf("got %+v", batches)
	}
	if got, err := batches[0].Decode(); err != nil || !slices.Equal(got, events) {
		t.Fatalf("got %v, %v", got, err)
	}
	if got := Batches(nil, ids()); len(got) != 0 {
		t.Fatalf("got %v of nothing", got)
	}
}

// The bytes of version 1 must stay readable.
func TestDecode_Golden(t *testing.T) {
	const text = "01" + "02" + "05" + "7669736974" + "06" + "666f6c6c6f77" + "03" + "6a000000" +
		"00" + "01" + "07" + "00" + "01" + "00" + "ac02" + "0a" + "00" + "02" + "09" + "05"
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{
		{Actor: 1024 + 5, Target: 7, Kind: "visit", At: 0x6a000000},
		{Actor: 1024 + 5, Target: 300, Kind: "follow", At: 0x6a00000a},
		{Actor: 3*1024 + 5, Target: 9, Kind: "visit", At: 0x6a000005},
	}
	b := Batch{Bucket: 5, N: 3, Events: raw}
	if got, err := b.Decode(); err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %v, %v, want %v", got, err, want)
	}
	if got := encode(want); !bytes.Equal(got, raw) {
		t.Fatalf("got %x, want %x", got, raw)
	}
}

func TestDecode_Bad(t *testing.T) {
	good := Batches([]Event{{Actor: 5, Target: 7, Kind: "visit", At: 9}, {Actor: 5, Target: 8, Kind: "follow", At: 10}}, ids())[0]
	for cut := range good.Events {
		b := good
		b.Events = good.Events[:cut]
		if _, err := b.Decode(); !errors.Is(err, ErrFormat) {
			t.Errorf("cut to %d bytes: got %v", cut, err)
		}
	}
	for name, b := range map[string]Batch{
		"longer":       {Bucket: 5, N: 2, Events: append(slices.Clone(good.Events), 0)},
		"other number": {Bucket: 5, N: 3, Events: good.Events},
		"version":      {Bucket: 5, N: 2, Events: append([]byte{2}, good.Events[1:]...)},
		"empty":        {},
		"bucket":       {Bucket: 1024, N: 2, Events: good.Events},
	} {
		if _, err := b.Decode(); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	zero := Batch{Bucket: 0, N: 1, Events: encode([]Event{{Actor: 1024, Target: 1, Kind: "x", At: 1}})}
	if _, err := zero.Decode(); err != nil {
		t.Error(err)
	}
	zero.Events = encode([]Event{{Actor: 1024, Target: 0, Kind: "x", At: 1}})
	if _, err := zero.Decode(); !errors.Is(err, ErrFormat) {
		t.Errorf("target 0: got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(uint16(5), uint32(2), Batches([]Event{{Actor: 5, Target: 7, Kind: "visit", At: 9}, {Actor: 5, Target: 8, Kind: "follow", At: 10}}, ids())[0].Events)
	f.Add(uint16(0), uint32(0), []byte{formatVersion})
	f.Fuzz(func(t *testing.T, bucket uint16, n uint32, raw []byte) {
		b := Batch{Bucket: bucket % repo.Buckets, N: n, Events: raw}
		events, err := b.Decode()
		if err != nil || len(events) == 0 || len(events) > MaxEvents {
			return
		}
		again := Batches(events, ids())
		if len(again) != 1 {
			t.Fatalf("%d batches of one", len(again))
		}
		if got, err := again[0].Decode(); err != nil || !slices.Equal(got, events) {
			t.Fatalf("got %v, %v, want %v", got, err, events)
		}
	})
}

func TestValidKind(t *testing.T) {
	for kind, want := range map[string]bool{"visit": true, "a_1": true, "": false, "Visit": false, "a b": false, "é": false,
		"01234567890123456789012345678901": true, "012345678901234567890123456789012": false} {
		if got := ValidKind(kind); got != want {
			t.Errorf("%q: got %v", kind, got)
		}
	}
}

func TestNewID_Order(t *testing.T) {
	a, b := NewID(1000, math.MaxUint64), NewID(1001, 0)
	if a >= b || FirstID(1000) > a || FirstID(1001) != b {
		t.Errorf("got %d, %d", a, b)
	}
	last := time.Date(2109, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	if a, b := NewID(last, math.MaxUint64), NewID(last+1, 0); a >= b {
		t.Errorf("got %d, %d at the end of time", a, b)
	}
}
