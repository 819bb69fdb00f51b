package sql_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"kith/repo/db"
)

// folder has the scripts.
const folder = "admin"

// null is what a cell that is NULL reads as.
const null = "NULL"

// table is one result of a script: a map of column to text for each row.
type table []map[string]string

// way is how a script is run: by the client, or, where none is installed, by
// the driver. vars are what --init-command would set. With an error it returns
// what was shown before it.
type way func(ctx context.Context, dsn, script string, vars map[string]string) ([]table, error)

// client finds the program that administrators use.
func client() (string, bool) {
	for _, name := range []string{"mariadb", "mysql"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// usual is the client where there is one.
func usual() way {
	if _, ok := client(); ok {
		return byClient
	}
	return byDriver
}

// run runs a script of the folder, which must go well.
func run(t *testing.T, by way, dsn, script string, vars map[string]string) []table {
	t.Helper()
	out, err := by(t.Context(), dsn, filepath.Join(folder, script), vars)
	if err != nil {
		t.Fatalf("%s with %v: %v", script, vars, err)
	}
	return out
}

// set is the statement of --init-command; values are SQL literals.
func set(vars map[string]string) string {
	var parts []string
	for name, value := range vars {
		parts = append(parts, "@"+name+" = "+value)
	}
	slices.Sort(parts)
	return "SET " + strings.Join(append(parts, "@x = 0"), ", ")
}

// byClient runs a script as the README says, but for the form of the output:
// XML tells results apart.
func byClient(ctx context.Context, dsn, script string, vars map[string]string) ([]table, error) {
	path, ok := client()
	if !ok {
		return nil, errors.New("no client is installed")
	}
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	args := []string{"--no-defaults", "--xml", "--default-character-set=utf8mb4", "--user=" + c.User, "--init-command=" + set(vars)}
	if c.Net == "unix" {
		args = append(args, "--socket="+c.Addr)
	} else {
		host, port, _ := strings.Cut(c.Addr, ":")
		args = append(args, "--protocol=tcp", "--host="+host, "--port="+port)
	}
	file, err := os.Open(script)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, path, append(args, c.DBName)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = file, &out, &errs
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+c.Passwd)
	if err := cmd.Run(); err != nil {
		shown, _ := readXML(&out) // it ends in the middle
		return shown, fmt.Errorf("%w: %s", err, errs.String())
	}
	return readXML(&out)
}

func readXML(r io.Reader) (out []table, err error) {
	d := xml.NewDecoder(r)
	for {
		token, err := d.Token()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "resultset" {
			continue
		}
		t, err := readResult(d, start)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
}

func readResult(d *xml.Decoder, start xml.StartElement) (table, error) {
	var set struct {
		Rows []struct {
			Fields []struct {
				Name string `xml:"name,attr"`
				Nil  bool   `xml:"nil,attr"`
				Text string `xml:",chardata"`
			} `xml:"field"`
		} `xml:"row"`
	}
	if err := d.DecodeElement(&set, &start); err != nil {
		return nil, err
	}
	t := table{}
	for _, r := range set.Rows {
		row := map[string]string{}
		for _, f := range r.Fields {
			if row[f.Name] = f.Text; f.Nil {
				row[f.Name] = null
			}
		}
		t = append(t, row)
	}
	return t, nil
}

// byDriver runs the statements of a script on one connection.
func byDriver(ctx context.Context, dsn, script string, vars map[string]string) (out []table, err error) {
	text, err := os.ReadFile(script)
	if err != nil {
		return nil, err
	}
	pool, err := db.Open(ctx, db.Config{DSN: dsn, MaxOpen: 1})
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	conn, err := pool.Connx(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	for _, statement := range append([]string{set(vars)}, split(string(text))...) {
		t, err := query(ctx, conn, statement)
		if err != nil {
			return out, fmt.Errorf("%w: %.200s", err, statement)
		}
		if t != nil {
			out = append(out, t)
		}
	}
	return out, nil
}

// query returns nil for a statement without a result.
func query(ctx context.Context, conn *sqlx.Conn, statement string) (table, error) {
	rows, err := conn.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || len(columns) == 0 {
		return nil, errors.Join(err, rows.Err())
	}
	t := table{}
	cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for rows.Next() {
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := map[string]string{}
		for i, c := range cells {
			if row[columns[i]] = c.String; !c.Valid {
				row[columns[i]] = null
			}
		}
		t = append(t, row)
	}
	return t, rows.Err()
}

// split cuts a script into its statements, without comment lines.
func split(script string) (out []string) {
	var b strings.Builder
	quote := rune(0)
	for _, line := range strings.Split(script, "\n") {
		if quote == 0 && strings.HasPrefix(line, "--") {
			continue
		}
		for _, c := range line + "\n" {
			switch {
			case quote != 0 && c == quote:
				quote = 0
			case quote == 0 && strings.ContainsRune("'`\"", c):
				quote = c
			case quote == 0 && c == ';':
				out = append(out, b.String())
				b.Reset()
				continue
			}
			b.WriteRune(c)
		}
	}
	return out
}
