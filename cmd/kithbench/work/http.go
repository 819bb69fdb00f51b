package work

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/report"
)

// Site is a server that answers over HTTP on loopback.
type Site struct {
	Name string // of the peer it serves
	URL  string // without a slash at the end
	// Token returns what an account signs in with.
	Token func(account uint64) (string, error)
}

// fixedPeer is the name of the handler that always sends the same bytes.
const fixedPeer = "echo, fixed body"

// connections is how many clients ask over HTTP at once, each on a connection.
const connections = 64

// HTTP asks kith the same questions through its API, next to a handler of the
// same web framework that sends bytes of the same number and knows nothing. The
// clients take the same processors as the server, for both alike. fixed starts
// that handler.
func (b *Bench) HTTP(ctx context.Context, sites []Site, fixed func(ctx context.Context, body []byte) (url string, stop func() error, err error)) error {
	for _, q := range []struct{ name, path string }{
		{"relationships of 40", relationships(pageSize)},
		{"followers page", fmt.Sprintf("/api/v1/accounts/%d/followers?limit=%d", b.drawn.accounts[len(b.drawn.accounts)/20], pageSize)},
	} {
		if err := b.beside(ctx, q.name, q.path, sites, fixed); err != nil {
			return fmt.Errorf("http, %s: %w", q.name, err)
		}
	}
	return nil
}

// relationships asks about n people whom the smallest viewer knows.
func relationships(n int) string {
	var q strings.Builder
	for i := range n {
		fmt.Fprintf(&q, "&id[]=%d", graph.ViewerKnows(i*3))
	}
	return "/api/v1/accounts/relationships?" + q.String()[1:]
}

// asked is one address that is timed.
type asked struct {
	url, token string
	line       report.Line
}

// beside times one question to all sites and a fixed body of its size in turns.
func (b *Bench) beside(ctx context.Context, name, path string, sites []Site, fixed func(context.Context, []byte) (string, func() error, error)) error {
	all, err := addresses(sites, path)
	if err != nil {
		return err
	}
	body, err := get(all[0].url, all[0].token)
	if err != nil {
		return err
	}
	fixedURL, stop, err := fixed(ctx, body)
	if err != nil {
		return err
	}
	defer stop()
	all = append(all, asked{url: fixedURL, line: report.Line{Peer: fixedPeer}})
	for round := range b.Rounds {
		for i := range all {
			a := &all[i]
			b.Progress("http", name, a.line.Peer, round)
			r, err := drive(ctx, connections, b.Span, uint64(round), asking(a.url, a.token))
			if err != nil {
				return err
			}
			a.line.Rounds = append(a.line.Rounds, r)
		}
	}
	for _, a := range all {
		a.line.Work, a.line.Case, a.line.Unit, a.line.Better = "http", name, "answers/s", report.Higher
		b.Lines = append(b.Lines, a.line)
	}
	return nil
}

// addresses are those of a path on every site, asked by the smallest viewer.
func addresses(sites []Site, path string) (all []asked, err error) {
	for _, s := range sites {
		token, err := s.Token(graph.Viewer(ViewerSizes[0]))
		if err != nil {
			return nil, err
		}
		all = append(all, asked{url: s.URL + path, token: token, line: report.Line{Peer: s.Name}})
	}
	return all, nil
}

// asking makes clients who get one address. An answer other than 200 is an error.
func asking(url, token string) func(context.Context, *client) error {
	c := newHTTPClient()
	return func(context.Context, *client) error {
		_, err := c.get(url, token)
		return err
	}
}

func get(url, token string) ([]byte, error) { return newHTTPClient().get(url, token) }

// httpClient keeps its connections.
type httpClient struct{ fasthttp.Client }

func newHTTPClient() *httpClient {
	return &httpClient{fasthttp.Client{MaxConnsPerHost: connections, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}}
}

func (c *httpClient) get(url, token string) ([]byte, error) { return c.send("GET", url, token) }

func (c *httpClient) send(method, url, token string) ([]byte, error) {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.SetRequestURI(url)
	req.Header.SetMethod(method)
	req.Header.Set("Authorization", "Bearer "+token)
	if err := c.Do(req, resp); err != nil {
		return nil, err
	}
	if code := resp.StatusCode(); code != fasthttp.StatusOK {
		return nil, fmt.Errorf("%s %s: status %d: %.200s", method, url, code, resp.Body())
	}
	return append([]byte(nil), resp.Body()...), nil
}
