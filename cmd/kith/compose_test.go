package main

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"kith/repo/dbtest"
	"kith/repo/memcachetest"
)

// composed is what compose.yaml says, as far as it concerns kith.
type composed struct {
	Services map[string]service
}

type service struct {
	Image       string
	Command     []string
	Environment map[string]string
	Ports       []string
	Healthcheck struct {
		Test    []string
		Disable bool
	}
	DependsOn map[string]struct{ Condition string } `yaml:"depends_on"`
}

var variable = regexp.MustCompile(`\$\{([A-Z_]+):([-?])([^}]*)\}`)

// readCompose reads compose.yaml as `docker compose` does with the token secret set
// and nothing else.
func readCompose(t *testing.T) composed {
	t.Helper()
	text, err := os.ReadFile("../../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c composed
	filled := variable.ReplaceAllStringFunc(string(text), func(v string) string {
		part := variable.FindStringSubmatch(v)
		if part[1] == "KITH_TOKEN_SECRET" && part[2] == "?" {
			return testSecret
		}
		return part[3]
	})
	if err := yaml.Unmarshal([]byte(filled), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// image is what the Dockerfile gives a service that does not say otherwise.
type image struct{ env, command, health []string }

func readDockerfile(t *testing.T) (out image) {
	t.Helper()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	words := func(line string) (list []string) {
		if err := json.Unmarshal([]byte(line[strings.Index(line, "["):]), &list); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return list
	}
	for line := range strings.Lines(string(text)) {
		switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "ENV":
			out.env = append(out.env, rest)
		case "CMD":
			out.command = words(line)
		case "HEALTHCHECK":
			out.health = words(line)
		}
	}
	return out
}

// fits checks that what one service knows of another is right.
func (c composed) fits(t *testing.T, img image) {
	t.Helper()
	var kiths []string
	for name, s := range c.Services {
		for other := range s.DependsOn {
			if _, ok := c.Services[other]; !ok {
				t.Errorf("%s waits for %s, which is no service", name, other)
			}
		}
		if s.Image == "kith" {
			kiths = append(kiths, name)
		}
	}
	if slices.Sort(kiths); !slices.Equal(kiths, []string{"cron", "kith", "migrate"}) {
		t.Fatalf("the services of kith are %q", kiths)
	}
	own := c.Services["mariadb"].Environment
	want := own["MARIADB_USER"] + ":" + own["MARIADB_PASSWORD"] + "@tcp(mariadb:3306)/" + own["MARIADB_DATABASE"]
	if got := c.Services["kith"].Environment["KITH_MYSQL_DSN"]; got != want {
		t.Errorf("kith connects to %s, and mariadb is %s", got, want)
	}
	if got := c.Services["kith"].Ports; !slices.Equal(got, []string{"127.0.0.1:8080:8080"}) || !slices.Contains(img.env, "KITH_LISTEN=:8080") {
		t.Errorf("the ports are %q, and the image has %q", got, img.env)
	}
}

// env is the environment of a service, with what stands here in place of its
// addresses, and more.
func (c composed) env(name string, img image, here map[string]string, more ...string) (out []string) {
	all := map[string]string{}
	for _, pair := range img.env {
		name, value, _ := strings.Cut(pair, "=")
		all[name] = value
	}
	maps.Copy(all, c.Services[name].Environment)
	for name, value := range all {
		if strings.HasSuffix(name, "_LISTEN") {
			value = "127.0.0.1:0"
		}
		if instead, ok := here[name]; ok {
			value = instead
		}
		out = append(out, name+"="+value)
	}
	return append(out, more...)
}

// TestCompose runs the services of compose.yaml without containers: each with its
// command, its environment and its health check, on the servers of the tests.
func TestCompose(t *testing.T) {
	c, img, dsn, dir := readCompose(t), readDockerfile(t), dbtest.FreshDSN(t), t.TempDir()
	here := map[string]string{"KITH_MYSQL_DSN": dsn, "KITH_MEMCACHED": memcachetest.Addr(t)}
	c.fits(t, img)
	env := func(name string, more ...string) []string { return c.env(name, img, here, more...) }
	runKith(t, dir, env("migrate"), nil, c.Services["migrate"].Command...).wants(t)
	for name, at := range map[string]struct{ words, setting string }{
		"kith": {"msg=serving address=", "KITH_LISTEN="}, "cron": {"msg=admin address=", "KITH_ADMIN_LISTEN="},
	} {
		s := c.Services[name]
		command, health := s.Command, s.Healthcheck.Test
		if command == nil {
			command = img.command
		}
		if health == nil {
			health = append([]string{"CMD"}, img.health...)
		}
		if len(health) < 3 || health[0] != "CMD" || health[1] != "/kith" || s.Healthcheck.Disable {
			t.Fatalf("the health check of %s is %q", name, health)
		}
		p := startKith(t, dir, env(name, "KITH_DRAIN=0s"), command...)
		address, _, _ := strings.Cut(p.waitFor(t, at.words), " ")
		runKith(t, dir, env(name, at.setting+address), nil, health[2:]...).wants(t)
		if code := p.interrupt(t); code != 0 {
			t.Errorf("%s ends with exit code %d, want 0", name, code)
		}
		runKith(t, dir, env(name, at.setting+address), nil, health[2:]...).wantsRefusal(t, "ask ", address)
	}
	// The comment at its top: an account and a token, typed in the container.
	runKith(t, dir, env("kith"), nil, "account", "add", "ada").wants(t)
	if token := runKith(t, dir, env("kith"), nil, "token", "--account", "1").wants(t); strings.Count(token, ".") != 2 {
		t.Errorf("the token is %q", token)
	}
}
