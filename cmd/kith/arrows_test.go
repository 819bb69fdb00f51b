package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is one Go file of the module.
type source struct {
	path  string // from the root of the module, with slashes
	dir   string
	test  bool
	lines int
	text  []byte
	fset  *token.FileSet
	ast   *ast.File
}

// The rules are checked on parsed files and not with go list, which a cached
// test would not run again.
func sources(t *testing.T) []source {
	t.Helper()
	const root = "../.."
	var all []source
	err := filepath.WalkDir(root, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			_, inner := os.Stat(filepath.Join(at, "go.mod"))
			name := entry.Name()
			if at != root && (inner == nil || strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(at, ".go") {
			return nil
		}
		one, err := parseSource(root, at)
		all = append(all, one)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("found %d files, which cannot be all", len(all))
	}
	return all
}

func parseSource(root, at string) (source, error) {
	text, err := os.ReadFile(at)
	if err != nil {
		return source{}, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, at, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	rel, err := filepath.Rel(root, at)
	name := filepath.ToSlash(rel)
	return source{path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
		lines: bytes.Count(text, []byte("\n")), text: text, fset: fset, ast: file}, err
}

// imports are the paths that a file imports.
func (s source) imports() []string {
	var out []string
	for _, spec := range s.ast.Imports {
		text, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			out = append(out, text)
		}
	}
	return out
}

// layers stand above each other; a package imports its own layer and lower ones.
var layers = []string{"repo", "app", "cron", "cmd"}

// allowed says whether a file may import a package of this module.
func allowed(from source, pkg string) bool {
	here, there := top(from.dir), top(pkg)
	switch {
	case there == "sql":
		return here == "cmd" || here == "sql" || from.dir == "repo/dbtest" || from.test
	case there == "config":
		return here == "cmd" || here == "config"
	case here == "sql" && from.test:
		return true // its scripts are tested with everything that uses the database
	case strings.HasSuffix(path.Base(pkg), "test"):
		return from.test || strings.HasSuffix(from.dir, "test")
	}
	return slices.Index(layers, here) >= slices.Index(layers, there)
}

func top(dir string) string {
	first, _, _ := strings.Cut(dir, "/")
	return first
}

func TestArrows(t *testing.T) {
	for _, s := range sources(t) {
		if !slices.Contains(append(layers, "config", "sql"), top(s.dir)) {
			t.Errorf("%s stands outside the layers", s.path)
		}
		for _, imported := range s.imports() {
			if pkg, own := strings.CutPrefix(imported, "kith/"); own && !allowed(s, pkg) {
				t.Errorf("%s imports %s: imports go cmd → cron → app → repo, only cmd reads config and sql, only tests read packages for tests", s.path, imported)
			}
			if !s.test && strings.HasPrefix(imported, "github.com/go-sql-driver/") && s.dir != "repo/db" {
				t.Errorf("%s imports %s: only repo/db knows the driver", s.path, imported)
			}
			if !s.test && imported == "net/http" && (top(s.dir) == "repo" || top(s.dir) == "cron" || top(s.dir) == "app" && !knowsHTTP(s.dir) && s.dir != "app/token") {
				t.Errorf("%s imports net/http: only app/api knows HTTP", s.path)
			}
		}
	}
}

func knowsHTTP(dir string) bool { return dir == "app/api" || strings.HasPrefix(dir, "app/api/") }

// Entities are the app's own: what answers are made of may change without the rows.
func TestArrows_Entities(t *testing.T) {
	for _, s := range sources(t) {
		for _, imported := range s.imports() {
			if !s.test && knowsHTTP(s.dir) && strings.HasPrefix(imported, "kith/repo") {
				t.Errorf("%s imports %s: app/api asks the services of app, not repo", s.path, imported)
			}
		}
	}
}

// Status codes belong to app/api: to its core and to what answers without it.
func TestArrows_StatusCodes(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.dir == "app/api/core" || s.dir == "app/api/socket" || s.dir == "app/api/operations" || !slices.Contains(s.imports(), "net/http") {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(sel.Sel.Name, "Status") && fmt.Sprint(sel.X) == "http" {
				t.Errorf("%s: http.%s: resources do not know status codes", s.fset.Position(sel.Pos()), sel.Sel.Name)
			}
			return true
		})
	}
}

// A rule that allows everything is none.
func TestArrows_Refused(t *testing.T) {
	for _, c := range []struct{ from, pkg string }{
		{"repo/list", "app"}, {"repo/list", "config"}, {"app/api", "sql"}, {"app/api", "cron/x"}, {"cron/x", "cmd/kith"},
		{"config", "repo/db"}, {"sql", "repo"}, {"repo/db", "repo/dbtest"},
	} {
		if allowed(source{dir: c.from}, c.pkg) {
			t.Errorf("%s may import %s", c.from, c.pkg)
		}
	}
}

func TestPackages_Documented(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		doc := s.ast.Doc.Text()
		documented[s.dir] = documented[s.dir] || strings.HasPrefix(doc, "Package "+s.ast.Name.Name+" ") || strings.HasPrefix(doc, "Command ")
	}
	for dir, has := range documented {
		if !has {
			t.Errorf("package %s has no comment that begins with its name", dir)
		}
	}
}

// Longer files and functions are split, or say why not.
const (
	maxFile     = 500
	maxFunction = 60
	longReason  = "// Long because "
)

func TestSources_Length(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || bytes.Contains(s.text, []byte(longReason)) {
			continue
		}
		if s.lines > maxFile {
			t.Errorf("%s has %d lines, more than %d: split it, or say %q", s.path, s.lines, maxFile, longReason)
		}
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				if n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line; n > maxFunction {
					t.Errorf("%s: %s has %d lines, more than %d: split it, or say %q", s.path, f.Name.Name, n, maxFunction, longReason)
				}
			}
		}
	}
}
