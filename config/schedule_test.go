package config

import (
	"testing"
	"time"
)

func TestSchedule_Next(t *testing.T) {
	for _, c := range []struct{ text, now, next string }{
		{"*/5 * * * *", "2024-02-29 12:03:10", "2024-02-29 12:05:00"},
		{"*/5 * * * *", "2024-02-29 12:05:00", "2024-02-29 12:10:00"},
		{"* * * * * *", "2024-02-29 12:03:10", "2024-02-29 12:03:11"},
		{"30 3 * * *", "2024-02-29 03:29:59", "2024-02-29 03:30:00"},
		{"0 2 * * 0", "2024-03-01 00:00:00", "2024-03-03 02:00:00"},
		{"@monthly", "2024-03-31 23:00:00", "2024-04-01 00:00:00"},
		{"0 0 1 1 *", "2024-12-31 00:00:00", "2025-01-01 00:00:00"},
		{"0 0 29 2 *", "2024-02-28 00:00:00", "2024-02-29 00:00:00"},
	} {
		var s Schedule
		if err := s.UnmarshalText([]byte(c.text)); err != nil {
			t.Fatal(err)
		}
		now, err := time.Parse(time.DateTime, c.now)
		if err != nil {
			t.Fatal(err)
		}
		// Wherever the process is, ticks are moments of UTC.
		for _, zone := range []*time.Location{time.UTC, time.FixedZone("east", 5*3600+1800)} {
			if got := s.Next(now.In(zone)).UTC().Format(time.DateTime); got != c.next {
				t.Errorf("%s: the next after %s is %s, want %s", s, c.now, got, c.next)
			}
		}
	}
}

func TestSchedule_UnmarshalText(t *testing.T) {
	for _, off := range []string{"", " ", "off"} {
		var s Schedule
		if err := s.UnmarshalText([]byte(off)); err != nil || s.String() != "off" || !s.Next(time.Now()).IsZero() {
			t.Errorf("%q: %v, %v, want off", off, s, err)
		}
	}
	for _, bad := range []string{"often", "@every 5m", "TZ=UTC * * * * *", "0 0 31 2 *", "* * * *"} {
		var s Schedule
		if err := s.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q became %v", bad, s)
		}
	}
}
