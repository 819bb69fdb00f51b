package list_test

import (
	"errors"
	"testing"

	"kith/repo/list"
)

// The first bytes tell of every list, golden ones and bad ones, what Parse does.
func TestReadOutline(t *testing.T) {
	full := list.New()
	sections := []list.Section{list.Blocking, list.BlockedBy, list.Muting, list.Requests, list.Requested}
	for i, s := range sections {
		for id := range uint64(i + 1) {
			full.Put(s, 100+id, 1)
		}
	}
	for id := range uint64(300) {
		full.AddFollower(id+1, uint32(id))
	}
	full.AddFollowing(7, 9)
	full.AddFollowing(1000, 9)
	if _, err := full.SetOption(7, list.Option{Notify: true}); err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]*list.List{"empty": list.New(), "full": full} {
		b, err := l.Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := list.ReadOutline(b[:min(len(b), list.OutlineBytes)])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for s := list.Friends; s <= list.Options; s++ {
			if o.Len(s) != l.Len(s) || o.Has(s) != (l.Len(s) > 0) {
				t.Errorf("%s: %v has %d, want %d", name, s, o.Len(s), l.Len(s))
			}
		}
		there := 0
		for s := list.Friends; s <= list.Options; s++ {
			if o.Has(s) {
				there++
			}
		}
		for cut := range 4 + int(b[1]>>4)*there {
			if _, err := list.ReadOutline(b[:cut]); !errors.Is(err, list.ErrFormat) {
				t.Errorf("%s cut to %d bytes: %v, want ErrFormat", name, cut, err)
			}
		}
	}
	for _, bad := range []string{
		"", "\x01\x04\x00\x00", "\x03\x15\x00\x00", "\x03\x34\x00\x00", "\x03\x24\x00\x00", "\x03\x14\x80\x00",
		"\x03\x14\x00\x03\x00\x01\x00\x00\x00\x01", "\x03\x24\x00\x01\x00\x01\x00\x00\x00\x01",
	} {
		if _, err := list.ReadOutline([]byte(bad)); !errors.Is(err, list.ErrFormat) {
			t.Errorf("%q: %v, want ErrFormat", bad, err)
		}
	}
}
