package config

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/joho/godotenv"
)

// File is the path of a settings file. As a flag of a kong program it gives
// the file's values to flags that neither the command line nor the
// environment sets.
type File string

// BeforeResolve reads the file. kong calls it once the path is known.
func (File) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	path := string(ctx.FlagValue(trace.Flag).(File))
	if path == "" {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("KITH_CONFIG (--config): %w", err)
	}
	defer file.Close()
	values, err := Read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	ctx.AddResolver(resolver(values))
	return nil
}

// resolver gives kong values by name, those of a file for instance.
type resolver map[string]string

var _ kong.Resolver = resolver(nil)

// Validate has nothing to check: Read did.
func (resolver) Validate(*kong.Application) error { return nil }

// Resolve returns the value of a flag. kong puts a resolver above the environment;
// this one leaves to the environment what that sets.
func (r resolver) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil
		}
		if value, ok := r[name]; ok {
			return value, nil
		}
	}
	return nil, nil
}

// Defaults gives a kong program values, by name, for the flags that neither the command
// line nor the environment nor a settings file sets.
func Defaults(values map[string]string) kong.Option { return kong.Resolvers(resolver(values)) }

// Shared returns, by name, the settings with which another command works as this
// server does: the database, the cache, the tokens, the bounds of lists, the jobs. The
// secrets are among them. What each process has for itself is left out: addresses and
// the log.
func (s Settings) Shared() map[string]string {
	out := map[string]string{}
	for _, section := range []any{s.MySQL, s.Cache, s.Token, s.Relation, s.Home, s.Affinity, s.Cron} {
		for field, v := range reflect.ValueOf(section).Fields() {
			text := fmt.Sprint(v)
			switch value := v.Interface().(type) {
			case interface{ Reveal() string }:
				text = value.Reveal()
			case []string:
				text = strings.Join(value, ",")
			}
			// An empty value differs from the default only where there is one.
			if text != "" || field.Tag.Get("default") != "" {
				out[field.Tag.Get("env")] = text
			}
		}
	}
	return out
}

var (
	lineRE = regexp.MustCompile(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$`)

	errNoLine = errors.New("is not NAME=value")
	errDollar = errors.New("has a $, which other readers of this file would replace: put the value in single quotes")
	errValue  = errors.New("has a value whose quotes do not end")
	errTwice  = errors.New("is set twice")
)

// Read reads the settings in r: NAME=value lines, empty lines and # comments.
// A value may stand in quotes; nothing in it is replaced. Errors give the line
// and the name, never the value.
func Read(r io.Reader) (map[string]string, error) {
	values := map[string]string{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		name, value, err := readLine(lines.Text())
		if _, known := flagOf(name); err == nil && strings.HasPrefix(name, "KITH_") && !known {
			err = unknown(name)
		}
		if _, twice := values[name]; err == nil && twice {
			err = fmt.Errorf("%s %w", name, errTwice)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if name != "" {
			values[name] = value
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return values, nil
}

// readLine reads one line; a line without a setting has no name. godotenv
// sees one line at a time, so that a forgotten quote does not swallow the
// lines that follow, and its errors, which quote the text, stay here.
func readLine(line string) (name, value string, err error) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", "", nil
	}
	parts := lineRE.FindStringSubmatch(line)
	if parts == nil {
		return "", "", errNoLine
	}
	name, raw := parts[1], parts[2]
	if strings.Contains(raw, "$") && !strings.HasPrefix(raw, "'") {
		return "", "", fmt.Errorf("%s %w", name, errDollar)
	}
	read, err := godotenv.Unmarshal(line)
	if err != nil {
		return "", "", fmt.Errorf("%s %w", name, errValue)
	}
	return name, read[name], nil
}
