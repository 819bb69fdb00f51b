package core

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"regexp"
	"testing"

	"github.com/labstack/echo/v4"

	"kith/app"
)

// The table of codes in the package doc is that of the code.
func TestCodes_Documented(t *testing.T) {
	doc, err := os.ReadFile("../doc.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//\t(\d{3} [a-z_]+) +\S`).FindAllStringSubmatch(string(doc), -1) {
		listed[m[1]] = true
	}
	for code, status := range statuses {
		if line := fmt.Sprint(status, " ", code); status < 400 || !listed[line] {
			t.Errorf("the doc lacks %s", line)
		}
	}
	if len(listed) != len(statuses) {
		t.Errorf("the doc lists %d codes, want %d", len(listed), len(statuses))
	}
}

// Whatever kind of refusal services know has a code.
func TestCodes_Kinds(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	kinds := 0
	for _, d := range file.Decls {
		if group, ok := d.(*ast.GenDecl); ok && group.Tok == token.CONST {
			kinds += len(group.Specs)
		}
	}
	for _, code := range byKind {
		if statuses[code] == 0 {
			t.Errorf("%s is no code", code)
		}
	}
	if kinds == 0 || len(byKind) != kinds {
		t.Errorf("%d kinds have a code, want %d", len(byKind), kinds)
	}
}

func TestRefusalOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{app.Refuse(app.Invalid, "x"), "invalid_request"},
		{app.Refuse(app.Forbidden, "x"), "forbidden"},
		{app.Refuse(app.OwnAccount, "x"), "own_account"},
		{app.Refuse(app.NotFound, "x"), "not_found"},
		{app.Refuse(app.Unprocessable, "x"), "validation_failed"},
		{app.Refuse(app.Limit, "x"), "limit_reached"},
		{app.Refuse(app.Busy, "x"), "try_again"},
		{app.Refuse(app.Internal, "x"), "internal_error"},
		{app.Refuse(app.Kind(99), "x"), "internal_error"},
		{errors.New("x"), "internal_error"},
		{errToken, "invalid_token"}, {errScope, "insufficient_scope"}, {errTooMany, "too_many_requests"}, {errTooLong, "request_too_large"},
		{&http.MaxBytesError{Limit: 1}, "request_too_large"},
		{context.DeadlineExceeded, "try_again"}, {context.Canceled, "try_again"},
		{echo.ErrNotFound, "unknown_endpoint"}, {echo.ErrMethodNotAllowed, "method_not_allowed"}, {echo.NewHTTPError(500, "x"), "internal_error"},
	} {
		for _, err := range []error{c.err, fmt.Errorf("wrapped: %w", c.err)} {
			if got := refusalOf(err); got.Code != c.want || got.Sentence == "" {
				t.Errorf("%v: got %s %q, want %s", err, got.Code, got.Sentence, c.want)
			}
		}
	}
}
