package core

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"testing"

	"kith/app"
)

// FuzzReadQuery compares readQuery with the standard library: what both take
// they read alike.
func FuzzReadQuery(f *testing.F) {
	for _, s := range []string{"", "a", "a=1&b=2&a=3", "id[]=1&id%5B%5D=2&id[0]=3", "a=%zz", "a=%ff", "a=b+c%20d", "&&=&=x&a==", "a=é", "a;b=1", "a[=1&]=2&a]=3&[]=4&a[b]=5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := readQuery(raw)
		want, wantErr := url.ParseQuery(raw)
		if err != nil || wantErr != nil {
			return
		}
		merged := map[string]int{}
		for name, texts := range want {
			merged[plainName(name)] += len(texts)
		}
		count := map[string]int{}
		for _, one := range got {
			count[one.name]++
		}
		if !reflect.DeepEqual(count, merged) {
			t.Fatalf("%q: got %v, want %v", raw, count, merged)
		}
	})
}

func TestValues(t *testing.T) {
	const query = "id[]=1&id%5B%5D=2&id[03]=3&id=4&name=first&name=last&a%5Bb%5D=5&empty=&x+y=%C3%A9+"
	v, err := readQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	c := &Call{Request: httptest.NewRequest(http.MethodGet, "/?"+query, nil)}
	if ids, err := c.IDs(4); err != nil || !reflect.DeepEqual(ids, []uint64{1, 2, 3, 4}) {
		t.Errorf("got %v, %v", ids, err)
	}
	if _, err := c.IDs(3); err == nil {
		t.Error("more ids than allowed: got no error")
	}
	for name, want := range map[string]string{"name": "last", "a[b]": "5", "a": "", "x y": "é ", "none": ""} {
		if got := v.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if texts, given, err := v.All("empty"); texts != nil || !given || err != nil {
		t.Errorf("got %v, %v; want an empty array", texts, given)
	}
}

func TestParseID(t *testing.T) {
	for s, want := range map[string]uint64{
		"1": 1, "9223372036854775807": 1<<63 - 1, "": 0, "0": 0, "01": 0, "+1": 0, "-1": 0, "1_0": 0, "0x1": 0, "1 ": 0,
		"9223372036854775808": 0, "18446744073709551616": 0, "１": 0,
	} {
		if got, ok := ParseID(s); ok != (want > 0) || ok && got != want {
			t.Errorf("%q: got %d, %v; want %d", s, got, ok, want)
		}
	}
}

// FuzzBody feeds junk to the readers of bodies: they may refuse, not panic.
func FuzzBody(f *testing.F) {
	f.Add("application/json", []byte(`{"a":[1,{"b":null},"x"]}`))
	f.Add("multipart/form-data; boundary=x", []byte("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n"))
	f.Add("application/x-www-form-urlencoded", []byte("a=1&%"))
	f.Add("application/x-www-form-urlencoded", []byte("a[][b]=1&a[0][b]=2&a[=3&a[][b]=&a[]]=&a[][=&a[0]["))
	f.Add("application/json", []byte(`{"a":[{"b":{"c":[{}]}},{},[[]],null],"a[]":{"":1},"a[0][b]":2}`))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		v, err := readBody(kind, body)
		if err != nil {
			if why := refusalOf(err); why.Status >= 500 || why.Sentence == "" {
				t.Fatalf("got %d %q for %v", why.Status, why.Sentence, err)
			}
		}
		_, _ = v.Limit(UsualAccounts)
		_, _ = v.Flag("a")
		_, _ = v.Number("a")
		objects, err := v.Objects("a")
		if err == nil && len(objects) > len(v) {
			t.Fatalf("got %d objects of %d values", len(objects), len(v))
		}
		for _, o := range objects {
			if len(o) == 0 {
				t.Fatal("got an object without fields")
			}
		}
	})
}

// Of since_id and min_id the second wins; what is no id is refused, and which is named.
func TestValues_Range(t *testing.T) {
	for query, want := range map[string]app.IDRange{
		"": {Limit: 20}, "limit=99&max_id=7": {Limit: 40, Before: 7}, "since_id=3": {Limit: 20, After: 3},
		"since_id=3&min_id=5": {Limit: 20, After: 5, Oldest: true}, "min_id=0": {Limit: 20, Oldest: true}, "max_id=0": {Limit: 20},
	} {
		v, err := readQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := v.Range(UsualPosts); err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", query, got, err, want)
		}
	}
	for query, want := range map[string]string{"max_id=x": "max_id must be an id", "min_id=-1&max_id=2": "min_id must be an id", "since_id=9223372036854775808": "since_id must be an id"} {
		v, err := readQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Range(UsualPosts); err == nil || refusalOf(err).Sentence != want {
			t.Errorf("%s: got %v, want %s", query, err, want)
		}
	}
}
