package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// program is a program with all settings.
type program struct {
	Config   File `name:"config" env:"KITH_CONFIG"`
	Settings `embed:""`
}

// start reads settings as a program started with args would.
func start(t *testing.T, args ...string) (Settings, error) {
	t.Helper()
	return startWith(t, kong.Exit(func(int) { t.Fatal("kong exits") }), args...)
}

// startWith is start of a program with an option.
func startWith(t *testing.T, option kong.Option, args ...string) (Settings, error) {
	t.Helper()
	var p program
	parser, err := kong.New(&p, option)
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(args)
	return p.Settings, err
}

// good is what a server needs at least.
func good(t *testing.T) {
	t.Setenv("KITH_MYSQL_DSN", "kith:pass@tcp(db:3306)/kith")
	t.Setenv("KITH_TOKEN_SECRET", strings.Repeat("s", 32))
}

func TestSettings_Defaults(t *testing.T) {
	good(t)
	s, err := start(t)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Errorf("defaults: %v, want them to be good", err)
	}
	if s.HTTP.Listen != "127.0.0.1:8080" || s.HTTP.MaxBody != 64<<10 || s.Cache.LocalExpiry != 5*time.Second || len(s.Cache.Memcached) != 0 {
		t.Errorf("defaults are %+v", s)
	}
}

// Flag above environment above file above default.
func TestSettings_Precedence(t *testing.T) {
	good(t)
	path := filepath.Join(t.TempDir(), "kith.env")
	text := "# ours\nKITH_LISTEN=127.0.0.1:1\nKITH_TITLE=\"from the file\"\nexport KITH_FOLLOWING_LIMIT = 7 # few\nKITH_MEMCACHED=a:1,b:2\nOTHER=x\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KITH_CONFIG", path)
	t.Setenv("KITH_LISTEN", "127.0.0.1:2")
	t.Setenv("KITH_TITLE", "from the environment")
	s, err := start(t, "--listen", "127.0.0.1:3")
	if err != nil {
		t.Fatal(err)
	}
	if s.HTTP.Listen != "127.0.0.1:3" {
		t.Errorf("listen is %s, want the flag's", s.HTTP.Listen)
	}
	if s.HTTP.Title != "from the environment" {
		t.Errorf("title is %q, want the environment's", s.HTTP.Title)
	}
	if s.Relation.FollowingLimit != 7 || fmt.Sprint(s.Cache.Memcached) != "[a:1 b:2]" {
		t.Errorf("limit %d, memcached %v, want the file's", s.Relation.FollowingLimit, s.Cache.Memcached)
	}
	if s.HTTP.RateLimit != 300000 {
		t.Errorf("rate limit is %d, want the default", s.HTTP.RateLimit)
	}
}

// What a server shares is what another command then has, below whatever is set for that.
func TestSettings_Shared(t *testing.T) {
	good(t)
	want, err := start(t, "--memcached", "a:1,b:2", "--list-cap", "500", "--following-limit", "7", "--affinity-weights", "visit=0.5,follow=4",
		"--affinity-half-life", "1h30m", "--local-cache-size", "3MiB", "--cron-trim", "", "--cron-audit", "1 2 3 4 *", "--cron-rate", "0",
		"--token-issuer", "it's $me", "--admin-listen", "127.0.0.1:1", "--listen", "127.0.0.1:2", "--mysql-pool", "9", "--log-level", "warn")
	if err != nil {
		t.Fatal(err)
	}
	os.Unsetenv("KITH_MYSQL_DSN")
	os.Unsetenv("KITH_TOKEN_SECRET")
	defaults := Defaults(want.Shared())
	got, err := startWith(t, defaults)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ got, want any }{
		{got.MySQL, want.MySQL}, {got.Cache, want.Cache}, {got.Token, want.Token}, {got.Relation, want.Relation}, {got.Home, want.Home}, {got.Affinity, want.Affinity}, {got.Cron, want.Cron},
		{got.HTTP.Listen, "127.0.0.1:8080"}, {got.Admin.Listen, ""}, {got.Log.Level, "info"},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("got %+v, want %+v", c.got, c.want)
		}
	}
	t.Setenv("KITH_CRON_RATE", "8")
	path := filepath.Join(t.TempDir(), "kith.env")
	if err := os.WriteFile(path, []byte("KITH_FOLLOWING_LIMIT=9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err = startWith(t, defaults, "--list-cap", "10000", "--config", path)
	if err != nil {
		t.Fatal(err)
	}
	if got.Relation.ListCap != 10000 || got.Relation.FollowingLimit != 9 || got.Cron.Rate != 8 {
		t.Errorf("cap %d, limit %d, rate %d; want what was said: 10000 by the flag, 9 by the file, 8 by the environment",
			got.Relation.ListCap, got.Relation.FollowingLimit, got.Cron.Rate)
	}
}

// An empty value in the environment is a value: no servers.
func TestSettings_EmptyMemcached(t *testing.T) {
	good(t)
	t.Setenv("KITH_MEMCACHED", "")
	t.Setenv("KITH_TRUSTED_PROXIES", "")
	s, err := start(t)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Cache.Memcached) != 0 {
		t.Errorf("memcached is %q, want no servers", s.Cache.Memcached)
	}
}

func TestFile_Missing(t *testing.T) {
	if _, err := start(t, "--config", "/nowhere/kith.env"); err == nil || !strings.Contains(err.Error(), "KITH_CONFIG") {
		t.Errorf("got %v, want an error that names KITH_CONFIG", err)
	}
}

func TestRead_Refused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"KITH_LISTEN=a:1\n\nKITH_LISTN=b:2", "line 3: KITH_LISTN is not a setting of kith: is KITH_LISTEN meant?"},
		{"just hunter2", "line 1: is not NAME=value"},
		{"KITH_TITLE=a\nKITH_TITLE=b", "line 2: KITH_TITLE is set twice"},
		{"KITH_MYSQL_DSN=u:hunter2$x@/kith", "KITH_MYSQL_DSN has a $"},
		{"KITH_TITLE=\"hunter2", "KITH_TITLE has a value whose quotes do not end"},
	} {
		_, err := Read(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v shows the value", c.text, err)
		}
	}
}

func TestCheckNames(t *testing.T) {
	for _, c := range []struct{ pair, want string }{
		{"KITH_LISTN=127.0.0.1:1", "KITH_LISTN is not a setting of kith: is KITH_LISTEN meant?"},
		{"KITH_MYSQL_DNS=hunter2", "KITH_MYSQL_DNS is not a setting of kith: is KITH_MYSQL_DSN meant?"},
		{"KITH_MEMCACHE=a:1", "is KITH_MEMCACHED meant?"},
		{"KITH_=x", "KITH_ is not a setting of kith"},
		{"KITH_SOMETHING_ELSE_ALTOGETHER=x", "KITH_SOMETHING_ELSE_ALTOGETHER is not a setting of kith"},
		{"KITH_CONFIG=/etc/kith.env", ""},
		{"KITH_LISTEN=127.0.0.1:1", ""},
		{"KITHLISTEN=x", ""},
		{"OTHER=KITH_LISTN", ""},
		{"KITH_TEST_MYSQL_DSN=x", ""},
		{"KITH_ACCEPT=1", ""},
		{"KITH_SERVICE_HOST=10.0.0.1", ""},
		{"KITH_SERVICE_PORT_HTTP=8080", ""},
		{"KITH_PORT=tcp://10.0.0.1:8080", ""},
		{"KITH_API_PORT_8080_TCP_ADDR=10.0.0.1", ""},
	} {
		err := CheckNames([]string{"PATH=/bin", c.pair})
		var refused *Error
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: got %v, want it to pass", c.pair, err)
		case c.want != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2")):
			t.Errorf("%s: got %v, want %q", c.pair, err, c.want)
		}
	}
	for s := range settings() {
		if err := CheckNames([]string{s.name + "=x"}); err != nil {
			t.Errorf("a setting is refused: %v", err)
		}
	}
}

func TestRead_Quoted(t *testing.T) {
	got, err := Read(strings.NewReader("KITH_MYSQL_DSN='u:a$b#c@/kith'\n"))
	if err != nil || got["KITH_MYSQL_DSN"] != "u:a$b#c@/kith" {
		t.Errorf("got %q, %v", got["KITH_MYSQL_DSN"], err)
	}
}

func TestSettings_Check(t *testing.T) {
	for _, c := range []struct{ name, value string }{
		{"KITH_MYSQL_DSN", ""}, {"KITH_MYSQL_DSN", "localhost"}, {"KITH_MYSQL_POOL", "3"},
		{"KITH_MEMCACHED", "cache"}, {"KITH_MEMCACHED", "a:1,a:1"}, {"KITH_MEMCACHED", "a:0"},
		{"KITH_CACHE_TIMEOUT", "0s"}, {"KITH_CACHE_EXPIRY", "721h"},
		{"KITH_LOCAL_CACHE_SIZE", "1KiB"}, {"KITH_LOCAL_CACHE_EXPIRY", "0s"},
		{"KITH_LISTEN", ""}, {"KITH_LISTEN", "8080"}, {"KITH_LISTEN", "a:70000"},
		{"KITH_BASE_URL", "social.example"}, {"KITH_BASE_URL", "https://a/b"}, {"KITH_TITLE", ""},
		{"KITH_REQUEST_TIMEOUT", "1ms"}, {"KITH_MAX_BODY", "1B"}, {"KITH_RATE_LIMIT", "0"}, {"KITH_SHUTDOWN_GRACE", "-1s"},
		{"KITH_MAX_CONNECTIONS", "9"}, {"KITH_DRAIN", "-1s"}, {"KITH_DRAIN", "11m"},
		{"KITH_TOKEN_SECRET", ""}, {"KITH_TOKEN_SECRET", "short"}, {"KITH_TOKEN_JWKS", "ftp://x"},
		{"KITH_FOLLOWING_LIMIT", "-1"},
		{"KITH_CRON_TRIM", "often"}, {"KITH_CRON_AUDIT", "@every 5m"}, {"KITH_CRON_EXPIRE", "CRON_TZ=Asia/Tokyo 0 3 * * *"},
		{"KITH_CRON_SUGGEST", "0 0 31 2 *"}, {"KITH_CRON_AFFINITY", "* * * * * * *"}, {"KITH_CRON_RATE", "-1"},
		{"KITH_REQUEST_EXPIRY", "1m"}, {"KITH_GONE_AFTER", "1h"}, {"KITH_JOB_RUN_KEEP", "0s"}, {"KITH_ADMIN_LISTEN", "9100"},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			good(t)
			t.Setenv(c.name, c.value)
			s, err := start(t)
			if err == nil {
				err = s.Check()
			}
			if err == nil || !strings.Contains(err.Error(), c.name) {
				t.Errorf("got %v, want a refusal that names %s", err, c.name)
			}
		})
	}
}

// The least and the greatest value pass, what is beyond them does not, and the help
// says them.
func TestSettings_Limits(t *testing.T) {
	n := 0
	for section := range reflect.TypeFor[Settings]().Fields() {
		for field := range section.Type.Fields() {
			least, most, ok := strings.Cut(field.Tag.Get("limits"), " ")
			if !ok {
				continue
			}
			n++
			name, help := field.Tag.Get("env"), field.Tag.Get("help")
			if !strings.Contains(help, least+" to "+most) && !(least == "0" && strings.Contains(help, "at most "+most)) {
				t.Errorf("the help of %s does not say %s to %s", name, least, most)
			}
			if limit(field.Type, least).IsZero() != strings.HasPrefix(least, "0") {
				t.Errorf("the limit %s of %s cannot be read", least, name)
			}
			value := reflect.New(field.Type).Elem()
			for _, c := range []struct {
				n       int64
				refused bool
			}{
				{limit(field.Type, least).Int(), false}, {limit(field.Type, most).Int(), false},
				{limit(field.Type, least).Int() - 1, true}, {limit(field.Type, most).Int() + 1, true},
				{0, limit(field.Type, least).Int() > 0 && field.Tag.Get("or") != "0"},
			} {
				value.SetInt(c.n)
				if err := withinLimits(field.Tag, value); (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), name) {
					t.Errorf("%s=%v: %v, want it refused: %v", name, value, err, c.refused)
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("%d settings have limits, which cannot be all", n)
	}
}

// What cannot be read at all is refused by name too.
func TestSettings_Unreadable(t *testing.T) {
	for _, c := range []struct{ name, value string }{
		{"KITH_MYSQL_POOL", "many"}, {"KITH_CACHE_TIMEOUT", "5"}, {"KITH_MAX_BODY", "big"}, {"KITH_LOG_LEVEL", "loud"}, {"KITH_TRUSTED_PROXIES", "10.0.0.0/40"}, {"KITH_LOG_FORMAT", "xml"},
	} {
		good(t)
		t.Setenv(c.name, c.value)
		_, err := start(t)
		os.Unsetenv(c.name)
		if flag, _ := flagOf(c.name); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s=%s: got %v, want an error that names it", c.name, c.value, err)
		}
	}
}

func TestSecret_NeverPrinted(t *testing.T) {
	const word = "hunter2"
	type around struct {
		Shown  Secret
		silent Secret
		DSN    DSN
		dsn    DSN
	}
	dsn := NewDSN("kith:" + word + "@/x@tcp(db:3306)/kith?tls=true")
	v := around{NewSecret(word), NewSecret(word), dsn, dsn}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		fmt.Fprintf(&out, verb, v)
		fmt.Fprintf(&out, verb, &v)
		fmt.Fprintf(&out, verb, v.Shown)
		fmt.Fprintf(&out, verb, v.DSN)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(b)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "secret", v.Shown, "dsn", v.DSN, "all", v)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "secret", v.Shown, "dsn", v.DSN, "all", v)
	for _, bad := range []string{word, fmt.Sprintf("%x", word), fmt.Sprintf("%X", word), fmt.Sprint([]byte(word))} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("the secret is printed as %s:\n%s", bad, out.String())
		}
	}
	if v.silent.Reveal() != word || v.dsn.Reveal() == "" {
		t.Error("Reveal does not return the secret")
	}
}

func TestDSN_String(t *testing.T) {
	for _, c := range []struct{ dsn, want string }{
		{"kith:pass@tcp(db:3306)/kith?tls=true", "kith:…hidden…@tcp(db:3306)/kith"},
		{"kith:p@:/s@tcp(db:3306)/kith", "kith:…hidden…@tcp(db:3306)/kith"},
		{"root@unix(/run/my.sock)/kith", "root@unix(/run/my.sock)/kith"},
		{"/kith", "/kith"},
		{"", ""},
		{"nonsense", "…hidden…"},
	} {
		if got := NewDSN(c.dsn).String(); got != c.want {
			t.Errorf("%s prints as %q, want %q", c.dsn, got, c.want)
		}
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		text string
		want Size
	}{{"512MiB", 512 << 20}, {"64kb", 64 << 10}, {"2 GiB", 2 << 30}, {"1000", 1000}, {"7B", 7}} {
		var got Size
		if err := got.UnmarshalText([]byte(c.text)); err != nil || got != c.want {
			t.Errorf("%s reads as %d, %v, want %d", c.text, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "MiB", "-1", "1.5GiB", "99999999999GiB", "x"} {
		var got Size
		if err := got.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q reads as %d, want an error", bad, got)
		}
	}
	for v, want := range map[Size]string{0: "0B", 1 << 20: "1MiB", 3 << 30: "3GiB", 1500: "1500B"} {
		if v.String() != want {
			t.Errorf("%d prints as %s, want %s", v, v, want)
		}
	}
}
