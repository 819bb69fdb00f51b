package dbtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kith/repo/mysqld"
)

// CA signs certificates for tests, into files of a folder.
type CA struct {
	// File is its own certificate.
	File string

	tb   testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewCA makes one.
func NewCA(tb testing.TB) *CA {
	tb.Helper()
	ca := &CA{tb: tb, File: filepath.Join(tb.TempDir(), "ca.pem")}
	ca.cert = &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, Subject: pkix.Name{CommonName: "CA of a test"}}
	ca.key = ca.sign(ca.cert, ca.File)
	return ca
}

// Sign makes a certificate of the common name, good for hosts, and its key.
func (ca *CA) Sign(name string, hosts ...string) (cert, key string) {
	ca.tb.Helper()
	c := &x509.Certificate{Subject: pkix.Name{CommonName: name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, h)
		}
	}
	dir := ca.tb.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	der, err := x509.MarshalPKCS8PrivateKey(ca.sign(c, cert))
	if err != nil {
		ca.tb.Fatal(err)
	}
	ca.write(key, "PRIVATE KEY", der)
	return cert, key
}

// sign signs c, with its own key where there is no other yet, and returns its key.
func (ca *CA) sign(c *x509.Certificate, path string) *ecdsa.PrivateKey {
	ca.tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		ca.tb.Fatal(err)
	}
	by := ca.key
	if by == nil {
		by = key
	}
	now := time.Now()
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(now.UnixNano()), now.Add(-time.Hour), now.Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, c, ca.cert, &key.PublicKey, by)
	if err != nil {
		ca.tb.Fatal(err)
	}
	ca.write(path, "CERTIFICATE", der)
	return key
}

func (ca *CA) write(path, kind string, der []byte) {
	ca.tb.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		ca.tb.Fatal(err)
	}
}

// Secure starts a server on 127.0.0.1 with a certificate of ca for hosts and a database,
// on which the user app must show a certificate of ca. It returns the DSN.
func Secure(tb testing.TB, ca *CA, hosts ...string) string {
	tb.Helper()
	cert, key := ca.Sign("server", hosts...)
	const name = "kith"
	var server *mysqld.Server
	var port int
	for try := 1; server == nil; try++ { // somebody else may take the port meanwhile
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		port = l.Addr().(*net.TCPAddr).Port
		l.Close()
		server, err = startDurable(tb, mysqld.Options{Port: port, Args: []string{"--ssl-ca=" + ca.File, "--ssl-cert=" + cert, "--ssl-key=" + key}})
		if err != nil && try == 5 {
			tb.Fatalf("start a server with TLS: %v", err)
		}
	}
	if err := server.CreateDatabase(tb.Context(), name); err != nil {
		tb.Fatal(err)
	}
	root := OpenServer(tb, server.DSN(""))
	root.MustExec(`CREATE USER app@'127.0.0.1' IDENTIFIED BY 'secret' REQUIRE X509`)
	root.MustExec(`GRANT ALL ON ` + name + `.* TO app@'127.0.0.1'`)
	return fmt.Sprintf("app:secret@tcp(127.0.0.1:%d)/%s", port, name)
}
