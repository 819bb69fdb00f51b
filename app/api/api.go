package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"kith/app/relation"
	"kith/app/token"
	"kith/repo/account"
	counts "kith/repo/relation"
)

// Defaults of a Config.
const (
	DefaultRequestTimeout = 10 * time.Second
	DefaultMaxBody        = 256 << 10
)

// Relations answers questions about relations and changes them.
type Relations interface {
	asker
	pager
	changer
}

type asker interface {
	Relationships(ctx context.Context, viewer uint64, ids []uint64) ([]relation.Relationship, error)
	FamiliarFollowers(ctx context.Context, viewer uint64, ids []uint64) ([]relation.Familiar, error)
	Counts(ctx context.Context, ids []uint64) ([]counts.Counts, error)
	RequestCount(ctx context.Context, owner uint64) (int, error)
}

type pager interface {
	Followers(ctx context.Context, viewer, owner uint64, r relation.Range) (relation.Page, error)
	Following(ctx context.Context, viewer, owner uint64, r relation.Range) (relation.Page, error)
	Friends(ctx context.Context, viewer, owner uint64, r relation.Range) (relation.Page, error)
	Blocks(ctx context.Context, owner uint64, r relation.Range) (relation.Page, error)
	Mutes(ctx context.Context, owner uint64, r relation.Range) (relation.Page, error)
	Requests(ctx context.Context, owner uint64, r relation.Range) (relation.Page, error)
}

type changer interface {
	Follow(ctx context.Context, actor, target uint64, o relation.FollowOptions) (relation.Relationship, error)
	Unfollow(ctx context.Context, actor, target uint64) (relation.Relationship, error)
	RemoveFollower(ctx context.Context, actor, target uint64) (relation.Relationship, error)
	Authorize(ctx context.Context, actor, requester uint64) (relation.Relationship, error)
	Reject(ctx context.Context, actor, requester uint64) (relation.Relationship, error)
	Block(ctx context.Context, actor, target uint64) (relation.Relationship, error)
	Unblock(ctx context.Context, actor, target uint64) (relation.Relationship, error)
	Mute(ctx context.Context, actor, target uint64, notifications bool, duration time.Duration) (relation.Relationship, error)
	Unmute(ctx context.Context, actor, target uint64) (relation.Relationship, error)
	SetNote(ctx context.Context, actor, target uint64, note string) (relation.Relationship, error)
}

var _ Relations = (*relation.Service)(nil)

// Accounts tells who there is.
type Accounts interface {
	Get(ctx context.Context, ids []uint64) ([]account.Account, error)
	One(ctx context.Context, id uint64) (account.Account, error)
	ByName(ctx context.Context, name string) (account.Account, error)
}

// Tokens verifies bearer tokens.
type Tokens interface {
	Verify(ctx context.Context, text string) (token.Claims, error)
}

var _ Tokens = (*token.Tokens)(nil)

// Registry takes the metrics and shows them; *prometheus.Registry is one.
type Registry interface {
	prometheus.Registerer
	prometheus.Gatherer
}

// Config is what a Server works with. Relations, Accounts and Tokens must be
// set; everything else has a default.
type Config struct {
	Relations Relations
	Accounts  Accounts
	Tokens    Tokens

	// Interactions takes what accounts do with each other; nil: nobody does.
	Interactions Interactions
	// Affinity puts one's own friends in order; nil: by time.
	Affinity Affinity
	// Suggestions tells whom one may want to follow; nil: nobody.
	Suggestions Suggestions

	// BaseURL is the public address, without a slash at its end, that links
	// begin with. Empty: what each request calls us, by its Host and whether it
	// came over TLS. Set it behind a proxy that ends TLS.
	BaseURL string
	// Domain is the name after the @ of an account; empty: the host of BaseURL,
	// or localhost.
	Domain string
	// Title, Description and Version are what the instance says of itself;
	// Version is that of kith.
	Title, Description, Version string

	// Log gets a line for each request at info; nil: nothing is logged.
	Log *slog.Logger
	// Registry gets the metrics and is shown at /metrics; nil: a new one.
	Registry Registry
	// HideMetrics leaves /metrics out: they are shown elsewhere, see NewOperations.
	HideMetrics bool
	// Ready names what is not ready; nil: all is. It is called for each probe.
	Ready func(ctx context.Context) []string

	// RateLimit is how many requests an account or address may make in five
	// minutes; 0: any number.
	RateLimit int
	// TrustedProxies are the networks of proxies whose X-Forwarded-For names
	// the client; empty: the client is whoever connects.
	TrustedProxies []netip.Prefix
	// RequestTimeout is how long the work of one request may take.
	RequestTimeout time.Duration
	// MaxBody is the longest request body in bytes.
	MaxBody int64
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Server is the API as an http.Handler. It is safe for concurrent use.
type Server struct {
	cfg      Config
	echo     *echo.Echo
	routes   []route
	sessions *sessions
	rate     *rate
	metrics  *metrics
	ids      *requestIDs
	place    *place // nil: it depends on the request
}

var _ http.Handler = (*Server)(nil)

// New checks the configuration and makes a Server. It starts nothing.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, echo: echo.New(), ids: newRequestIDs()}
	if cfg.BaseURL != "" {
		s.place = newPlace(cfg.BaseURL)
	}
	s.sessions = newSessions(cfg)
	s.rate = newRate(cfg.RateLimit, cfg.TrustedProxies)
	if s.metrics, err = newMetrics(cfg.Registry); err != nil {
		return nil, err
	}
	s.routes = s.table()
	s.register()
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

func (s *Server) register() {
	s.echo.HTTPErrorHandler = func(err error, c echo.Context) { s.fail(&call{Context: c}, err) }
	s.echo.Use(s.around)
	for _, r := range s.routes {
		h := s.serve(r)
		s.echo.Add(r.method, r.path, h)
		if r.method == http.MethodGet {
			s.echo.Add(http.MethodHead, r.path, h)
		}
	}
}

func (cfg Config) checked() (Config, error) {
	if cfg.Relations == nil || cfg.Accounts == nil || cfg.Tokens == nil {
		return cfg, errors.New("api: Relations, Accounts and Tokens must be set")
	}
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	host, err := hostOf(cfg.BaseURL)
	if err != nil {
		return cfg, err
	}
	setDefault(&cfg.Domain, host)
	setDefault(&cfg.Title, "kith")
	setDefault(&cfg.Description, "A social graph that speaks Mastodon's client API.")
	setDefault(&cfg.Version, "dev")
	setDefault(&cfg.RequestTimeout, DefaultRequestTimeout)
	setDefault(&cfg.MaxBody, DefaultMaxBody)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Registry == nil {
		cfg.Registry = prometheus.NewRegistry()
	}
	if cfg.Ready == nil {
		cfg.Ready = func(context.Context) []string { return nil }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return cfg, nil
}

// localName is what a server calls itself that was told no other name.
const localName = "localhost"

// hostOf returns the host of a base address. Clients take Link headers apart
// at commas and angle brackets, so an address must have none.
func hostOf(base string) (string, error) {
	if base == "" {
		return localName, nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.RawQuery != "" || u.Fragment != "" || u.User != nil || strings.ContainsAny(base, ",<> \"") {
		return "", fmt.Errorf("api: base address %q must look like https://example.org", base)
	}
	return u.Hostname(), nil
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}
