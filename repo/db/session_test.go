package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// picky is a server that refuses some statements.
type picky struct {
	refuses string
	with    error
	took    int
}

func (p *picky) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	if strings.Contains(query, p.refuses) {
		return nil, p.with
	}
	p.took++
	return driver.ResultNoRows, nil
}

// Vitess knows no SET NAMES binary, others do not know some variable: what is not
// needed may be refused. What is needed may not, nor may a connection be lost.
func TestBegin(t *testing.T) {
	all := session(Config{})
	for name, tt := range map[string]struct {
		refuses string
		with    error
		took    int // -1: the session fails
	}{
		"Nothing":      {"nothing of this", nil, len(all)},
		"NamesBinary":  {"SET NAMES binary", &mysql.MySQLError{Number: 1105, Message: "syntax error at position 17 near 'binary'"}, len(all) - 1},
		"SyntaxError":  {"SET NAMES binary", &mysql.MySQLError{Number: 1064}, len(all) - 1},
		"Unknown":      {"max_statement_time", &mysql.MySQLError{Number: 1193}, len(all) - 1},
		"Needed":       {"autocommit=1", &mysql.MySQLError{Number: 1193}, -1},
		"Isolation":    {"READ COMMITTED", &mysql.MySQLError{Number: 1064}, -1},
		"ReadWrite":    {"READ WRITE", &mysql.MySQLError{Number: 1064}, -1},
		"Shutdown":     {"SET NAMES binary", &mysql.MySQLError{Number: 1053}, -1},
		"LostOnTheWay": {"SET NAMES binary", io.ErrUnexpectedEOF, -1},
	} {
		t.Run(name, func(t *testing.T) {
			p := &picky{refuses: tt.refuses, with: tt.with}
			err := begin(t.Context(), p, all)
			if tt.took < 0 && !errors.Is(err, tt.with) || tt.took >= 0 && (err != nil || p.took != tt.took) {
				t.Errorf("got %v after %d statements, want %d of %d", err, p.took, tt.took, len(all))
			}
		})
	}
}
