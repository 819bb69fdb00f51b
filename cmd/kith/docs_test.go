package main

import (
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"kith/config"
)

// pages are what people read about kith, by path from the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, path := range []string{"README.md", "CHANGELOG.md", "docs/operations.md", "sql/admin/README.md", "cmd/kithbench/README.md"} {
		text, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			t.Fatal(err)
		}
		out[path] = string(text)
	}
	return out
}

// metricName is what no other text of the program looks like.
var metricName = regexp.MustCompile(`^kith_[a-z_]*[a-z]$`)

// metricNames reads the names of all metrics from the source.
func metricNames(t *testing.T) []string {
	t.Helper()
	all := map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok {
				if text, err := strconv.Unquote(lit.Value); err == nil && metricName.MatchString(text) {
					all[text] = true
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(all))
}

// cells are the names in the first column of the tables of a page.
func cells(page, heading string) (out []string) {
	_, chapter, _ := strings.Cut(page, "\n## "+heading+"\n")
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	for line := range strings.Lines(chapter) {
		if strings.HasPrefix(line, "| `") {
			for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(strings.SplitN(line, "|", 3)[1], -1) {
				out = append(out, name[1])
			}
		}
	}
	return out
}

func TestDocs_Metrics(t *testing.T) {
	want := metricNames(t)
	listed := slices.Sorted(slices.Values(cells(pages(t)["docs/operations.md"], "What to watch")))
	if !slices.Equal(listed, want) {
		t.Errorf("docs/operations.md lists the metrics\n%q\nwant\n%q", listed, want)
	}
	users := []string{"kith_app", "kith_jobs", "kith_read", "kith_check"} // and a database
	for path, page := range pages(t) {
		for _, name := range regexp.MustCompile(`\bkith_[a-z_]*[a-z]\b`).FindAllString(page, -1) {
			if !slices.Contains(want, name) && !slices.Contains(users, name) {
				t.Errorf("%s names %s, which is no metric", path, name)
			}
		}
	}
}

func TestDocs_Jobs(t *testing.T) {
	_, chapter, _ := strings.Cut(pages(t)["docs/operations.md"], "\n## Jobs\n")
	var s config.Settings
	parser, err := kong.New(&s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = parser.Parse(nil); err != nil {
		t.Fatal(err)
	}
	plans := new(stack).plans(s.Cron, s.Relation.ListCap)
	for _, p := range plans {
		want := "\n| `" + p.Job.Name + "` | `" + p.Schedule.String() + "` | `KITH_CRON_" + strings.ToUpper(p.Job.Name) + "` | "
		if !strings.Contains(chapter, want) {
			t.Errorf("docs/operations.md: the table of jobs lacks %q", want)
		}
	}
	if n := len(cells(pages(t)["docs/operations.md"], "Jobs")); n != len(plans) {
		t.Errorf("docs/operations.md lists %d jobs, want %d", n, len(plans))
	}
}

// The changelog names all migrations, and the map of the README all packages of app.
func TestDocs_Lists(t *testing.T) {
	all := pages(t)
	_, migrations, _ := strings.Cut(all["CHANGELOG.md"], "\n### Migrations\n")
	migrations, _, _ = strings.Cut(migrations, "\n### ")
	files, err := filepath.Glob("../../sql/migrations/*.sql")
	if err != nil || len(files) < 20 {
		t.Fatalf("migrations: %d, %v", len(files), err)
	}
	for _, file := range files {
		if name := strings.Replace(strings.TrimSuffix(filepath.Base(file), ".sql"), "_", " ", 1); !strings.Contains(migrations, name) {
			t.Errorf("CHANGELOG.md does not name migration %s", name)
		}
	}
	_, row, _ := strings.Cut(all["README.md"], "\n| `app/` |")
	row, _, _ = strings.Cut(row, "\n")
	for _, s := range sources(t) {
		parts := strings.Split(s.dir, "/")
		if parts[0] == "app" && len(parts) > 1 && !s.test && !strings.Contains(row, "`"+parts[1]+"`") {
			t.Errorf("the map in README.md does not name %s", s.dir)
		}
	}
}

// Settings and commands that a page names are there.
func TestDocs_Names(t *testing.T) {
	var c commands
	parser, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"KITH_ACCEPT": true, "KITH_DATA": true, "KITH_TEST_MYSQL_DSN": true, "KITH_TEST_MEMCACHED": true} // those of tests
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			for _, name := range f.Envs {
				known[name] = true
			}
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(parser.Model.Node)
	for path, page := range pages(t) {
		for _, name := range regexp.MustCompile(`\bKITH_[A-Z_]*[A-Z]\b`).FindAllString(page, -1) {
			if !known[name] {
				t.Errorf("%s names %s, which is no setting", path, name)
			}
		}
		for _, line := range regexp.MustCompile("`kith(( [a-z]+)+)").FindAllStringSubmatch(page, -1) {
			node := parser.Model.Node
			for _, word := range strings.Fields(line[1]) {
				if len(node.Children) == 0 {
					break // arguments
				}
				at := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word })
				if at < 0 {
					t.Errorf("%s names kith%s, which is no command", path, line[1])
					break
				}
				node = node.Children[at]
			}
		}
	}
}
