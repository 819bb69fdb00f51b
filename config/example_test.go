package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write kith.example.env from the code")

func TestExample(t *testing.T) {
	want := makeExample()
	if *update {
		if err := os.WriteFile("kith.example.env", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("kith.example.env")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("kith.example.env differs from the code: run go test ./config -update\n%s", firstDifference(string(got), want))
	}
}

// With every setting uncommented the example is a file that kith reads, and
// its values are the defaults.
func TestExample_Readable(t *testing.T) {
	text, err := os.ReadFile("kith.example.env")
	if err != nil {
		t.Fatal(err)
	}
	values, err := Read(strings.NewReader(strings.ReplaceAll(string(text), "\n#KITH_", "\nKITH_")))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for s := range settings() {
		n++
		if got, ok := values[s.name]; !ok || got != s.value {
			t.Errorf("%s is %q (there: %v), want the default %q", s.name, got, ok, s.value)
		}
	}
	if len(values) != n {
		t.Errorf("the example has %d settings, the code %d", len(values), n)
	}
}

func TestSettings_Described(t *testing.T) {
	for s := range settings() {
		if s.name == "" || s.flag == "" || s.group == "" || len(s.help) < 40 || !strings.HasSuffix(s.help, ".") {
			t.Errorf("%+v: wants a group, a flag, a name and a help of full sentences", s)
		}
		if !strings.HasPrefix(s.name, "KITH_") || strings.ContainsAny(s.help, "\"\n") {
			t.Errorf("%s: a name begins with KITH_, a help is one line without quotes", s.name)
		}
	}
}

func firstDifference(got, want string) string {
	wants := strings.Split(want, "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(wants) || line != wants[i] {
			return fmt.Sprintf("line %d: %q", i+1, line)
		}
	}
	return "it is shorter"
}

const exampleHead = `# Settings of kith, with their defaults. Copy this file, take the # away before
# what you change, and start with ` + "`kith serve --config FILE`" + `; systemd reads it as
# EnvironmentFile, Docker as env_file. Flags and the environment stand above it.
# A value with $ or # in it goes in single quotes.
`

// exampleWidth is how long the lines of the example file get.
const exampleWidth = 96

// makeExample writes the example file from the tags of Settings.
func makeExample() string {
	var out strings.Builder
	out.WriteString(exampleHead)
	group := ""
	for s := range settings() {
		if s.group != group {
			group = s.group
			fmt.Fprintf(&out, "\n# ---- %s ----\n", group)
		}
		out.WriteString("\n")
		for _, line := range wrap(s.help, exampleWidth-2) {
			out.WriteString("# " + line + "\n")
		}
		fmt.Fprintf(&out, "#%s=%s\n", s.name, s.value)
	}
	return out.String()
}

// wrap breaks text at spaces into lines of at most width bytes, where it can.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
