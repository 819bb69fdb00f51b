package cron

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule says when a job runs, in UTC. The zero Schedule is never.
type Schedule struct {
	text  string
	times cron.Schedule
}

// parser reads five fields, or six with seconds first, or a word such as @daily.
var parser = cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// ParseSchedule reads a cron expression; empty or "off" is never. @every and
// time zones are refused: all processes must find the same ticks.
func ParseSchedule(text string) (Schedule, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "off" {
		return Schedule{}, nil
	}
	if strings.HasPrefix(text, "@every") || strings.Contains(text, "TZ=") {
		return Schedule{}, fmt.Errorf("%q has @every or a time zone: give it five fields, in UTC", text)
	}
	times, err := parser.Parse(text)
	if err != nil {
		return Schedule{}, fmt.Errorf("%q is not a cron expression: %w", text, err)
	}
	s := Schedule{text: text, times: times}
	if s.Next(time.Now()).IsZero() {
		return Schedule{}, fmt.Errorf("%q never comes", text)
	}
	return s, nil
}

// Off reports that it is never.
func (s Schedule) Off() bool { return s.times == nil }

// String returns the expression, or off.
func (s Schedule) String() string {
	if s.Off() {
		return "off"
	}
	return s.text
}

// Next returns the first tick after t, zero for none.
func (s Schedule) Next(t time.Time) time.Time {
	if s.Off() {
		return time.Time{}
	}
	return s.times.Next(t.UTC())
}

// lookBack is how far Last looks, nearest first, so that few ticks are stepped
// over however dense they are.
var lookBack = []time.Duration{time.Minute, time.Hour, 25 * time.Hour, 32 * 24 * time.Hour, 367 * 24 * time.Hour, 9 * 366 * 24 * time.Hour}

// Last returns the last tick not after t, zero for none.
func (s Schedule) Last(t time.Time) time.Time {
	for _, back := range lookBack {
		last := s.Next(t.Add(-back))
		if last.IsZero() || last.After(t) {
			continue
		}
		for next := s.Next(last); !next.IsZero() && !next.After(t); next = s.Next(next) {
			last = next
		}
		return last
	}
	return time.Time{}
}
