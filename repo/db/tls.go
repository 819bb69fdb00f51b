package db

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/go-sql-driver/mysql"
)

// ErrTLS says that the files of a TLS cannot be used.
var ErrTLS = errors.New("tls")

// TLS says how the server and this client prove to each other who they are. The zero
// value leaves that to the DSN (tls=true and so on); anything else turns TLS on, and a
// server without it is refused. All files are PEM.
type TLS struct {
	// CA has the certificates that may sign the server's; empty means those that the
	// system trusts.
	CA string
	// Cert and Key are those of the client, both or none. They are read for each
	// connection, so that they can be replaced while kith runs.
	Cert, Key string
	// Name is whose name the server's certificate must have; empty means the host of
	// the DSN, * any name that CA signed: MySQL makes itself certificates without one.
	Name string
}

// secure lays t over a DSN that does not say otherwise.
func (t TLS) secure(cfg *mysql.Config) error {
	if t == (TLS{}) {
		return nil
	}
	if cfg.Net == "unix" {
		return fmt.Errorf("%w: the DSN leads to a socket of this machine, which has none", ErrTLS)
	}
	if cfg.TLSConfig != "" && cfg.TLSConfig != "true" {
		return fmt.Errorf("%w: the DSN says tls=%s, which contradicts it: leave that out", ErrTLS, cfg.TLSConfig)
	}
	made, err := t.config()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTLS, err)
	}
	cfg.TLS = made
	return nil
}

func (t TLS) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.Name}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate", t.CA)
		}
	}
	if t.Name == "*" {
		if t.CA == "" {
			return nil, errors.New("any name needs a CA of one's own: those of the system sign for everybody")
		}
		c.ServerName, c.InsecureSkipVerify = "", true // instead of which:
		c.VerifyConnection = func(s tls.ConnectionState) error {
			between := x509.NewCertPool()
			for _, c := range s.PeerCertificates[1:] {
				between.AddCert(c)
			}
			_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: c.RootCAs, Intermediates: between})
			return err
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("the client's certificate and its key go together")
	}
	if t.Cert != "" {
		if _, err := t.client(nil); err != nil {
			return nil, err
		}
		c.GetClientCertificate = t.client
	}
	return c, nil
}

// client reads the client's certificate.
func (t TLS) client(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("read the client's certificate %s and key %s: %w", t.Cert, t.Key, err)
	}
	return &pair, nil
}
