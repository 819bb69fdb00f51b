package db_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"kith/repo/db"
	"kith/repo/dbtest"
)

// A server with a CA of its own that wants to see a certificate.
func TestOpen_TLS(t *testing.T) {
	ca, strangers := dbtest.NewCA(t), dbtest.NewCA(t)
	dsn := dbtest.Secure(t, ca, "mysql.internal", "127.0.0.1")
	cert, key := ca.Sign("app")
	foreign, foreignKey := strangers.Sign("app")
	empty := t.TempDir() + "/empty.pem"
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tls    db.TLS
		params string
		says   string // empty: it connects
	}{
		"Good":         {tls: db.TLS{CA: ca.File, Cert: cert, Key: key}},
		"TLSTrue":      {tls: db.TLS{CA: ca.File, Cert: cert, Key: key}, params: "?tls=true"},
		"Name":         {tls: db.TLS{CA: ca.File, Cert: cert, Key: key, Name: "mysql.internal"}},
		"AnyName":      {tls: db.TLS{CA: ca.File, Cert: cert, Key: key, Name: "*"}},
		"OtherName":    {tls: db.TLS{CA: ca.File, Cert: cert, Key: key, Name: "other.internal"}, says: "other.internal"},
		"OtherCA":      {tls: db.TLS{CA: strangers.File, Cert: cert, Key: key}, says: "unknown authority"},
		"OtherCAAny":   {tls: db.TLS{CA: strangers.File, Cert: cert, Key: key, Name: "*"}, says: "unknown authority"},
		"SystemCA":     {tls: db.TLS{Cert: cert, Key: key}, says: "unknown authority"},
		"NoCert":       {tls: db.TLS{CA: ca.File}, says: "1045"},
		"ForeignCert":  {tls: db.TLS{CA: ca.File, Cert: foreign, Key: foreignKey}, says: "connect"},
		"NoTLS":        {says: "1045"},
		"NoKey":        {tls: db.TLS{CA: ca.File, Cert: cert}, says: "go together"},
		"WrongKey":     {tls: db.TLS{CA: ca.File, Cert: cert, Key: foreignKey}, says: "key"},
		"NoFile":       {tls: db.TLS{CA: "/nowhere.pem"}, says: "/nowhere.pem"},
		"EmptyCA":      {tls: db.TLS{CA: empty}, says: "has no certificate"},
		"AnyNameNoCA":  {tls: db.TLS{Name: "*"}, says: "CA of one's own"},
		"SkipVerify":   {tls: db.TLS{CA: ca.File}, params: "?tls=skip-verify", says: "tls=skip-verify"},
		"Preferred":    {tls: db.TLS{CA: ca.File}, params: "?tls=preferred", says: "tls=preferred"},
		"ContradictNo": {tls: db.TLS{CA: ca.File}, params: "?tls=false", says: "tls=false"},
	} {
		t.Run(name, func(t *testing.T) {
			pool, err := db.Open(t.Context(), db.Config{DSN: dsn + c.params, TLS: c.tls})
			if err == nil {
				defer pool.Close()
			}
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret") {
					t.Errorf("got %v, want a refusal with %q", err, c.says)
				}
				return
			}
			var cipher [2]string
			if err == nil {
				err = pool.QueryRow(`SHOW STATUS LIKE 'Ssl_cipher'`).Scan(&cipher[0], &cipher[1])
			}
			if err != nil || cipher[1] == "" {
				t.Errorf("got cipher %q, %v, want one", cipher[1], err)
			}
		})
	}
	if _, err := db.Open(t.Context(), db.Config{DSN: "app@unix(/run/mysqld.sock)/kith", TLS: db.TLS{CA: ca.File}}); !errors.Is(err, db.ErrTLS) {
		t.Errorf("a socket: got %v, want ErrTLS", err)
	}
}

// The certificate of MySQL's own making has no name at all.
func TestOpen_TLSWithoutName(t *testing.T) {
	ca := dbtest.NewCA(t)
	dsn := dbtest.Secure(t, ca)
	cert, key := ca.Sign("app")
	if _, err := db.Open(t.Context(), db.Config{DSN: dsn, TLS: db.TLS{CA: ca.File, Cert: cert, Key: key}}); err == nil {
		t.Error("a certificate without a name is taken for that of 127.0.0.1")
	}
	open(t, db.Config{DSN: dsn, TLS: db.TLS{CA: ca.File, Cert: cert, Key: key, Name: "*"}})
}

// A certificate that was replaced counts for the next connection.
func TestOpen_TLSReplaced(t *testing.T) {
	ca := dbtest.NewCA(t)
	dsn := dbtest.Secure(t, ca, "127.0.0.1")
	cert, key := ca.Sign("app")
	pool := open(t, db.Config{DSN: dsn, TLS: db.TLS{CA: ca.File, Cert: cert, Key: key}})
	pool.SetMaxIdleConns(0) // each statement connects anew
	other, otherKey := dbtest.NewCA(t).Sign("app")
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	ping := func() error { _, err := pool.Exec(`DO 1`); return err }
	move(cert, cert+".good")
	move(key, key+".good")
	move(other, cert)
	move(otherKey, key)
	if err := ping(); err == nil {
		t.Error("the certificate of another CA is taken")
	}
	move(cert+".good", cert)
	move(key+".good", key)
	if err := ping(); err != nil {
		t.Errorf("the good one is back: %v", err)
	}
}
