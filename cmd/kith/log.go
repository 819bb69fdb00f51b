package main

import (
	"io"
	"log/slog"

	"kith/config"
)

// newLog makes the log that c asks for.
func newLog(w io.Writer, c config.Log) *slog.Logger {
	var level slog.Level
	// Validate let only levels through that slog knows.
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
