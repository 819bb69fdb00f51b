package main

import (
	"strings"
	"testing"

	"kith/repo/dbtest"
)

// A database whose CA is nobody else's and that wants a certificate, from settings.
func TestMySQLTLS(t *testing.T) {
	ca, dir := dbtest.NewCA(t), t.TempDir()
	dsn := dbtest.Secure(t, ca, "127.0.0.1")
	cert, key := ca.Sign("app")
	env := []string{"KITH_MYSQL_DSN=" + dsn, "KITH_MYSQL_TLS_CA=" + ca.File, "KITH_MYSQL_TLS_CERT=" + cert, "KITH_MYSQL_TLS_KEY=" + key}
	runKith(t, dir, env, nil, "migrate", "up").wants(t)
	runKith(t, dir, env, nil, "account", "add", "ada").wants(t)
	if out := runKith(t, dir, env, nil, "account", "list").wants(t); !strings.Contains(out, "ada") {
		t.Errorf("got %q, want ada", out)
	}
	for name, c := range map[string]struct {
		env  []string
		says string
	}{
		"NoCert":   {env[:2], "KITH_MYSQL_DSN"},
		"NoKey":    {env[:3], "KITH_MYSQL_TLS_KEY"},
		"NoFile":   {append(env[:1:1], "KITH_MYSQL_TLS_CA=/nowhere.pem"), "KITH_MYSQL_TLS_CA"},
		"NoCAName": {append(env[:1:1], "KITH_MYSQL_TLS_NAME=*"), "KITH_MYSQL_TLS_NAME"},
		"Socket":   {append(env[1:4:4], "KITH_MYSQL_DSN=root@unix(/run/mysqld.sock)/kith"), "KITH_MYSQL_TLS_CA"},
	} {
		if r := runKith(t, dir, c.env, nil, "account", "list"); r.code == 0 || !strings.Contains(r.err, c.says) || strings.Contains(r.err, "secret") {
			t.Errorf("%s: exit code %d, it says %q, want %q", name, r.code, r.err, c.says)
		}
	}
}
