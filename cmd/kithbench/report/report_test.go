package report

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestRun_JSON(t *testing.T) {
	want := madeRun()
	want.Lines[0].Rounds[0].P50 = 1234567 * time.Nanosecond
	var b bytes.Buffer
	if err := want.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"p50_us": 1234.567`) {
		t.Error("got no p50 in microseconds")
	}
	got, err := ReadJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestReadJSON_Bad(t *testing.T) {
	for _, bad := range []string{"", "[]", `{"lines": [{"rounds": [{"ops": "many"}]}]}`} {
		if _, err := ReadJSON(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: got no error, want one", bad)
		}
	}
}

func TestReadMachine(t *testing.T) {
	m := ReadMachine(t.TempDir())
	if m.Cores < 1 || m.MemoryBytes < 1<<20 || m.Kernel == "" || m.OS == "" || m.Filesystem == "" {
		t.Errorf("got %+v, want every field but the CPU set", m)
	}
}
