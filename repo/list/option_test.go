package list

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kith/repo"
)

func TestList_SetOption_Limits(t *testing.T) {
	codes := slices.Repeat([]string{strings.Repeat("x", MaxLanguage)}, MaxLanguages)
	cases := []struct {
		name     string
		o        Option
		ok       bool
		tooLarge bool
	}{
		{"longest", Option{Note: true, Languages: codes}, true, false},
		{"too many languages", Option{Languages: append(slices.Clone(codes), "de")}, false, true},
		{"code too long", Option{Languages: []string{strings.Repeat("x", MaxLanguage+1)}}, false, false},
		{"no code", Option{Languages: []string{""}}, false, false},
		{"comma", Option{Languages: []string{"de,en"}}, false, false},
		{"not ascii", Option{Languages: []string{"dé"}}, false, false},
		{"every kind", Option{Languages: []string{"aZ09-"}}, true, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := New()
			changed, err := l.SetOption(5, c.o)
			if changed != c.ok || (err == nil) != c.ok || errors.Is(err, repo.ErrTooLarge) != c.tooLarge {
				t.Fatalf("got changed %v, error %v, want ok %v, too large %v", changed, err, c.ok, c.tooLarge)
			}
			if err := c.o.Check(); (err == nil) != c.ok || errors.Is(err, repo.ErrTooLarge) != c.tooLarge {
				t.Fatalf("check: got %v, want ok %v, too large %v", err, c.ok, c.tooLarge)
			}
			if !c.ok {
				c.o = Option{}
			}
			got, _, err := view(t, l).Option(5)
			if err != nil || !reflect.DeepEqual(got, c.o) || !reflect.DeepEqual(l.Option(5), c.o) {
				t.Fatalf("got %+v, error %v, want %+v", got, err, c.o)
			}
		})
	}
}

func TestList_SetOption_Changed(t *testing.T) {
	l := New()
	for i, s := range []struct {
		o    Option
		want bool
	}{
		{Option{}, false},
		{Option{Languages: []string{}}, false},
		{Option{Notify: true, Languages: []string{"de", "en"}}, true},
		{Option{Notify: true, Languages: []string{"de", "en"}}, false},
		{Option{Notify: true, Languages: []string{"en", "de"}}, true},
		{Option{Notify: true}, true},
		{Option{MuteUntil: 7}, true},
		{Option{}, true},
		{Option{}, false},
	} {
		if got, err := l.SetOption(5, s.o); got != s.want || err != nil {
			t.Fatalf("step %d, %+v: got %v, error %v, want %v", i, s.o, got, err, s.want)
		}
	}
	if l.Len(Options) != 0 {
		t.Fatalf("got %d options, want none", l.Len(Options))
	}
}

// TestView_Options_Many asks for all of many options.
func TestView_Options_Many(t *testing.T) {
	l := New()
	for id := uint64(2); id < 1000; id += 2 {
		l.SetOption(id, Option{Note: true, MuteUntil: uint32(id)})
	}
	out, err := view(t, l).Options()
	if err != nil || len(out) != 499 {
		t.Fatalf("got %d options, error %v, want 499", len(out), err)
	}
	for id, o := range out {
		if !o.Note || o.MuteUntil != uint32(id) {
			t.Fatalf("option of %d: got %+v", id, o)
		}
	}
}
