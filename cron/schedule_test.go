package cron_test

import (
	"testing"
	"time"

	"kith/cron"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	moment, err := time.Parse(time.DateTime, text)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

func TestSchedule(t *testing.T) {
	for _, c := range []struct{ text, now, last, next string }{
		{"*/5 * * * *", "2024-02-29 12:03:10", "2024-02-29 12:00:00", "2024-02-29 12:05:00"},
		{"*/5 * * * *", "2024-02-29 12:05:00", "2024-02-29 12:05:00", "2024-02-29 12:10:00"},
		{"* * * * * *", "2024-02-29 12:03:10", "2024-02-29 12:03:10", "2024-02-29 12:03:11"},
		{"30 3 * * *", "2024-02-29 03:29:59", "2024-02-28 03:30:00", "2024-02-29 03:30:00"},
		{"0 2 * * 0", "2024-03-01 00:00:00", "2024-02-25 02:00:00", "2024-03-03 02:00:00"},
		{"@monthly", "2024-03-31 23:00:00", "2024-03-01 00:00:00", "2024-04-01 00:00:00"},
		{"0 0 1 1 *", "2024-12-31 00:00:00", "2024-01-01 00:00:00", "2025-01-01 00:00:00"},
		{"0 0 29 2 *", "2024-02-28 00:00:00", "2020-02-29 00:00:00", "2024-02-29 00:00:00"},
	} {
		s, err := cron.ParseSchedule(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Last(at(t, c.now)); !got.Equal(at(t, c.last)) {
			t.Errorf("%s: the last before %s is %v, want %s", s, c.now, got, c.last)
		}
		if got := s.Next(at(t, c.now)); !got.Equal(at(t, c.next)) {
			t.Errorf("%s: the next after %s is %v, want %s", s, c.now, got, c.next)
		}
	}
}

func TestParseSchedule(t *testing.T) {
	for _, off := range []string{"", " ", "off"} {
		if s, err := cron.ParseSchedule(off); err != nil || !s.Off() || s.String() != "off" || !s.Next(time.Now()).IsZero() || !s.Last(time.Now()).IsZero() {
			t.Errorf("%q: %v, %v, want off", off, s, err)
		}
	}
	for _, bad := range []string{"often", "@every 5m", "TZ=UTC * * * * *", "0 0 31 2 *", "* * * *"} {
		if s, err := cron.ParseSchedule(bad); err == nil {
			t.Errorf("%q became %v", bad, s)
		}
	}
}
