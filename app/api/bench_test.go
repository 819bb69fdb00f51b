package api_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"kith/app/api"
)

type benchPath struct{ name, path, token string }

// benchWorld is an account with forty followers and what to ask about it.
func benchWorld(b *testing.B) (*world, []benchPath) {
	w := newWorld(b, func(c *api.Config) {
		c.RateLimit = 1 << 30
		c.Log = slog.New(slog.NewJSONHandler(io.Discard, nil))
	})
	me, star := w.add(false), w.add(false)
	var ids strings.Builder
	for _, f := range w.people(40) {
		into[rel](w.as(f).post(at(star, "/follow")))
		into[rel](w.as(me).post(at(f, "/follow")))
		fmt.Fprintf(&ids, "id[]=%d&", f)
	}
	token := w.as(me).token
	return w, []benchPath{
		{"Relationships40", "/api/v1/accounts/relationships?" + ids.String(), token},
		{"Followers40", at(star, "/followers"), token},
		{"Account", at(star, ""), token},
	}
}

// BenchmarkServe compares each route with an Echo route that writes as many
// fixed bytes and does nothing else.
func BenchmarkServe(b *testing.B) {
	w, paths := benchWorld(b)
	for _, p := range paths {
		body := []byte(client{w: w, token: p.token}.get(p.path).want(http.StatusOK).body)
		b.Run(p.name+"/Kith", func(b *testing.B) { serve(b, w.server, p.path, p.token) })
		b.Run(p.name+"/Fixed", func(b *testing.B) {
			e := echo.New()
			e.GET("/*", func(c echo.Context) error { return c.JSONBlob(http.StatusOK, body) })
			serve(b, e, p.path, p.token)
		})
	}
}

// serve measures whole requests over a connection that stays open, as clients
// have them.
func serve(b *testing.B, h http.Handler, path, token string) {
	server := httptest.NewServer(h)
	defer server.Close()
	r, err := http.NewRequest(http.MethodGet, server.URL+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	b.ReportAllocs()
	for b.Loop() {
		got, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || got.StatusCode != http.StatusOK {
			b.Fatalf("got %v, %v", got, err)
		}
		if _, err := io.Copy(io.Discard, got.Body); err != nil {
			b.Fatal(err)
		}
		got.Body.Close()
	}
}

// BenchmarkWork is the same without the network: what kith itself costs.
func BenchmarkWork(b *testing.B) {
	w, paths := benchWorld(b)
	for _, p := range paths {
		b.Run(p.name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, p.path, nil)
			r.Header.Set("Authorization", "Bearer "+p.token)
			b.ReportAllocs()
			for b.Loop() {
				got := httptest.NewRecorder()
				got.Body = nil
				if w.server.ServeHTTP(got, r); got.Code != http.StatusOK {
					b.Fatalf("got %d", got.Code)
				}
			}
		})
	}
}
