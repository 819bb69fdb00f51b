package work

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/valyala/fasthttp"

	"kith/app/token"
	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
	"kith/cmd/kithbench/server"
)

// site is a process that answers over HTTP on loopback.
type site struct {
	*server.Process
	name, url string
}

// siteTimeout bounds how long a site may take until it is ready.
const siteTimeout = 30 * time.Second

// startSite starts a command that serves an address, and returns when it is ready.
func startSite(ctx context.Context, name string, command func(address string) *exec.Cmd) (*site, error) {
	ctx, cancel := context.WithTimeout(ctx, siteTimeout)
	defer cancel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	l.Close()
	s := &site{name: name, url: "http://" + address}
	s.Process, err = server.Start(ctx, command(address), func() error {
		_, err := get(s.url+"/readyz", "")
		return err
	})
	return s, err
}

// secret signs the tokens of the servers.
const secret = "a secret of the benchmark, at least 32 bytes"

// startKith builds kith from this checkout and serves a database of a peer, until the
// benchmark ends. The works http and memory share a server.
func (b *Bench) startKith(ctx context.Context, name, database string) (*site, error) {
	if s := b.sites[database]; s != nil {
		return s, nil
	}
	memcached := ""
	if name == peer.KithName {
		memcached = b.Servers.Memcached.Socket
	}
	root, err := Repository(ctx)
	if err != nil {
		return nil, err
	}
	program := filepath.Join(b.Servers.Dir, "kith")
	if out, err := exec.CommandContext(ctx, "go", "build", "-C", root, "-o", program, "./cmd/kith").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build kith: %w: %s", err, out)
	}
	s, err := startSite(ctx, name, func(address string) *exec.Cmd {
		cmd := exec.Command(program, "serve")
		cmd.Env = append(os.Environ(), "KITH_MYSQL_DSN="+b.Servers.DSN(database), "KITH_MEMCACHED="+memcached, "KITH_LISTEN="+address,
			"KITH_TOKEN_SECRET="+secret, "KITH_RATE_LIMIT=1000000000", "KITH_LOG_LEVEL=warn",
			fmt.Sprintf("KITH_HOME_CAP=%d", peer.HomeCap))
		return cmd
	})
	if err != nil {
		return nil, err
	}
	if b.sites == nil {
		b.sites = map[string]*site{}
	}
	b.sites[database] = s
	return s, nil
}

// Repository returns the folder of the module kith, in which the working directory is.
func Repository(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "kith").Output()
	if err != nil {
		return "", fmt.Errorf("kithbench builds kith, so run it inside the repository: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// signIn returns a token of an account, good on every site.
func signIn(ctx context.Context, account uint64) (string, error) {
	tokens, err := token.New(ctx, token.Config{Secret: []byte(secret), Now: time.Now})
	if err != nil {
		return "", err
	}
	return tokens.Sign(account, []string{"read", "write", "follow"}, time.Hour)
}

// Fixed is the command of what HTTP costs at least: a handler that always gives the same
// answer, on the framework that kith uses.
type Fixed struct {
	Listen string `required:""`
}

// Run answers with what is on standard input, until it is killed.
func (f Fixed) Run() error {
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	e := echo.New()
	e.GET("/*", func(c echo.Context) error { return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, body) })
	return http.ListenAndServe(f.Listen, e)
}

// connections is how many clients ask over HTTP at once, each on a connection.
const connections = 64

// http asks kith questions through its API, and a handler that always sends the same bytes.
func (b *Bench) http(ctx context.Context, peers []peer.Peer) error {
	var sites []*site
	for _, p := range peers {
		s, err := b.startKith(ctx, p.Name(), p.Name())
		if err != nil {
			return err
		}
		sites = append(sites, s)
	}
	token, err := signIn(ctx, graph.Viewer(graph.ViewerSizes[0]))
	if err != nil {
		return err
	}
	accounts := b.Graph.Accounts()
	var loads []load
	for _, q := range []struct{ name, path string }{
		{"relationships of 40", relationships()},
		{"followers page", fmt.Sprintf("/api/v1/accounts/%d/followers?limit=%d", accounts[len(accounts)/20], pageSize)},
	} {
		fixed, err := startFixed(ctx, sites[0].url+q.path, token)
		if err != nil {
			return err
		}
		defer fixed.Stop()
		loads = append(loads, rate("http", q.name, "answers/s", b.getting(append(slices.Clone(sites), fixed), q.path, token)))
	}
	return b.run(ctx, loads...)
}

// startFixed starts a handler that always sends what another site answers now.
func startFixed(ctx context.Context, url, token string) (*site, error) {
	body, err := get(url, token)
	if err != nil {
		return nil, err
	}
	return startSite(ctx, "echo, fixed body", func(address string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "fixed", "--listen="+address)
		cmd.Stdin = bytes.NewReader(body)
		return cmd
	})
}

// getting makes turns in which clients ask sites the same.
func (b *Bench) getting(sites []*site, path, token string) (turns []turn) {
	for _, s := range sites {
		turns = append(turns, turn{s.name, func(ctx context.Context, round int) (report.Round, error) {
			c := newHTTPClient()
			return drive(ctx, connections, b.Span, uint64(round), func(context.Context, *client) error {
				_, err := send(c, "GET", s.url+path, token)
				return err
			})
		}})
	}
	return turns
}

// relationships asks about 40 accounts that the smallest viewer knows.
func relationships() string {
	var q strings.Builder
	for i := range pageSize {
		fmt.Fprintf(&q, "&id[]=%d", graph.ViewerKnows(i*3))
	}
	return "/api/v1/accounts/relationships?" + q.String()[1:]
}

func newHTTPClient() *fasthttp.Client {
	return &fasthttp.Client{MaxConnsPerHost: connections, ReadTimeout: 30 * time.Second, WriteTimeout: 10 * time.Second}
}

func get(url, token string) ([]byte, error) { return send(newHTTPClient(), "GET", url, token) }

// send returns the answer. One other than 200 is an error.
func send(c *fasthttp.Client, method, url, token string) ([]byte, error) {
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
	return slices.Clone(resp.Body()), nil
}

// memoryClients is how many clients keep the server busy while it is weighed.
const memoryClients = 16

// weighings is how often memory is read, at most once in leastPause.
const (
	weighings  = 240
	leastPause = 10 * time.Millisecond
)

// MemoryCase is the case of the work memory. Earlier is its other line, of the same server in
// the second quarter.
const (
	MemoryCase = "server under the mix over HTTP, last quarter"
	Earlier    = "second quarter"
)

// memory runs a mix of reads and changes through the API and reads the server's resident
// memory all the while. It compares the medians of the last and the second quarter: in the
// first pools and caches fill.
func (b *Bench) memory(ctx context.Context, _ []peer.Peer) error {
	b.Progress("memory", fmt.Sprintf("mixed for %v", b.Memory), peer.KithName, 0)
	s, err := b.startKith(ctx, peer.KithName, peer.KithName)
	if err != nil {
		return err
	}
	do, err := b.overHTTP(ctx, s)
	if err != nil {
		return err
	}
	var all []float64
	var weighing error
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var done sync.WaitGroup
	done.Go(func() { all, weighing = weighEach(ctx, max(b.Memory/weighings, leastPause), s.Resident) })
	_, err = drive(ctx, memoryClients, b.Memory, 1, do)
	stop()
	done.Wait()
	if err := errors.Join(err, weighing); err != nil {
		return err
	}
	q := len(all) / 4
	if q == 0 {
		return fmt.Errorf("the server was weighed %d times in %v, which is not enough to compare", len(all), b.Memory)
	}
	middle := func(part []float64) float64 { return slices.Sorted(slices.Values(part))[q/2] }
	b.Weighed("memory", MemoryCase, "MiB", peer.KithName, middle(all[len(all)-q:]))
	b.Weighed("memory", MemoryCase, "MiB", Earlier, middle(all[q:2*q]))
	return nil
}

// weighEach calls weigh after each pause until ctx is done. It returns MiB.
func weighEach(ctx context.Context, pause time.Duration, weigh func() (int64, error)) (all []float64, err error) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return all, nil
		case <-tick.C:
			n, err := weigh()
			if err != nil {
				return all, err
			}
			all = append(all, float64(n)/(1<<20))
		}
	}
}

// overHTTP makes clients that read pages and states, follow and unfollow, about as often as
// LinkBench does, each time as one of a hundred accounts.
func (b *Bench) overHTTP(ctx context.Context, s *site) (func(context.Context, *client) error, error) {
	const people = 100
	accounts := b.Graph.Accounts()
	var ids [people]uint64
	var tokens [people]string
	for i := range tokens {
		var err error
		ids[i] = accounts[i*7%len(accounts)]
		if tokens[i], err = signIn(ctx, ids[i]); err != nil {
			return nil, err
		}
	}
	c, reads := newHTTPClient(), graph.NewZipf(accounts, 0.8)
	return func(_ context.Context, cl *client) error {
		who, id := cl.IntN(people), reads.Draw(cl.Rand)
		if id == ids[who] {
			return nil
		}
		method, path := request(cl, id)
		_, err := send(c, method, s.url+path, tokens[who])
		return err
	}, nil
}

// request draws what is asked about an account.
func request(c *client, id uint64) (method, path string) {
	account := fmt.Sprintf("/api/v1/accounts/%d", id)
	switch x := c.IntN(100); {
	case x < 10:
		return "POST", account + "/follow"
	case x < 14:
		return "POST", account + "/unfollow"
	case x < 30:
		return "GET", account
	case x < 45:
		return "GET", relationships()
	default:
		return "GET", account + "/followers?limit=40"
	}
}
