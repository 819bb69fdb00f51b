package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// version is set by the Makefile; a plain go build leaves it to the build info.
var version string

type versionCmd struct{}

// Run prints the version, what it was built from and with.
func (versionCmd) Run() error {
	fmt.Println(versionLine())
	return nil
}

func versionLine() string {
	words := []string{"kith", versionName()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return strings.Join(words, " ")
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if revision := settings["vcs.revision"]; revision != "" {
		words = append(words, revision[:min(12, len(revision))], settings["vcs.time"])
	}
	if settings["vcs.modified"] == "true" {
		words = append(words, "(modified)")
	}
	return strings.Join(append(words, info.GoVersion, settings["GOOS"]+"/"+settings["GOARCH"]), " ")
}

// buildInfo is the metric kith_build_info.
func buildInfo() prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{Name: "kith_build_info", Help: "1, with what this program is in its labels.",
		ConstLabels: prometheus.Labels{"version": versionName(), "go": runtime.Version()}})
	info.Set(1)
	return info
}

// versionName is the version alone.
func versionName() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "0.0.0-dev"
}
