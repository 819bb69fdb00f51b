package db_test

import (
	"slices"
	"testing"

	"kith/repo/db"
)

func TestKeys(t *testing.T) {
	in, args := db.Keys([]uint64{5, 1030})
	if want := []any{uint16(5), uint64(5), uint16(6), uint64(1030)}; in != "(?,?),(?,?)" || !slices.Equal(args, want) {
		t.Errorf("got %s, %v, want %v", in, args, want)
	}
	if in, args := db.Keys(nil); in != "" || len(args) != 0 {
		t.Errorf("got %q, %v of nothing", in, args)
	}
}
