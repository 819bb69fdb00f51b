package main

import (
	"bytes"
	"context"
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
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo/dbtest"
	"kith/repo/memcachetest"
	"kith/repo/mysqld"
	"kith/repo/waittest"
)

// front is the address under which kith finds its database, whichever server has it:
// what a virtual address or a proxy is at work.
type front struct {
	net.Listener
	mu     sync.Mutex
	socket string
	conns  []net.Conn
}

func newFront(t *testing.T) *front {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &front{Listener: l}
	t.Cleanup(func() {
		l.Close()
		f.move("")
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.carry(c)
		}
	}()
	return f
}

func (f *front) carry(client net.Conn) {
	f.mu.Lock()
	server, err := net.Dial("unix", f.socket)
	if err == nil {
		f.conns = append(f.conns, client, server)
	}
	f.mu.Unlock()
	if err != nil {
		client.Close()
		return
	}
	go func() {
		io.Copy(server, client)
		server.Close()
	}()
	io.Copy(client, server)
	client.Close()
}

// move leads to another server from now on, and ends the connections to the one before.
func (f *front) move(socket string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.socket = socket
	for _, c := range f.conns {
		c.Close()
	}
	f.conns = nil
}

func (f *front) dsn() string { return "root@tcp(" + f.Addr().String() + ")/kith" }

// drill is two servers of kith that share a memcached, on a database that goes back.
type drill struct {
	*testing.T
	dir       string
	env       []string
	front     *front
	before    *mysqld.Server // the database at first
	processes []*process
	addresses []string
	tokens    map[int]string
}

const (
	star     = 1000
	newcomer = 700 // has an account and no relations
)

// newDrill starts everything, with a star whom 600 people follow.
func newDrill(t *testing.T, args ...string) *drill {
	d := &drill{T: t, dir: t.TempDir(), front: newFront(t), tokens: map[int]string{}}
	d.before = d.server(args...)
	if err := d.before.CreateDatabase(t.Context(), "kith"); err != nil {
		t.Fatal(err)
	}
	d.front.move(d.before.Socket())
	d.env = append(on(d.front.dsn()), "KITH_MEMCACHED="+memcachetest.Start(t).Addr)
	runKith(t, d.dir, d.env, nil, "migrate", "up").wants(t)
	var follows strings.Builder
	for fan := 1; fan <= 600; fan++ {
		fmt.Fprintln(&follows, fan, star)
	}
	fmt.Fprint(&follows, "601 2\n602 2\n603 2\n604 2\n")
	runKith(t, d.dir, d.env, strings.NewReader(follows.String()), "import", "-").wants(t)
	runKith(t, d.dir, d.env, nil, "account", "add", "newcomer", "--id", fmt.Sprint(newcomer)).wants(t)
	for _, id := range []int{600, 601, 602, 603, 604, newcomer, star} {
		d.tokens[id] = strings.TrimSpace(runKith(t, d.dir, d.env, nil, "token", "--account", fmt.Sprint(id)).wants(t))
	}
	d.start()
	return d
}

// server starts a database server.
func (d *drill) server(args ...string) *mysqld.Server {
	d.Helper()
	s, err := mysqld.Start(d.Context(), mysqld.Options{Dir: d.TempDir(), Durable: true, Args: args})
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		s.Stop(ctx)
	})
	return s
}

// start starts the two servers of kith.
func (d *drill) start() {
	d.Helper()
	d.processes, d.addresses = nil, nil
	for range 2 {
		p := startKith(d.T, d.dir, d.env, "serve")
		address, _, _ := strings.Cut(p.waitFor(d.T, "msg=serving address="), " ")
		d.processes, d.addresses = append(d.processes, p), append(d.addresses, address)
	}
}

// change makes a change through one of the two servers, as often as it takes: right
// after a failover a server finds its connections dead.
func (d *drill) change(server, who int, what string, whom int) {
	d.Helper()
	url := fmt.Sprintf("http://%s/api/v1/accounts/%d/%s", d.addresses[server], whom, what)
	for deadline := time.Now().Add(patience); ; {
		request, err := http.NewRequestWithContext(d.Context(), http.MethodPost, url, nil)
		if err != nil {
			d.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+d.tokens[who])
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			d.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return
		}
		if answer.StatusCode != http.StatusServiceUnavailable || time.Now().After(deadline) {
			d.Fatalf("%d %s %d: %s: %s", who, what, whom, answer.Status, body)
		}
	}
}

// view is what a server shows of the star and of who follows it.
type view struct {
	Count   int
	Newest  []string
	Follows map[int]bool
}

func (d *drill) view(server int) view {
	d.Helper()
	base := "http://" + d.addresses[server] + "/api/v1/accounts/"
	out := view{Follows: map[int]bool{}}
	var account struct {
		Followers int `json:"followers_count"`
	}
	get(d.T, base+fmt.Sprint(star), d.tokens[star], &account)
	out.Count = account.Followers
	var page []struct{ ID string }
	get(d.T, base+fmt.Sprintf("%d/followers?limit=80", star), d.tokens[star], &page)
	for _, p := range page {
		out.Newest = append(out.Newest, p.ID)
	}
	for who, token := range d.tokens {
		if who == star {
			continue
		}
		var states []struct{ Following bool }
		get(d.T, base+fmt.Sprintf("relationships?id[]=%d", star), token, &states)
		out.Follows[who] = len(states) == 1 && states[0].Following
	}
	return out
}

// lose makes changes that the database is going to lose, and both servers read them.
// The row of the star is changed once: were ver a count, the first change after the
// loss would bring it to the same ver again.
func (d *drill) lose() {
	d.Helper()
	d.change(0, 601, "follow", star)
	d.change(1, newcomer, "follow", 2)
	d.change(0, 603, "unfollow", 2)
	for server := range d.addresses {
		if now := d.view(server); !now.Follows[601] || now.Follows[602] {
			d.Fatalf("server %d shows %v before the loss", server, now.Follows)
		}
	}
}

// goOn makes changes after the loss, while the servers still know what was lost.
func (d *drill) goOn() {
	d.Helper()
	d.change(0, 602, "follow", star)
	d.change(1, 604, "follow", star)
	d.change(0, newcomer, "follow", 3)
	d.change(1, 600, "follow", 3)
	d.consistent()
}

// consistent checks that what was lost is lost, that what came since is there, and
// that all rows agree.
func (d *drill) consistent() {
	d.Helper()
	follows := strings.Split(runKith(d.T, d.dir, d.env, nil, "export", "-").wants(d.T), "\n")
	has := func(who, whom int) bool {
		return slices.ContainsFunc(follows, func(line string) bool {
			return line == fmt.Sprint(who, " ", whom) || strings.HasPrefix(line, fmt.Sprint(who, " ", whom, " "))
		})
	}
	for edge, want := range map[[2]int]bool{{601, star}: false, {newcomer, 2}: false, {603, 2}: true, {600, star}: true,
		{602, star}: true, {604, star}: true, {newcomer, 3}: true, {600, 3}: true, {601, 2}: true} {
		if has(edge[0], edge[1]) != want {
			d.Errorf("%d follows %d: %v, want %v", edge[0], edge[1], !want, want)
		}
	}
	r := runKith(d.T, d.dir, d.env, nil, "audit")
	if r.code != 0 {
		d.Errorf("the audit ends with %d:\n%s%s", r.code, r.out, r.err)
	}
}

// renew makes the cache begin anew and waits until both servers have noticed.
func (d *drill) renew() {
	d.Helper()
	runKith(d.T, d.dir, d.env, nil, "cache", "renew").wants(d.T)
	for _, p := range d.processes {
		p.waitFor(d.T, "the cache starts empty")
	}
}

// agree checks that both servers show what the database has.
func (d *drill) agree() {
	d.Helper()
	for server := range d.addresses {
		now := d.view(server)
		for who, want := range map[int]bool{600: true, 601: false, 602: true, 604: true, newcomer: false} {
			if now.Follows[who] != want {
				d.Errorf("server %d: %d follows the star: %v, want %v", server, who, !want, want)
			}
		}
		if now.Count != 602 || !slices.Contains(now.Newest, "604") || slices.Contains(now.Newest, "601") || slices.Contains(now.Newest, fmt.Sprint(newcomer)) {
			d.Errorf("server %d: %d followers, newest %v", server, now.Count, now.Newest[:5])
		}
	}
	d.consistent()
}

// A primary dies before its replica has all it acknowledged, and the replica takes
// over while kith runs. What was acknowledged since stays, and what was lost does not
// come back, not even by half. These are the steps of docs/operations.md.
func TestHistory_Failover(t *testing.T) {
	port := freePort(t)
	d := newDrill(t, "--skip-networking=0", "--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", port),
		"--log-bin=binlog", "--binlog-format=ROW", "--server-id=1")
	primary := dbtest.OpenServer(t, d.before.DSN(""))
	if version := one(t, primary, `SELECT VERSION()`); !strings.Contains(version, "MariaDB") {
		t.Skip("the statements of replication are those of MariaDB")
	}
	after := d.server("--server-id=2")
	replica := dbtest.OpenServer(t, after.DSN(""))
	primary.MustExec(`CREATE USER repl@'127.0.0.1' IDENTIFIED BY 'repl'`)
	primary.MustExec(`GRANT REPLICATION SLAVE ON *.* TO repl@'127.0.0.1'`)
	replica.MustExec(fmt.Sprintf(`CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=%d, MASTER_USER='repl', MASTER_PASSWORD='repl', MASTER_USE_GTID=slave_pos`, port))
	replica.MustExec(`SET GLOBAL read_only=1`)
	replica.MustExec(`START SLAVE`)
	if got := one(t, replica, `SELECT MASTER_GTID_WAIT('`+one(t, primary, `SELECT @@gtid_binlog_pos`)+`', 60)`); got != "0" {
		t.Fatalf("the replica does not follow: %s", got)
	}

	replica.MustExec(`STOP SLAVE`) // it is behind
	d.lose()
	syscall.Kill(d.before.Pid(), syscall.SIGKILL)
	waittest.Receive(t, patience, "failover", d.before.Done())
	replica.MustExec(`RESET SLAVE ALL`)
	replica.MustExec(`SET GLOBAL read_only=0`)
	d.front.move(after.Socket())
	d.goOn()
	d.renew()
	d.agree()
}

// The same with a backup that is restored beside the database, which then takes its
// place, while kith runs or is stopped.
func TestHistory_Restore(t *testing.T) {
	for name, stopped := range map[string]bool{"Running": false, "Stopped": true} {
		t.Run(name, func(t *testing.T) {
			d := newDrill(t)
			backup := filepath.Join(d.dir, "kith.sql")
			d.client(d.before, nil, backup, "mariadb-dump", "mysqldump", "--single-transaction", "--hex-blob", "kith")
			d.lose()
			if stopped {
				for _, p := range d.processes {
					p.interrupt(t)
				}
			}
			after := d.server()
			if err := after.CreateDatabase(t.Context(), "kith"); err != nil {
				t.Fatal(err)
			}
			dump, err := os.Open(backup)
			if err != nil {
				t.Fatal(err)
			}
			defer dump.Close()
			d.client(after, dump, os.DevNull, "mariadb", "mysql", "kith")
			d.front.move(after.Socket())
			if stopped {
				runKith(t, d.dir, d.env, nil, "cache", "renew").wants(t)
				d.start()
				d.goOn()
			} else {
				d.goOn()
				d.renew()
			}
			d.agree()
		})
	}
}

// client runs a client program of the database, by one of two names.
func (d *drill) client(s *mysqld.Server, in io.Reader, out, name, other string, args ...string) {
	d.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath(other)
	}
	if err != nil {
		d.Fatalf("%v: install the client programs of MariaDB or MySQL", err)
	}
	to, err := os.Create(out)
	if err != nil {
		d.Fatal(err)
	}
	defer to.Close()
	var errs bytes.Buffer
	cmd := exec.CommandContext(d.Context(), path, append([]string{"--no-defaults", "--user=root", "--socket=" + s.Socket()}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, to, &errs
	if err := cmd.Run(); err != nil {
		d.Fatalf("%s: %v: %s", name, err, errs.String())
	}
}

func one(t *testing.T, pool *sqlx.DB, query string) (value string) {
	t.Helper()
	if err := pool.GetContext(t.Context(), &value, query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// freePort returns a port that nobody has now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
