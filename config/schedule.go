package config

import (
	"encoding"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is when a job runs, in UTC: five fields of a cron expression, six with
// seconds first, or a word such as @daily. The zero Schedule, written off, is never.
type Schedule struct {
	text  string
	ticks cron.Schedule
}

var _ encoding.TextUnmarshaler = (*Schedule)(nil)

var cronParser = cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// UnmarshalText reads a schedule. @every and time zones are refused: all processes
// must find the same ticks.
func (s *Schedule) UnmarshalText(text []byte) error {
	expression := strings.TrimSpace(string(text))
	if expression == "" || expression == "off" {
		*s = Schedule{}
		return nil
	}
	if strings.HasPrefix(expression, "@every") || strings.Contains(expression, "TZ=") {
		return fmt.Errorf("%q has @every or a time zone: give it five fields, in UTC", expression)
	}
	ticks, err := cronParser.Parse(expression)
	if err != nil {
		return fmt.Errorf("%q is not a cron expression: %w", expression, err)
	}
	if ticks.Next(time.Now().UTC()).IsZero() {
		return fmt.Errorf("%q names a time that never comes", expression)
	}
	*s = Schedule{expression, ticks}
	return nil
}

// String returns the expression, or off.
func (s Schedule) String() string {
	if s.ticks == nil {
		return "off"
	}
	return s.text
}

// Next returns the first tick after t, zero for none.
func (s Schedule) Next(t time.Time) time.Time {
	if s.ticks == nil {
		return time.Time{}
	}
	return s.ticks.Next(t.UTC())
}
