package work

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
)

// processes is how many processes follow one account at once, and contendClients
// are shared out over them.
var processes = []int{1, 2, 4}

const contendClients = 256

// contend lets several processes, each with its own store and committer, add followers to
// one account with a full list. The only peer is kith.
func (b *Bench) contend(ctx context.Context, peers []peer.Peer) error {
	var loads []load
	for i, n := range processes {
		name := fmt.Sprintf("%d processes", n)
		if n == 1 {
			name = "1 process"
		}
		loads = append(loads, rate("contend", name, "follows/s",
			each(peers, func(ctx context.Context, p peer.Peer, round int) (report.Round, error) {
				return b.contendOnce(ctx, p, n, (len(hotClients)+i)*b.Rounds+round)
			})))
	}
	return b.run(ctx, loads...)
}

func (b *Bench) contendOnce(ctx context.Context, p peer.Peer, n, star int) (report.Round, error) {
	urls := make([]string, n)
	for i := range n {
		child, err := startSite(ctx, p.Name(), func(address string) *exec.Cmd {
			return exec.Command(os.Args[0], "client", "--listen="+address, "--dsn="+b.Servers.DSN(p.Name()), "--memcached="+b.Servers.Memcached.Socket,
				fmt.Sprintf("--star=%d", graph.Star(star)), fmt.Sprintf("--warm=%d", graph.Star(Stars(b.Rounds)-1)),
				fmt.Sprintf("--first=%d", firstFan(star)+uint64(i*graph.FreshEach/n)), fmt.Sprintf("--clients=%d", contendClients/n), fmt.Sprintf("--span=%v", b.Span))
		})
		if err != nil {
			return report.Round{}, err
		}
		defer child.Stop()
		urls[i] = child.url + "/run"
	}
	return gained(ctx, p, graph.Star(star), func() (sum report.Round, err error) {
		rounds := make([]report.Round, n)
		var all errgroup.Group
		for i, url := range urls {
			all.Go(func() error {
				answer, err := get(url, "")
				if err != nil {
					return err
				}
				return json.Unmarshal(answer, &rounds[i])
			})
		}
		err = all.Wait()
		for _, r := range rounds {
			sum.Ops, sum.Failed = sum.Ops+r.Ops, sum.Failed+r.Failed
			sum.Seconds, sum.P50, sum.P99 = max(sum.Seconds, r.Seconds), max(sum.P50, r.P50), max(sum.P99, r.P99)
		}
		return sum, err
	})
}

// Client is the command of one process of contend, on the database and the memcached of the
// peer kith.
type Client struct {
	Listen    string        `required:""`
	DSN       string        `name:"dsn" required:""`
	Memcached string        `required:""`
	Star      uint64        `required:""`
	Warm      uint64        `required:"" help:"The star that is followed before the clock runs."`
	First     uint64        `required:""`
	Clients   int           `required:""`
	Span      time.Duration `required:""`
}

// ballast is memory as `kith serve` has it for its garbage. A process that has just started
// has 4 MB, and collects its garbage 50 times a second under this load, five times as often.
const ballast = 64 << 20

// warmUp is how long a process follows another account before it is ready, which opens its
// connections.
const warmUp = 250 * time.Millisecond

// Run serves until it is killed. It answers /run with what it did in a round.
func (c Client) Run(ctx context.Context) error {
	k, err := peer.OpenKith(ctx, peer.KithName, c.DSN, c.Memcached, 0)
	if err != nil {
		return err
	}
	held := make([]byte, ballast)
	defer runtime.KeepAlive(held)
	warm := newLedger(k, c.Clients, fansOf(c.Warm, c.First))
	if _, err := drive(ctx, c.Clients, warmUp, c.First, warm.follow); err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	http.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/run", func(w http.ResponseWriter, r *http.Request) {
		l := newLedger(k, c.Clients, fansOf(c.Star, c.First+graph.FreshEach/8))
		round, err := l.drive(r.Context(), c.Span, int(c.First), l.follow)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		json.NewEncoder(w).Encode(round)
	})
	return http.ListenAndServe(c.Listen, nil)
}
