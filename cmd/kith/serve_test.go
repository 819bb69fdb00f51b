package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// get asks a server and reads JSON.
func get(t *testing.T, url, token string, into any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s: %s, %v", url, answer.Status, body, err)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("GET %s: %v: %s", url, err, body)
	}
}

// served starts a server with two accounts and returns its address and a
// token of the first.
func served(t *testing.T, env []string) (p *process, address, token string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"ada", "ben"} {
		runKith(t, dir, env, nil, "account", "add", name).wants(t)
	}
	token = strings.TrimSpace(runKith(t, dir, env, nil, "token", "--account", "1").wants(t))
	p = startKith(t, dir, env, "serve", "--log-level", "debug")
	address, _, _ = strings.Cut(p.waitFor(t, "msg=serving address="), " ")
	return p, address, token
}

func TestServe(t *testing.T) {
	p, address, token := served(t, migrated(t))
	var me struct{ ID, Username string }
	get(t, "http://"+address+"/api/v1/accounts/verify_credentials", token, &me)
	if me.ID != "1" || me.Username != "ada" {
		t.Errorf("the token acts as %+v, want account 1, ada", me)
	}
	get(t, "http://"+address+"/readyz", "", nil)
	for _, metric := range []string{"kith_swaps_total", "kith_commit_edits", "kith_cache_gets_total", "go_sql_open_connections", "kith_http_requests_total",
		`kith_build_info{go="go`, "kith_commit_seconds", `kith_mysql_call_seconds_count{kind="read"}`, "kith_http_connections "} {
		if !strings.Contains(metrics(t, address), metric) {
			t.Errorf("/metrics lacks %s", metric)
		}
	}
	env := []string{"KITH_LISTEN=" + address}
	runKith(t, t.TempDir(), env, nil, "health").wants(t)
	if code := p.interrupt(t); code != 0 {
		t.Errorf("exit code %d after SIGINT, want 0", code)
	}
	if said := p.said(); strings.Contains(said, testSecret) || strings.Contains(said, token) {
		t.Errorf("the log shows a secret:\n%s", said)
	}
}

func metrics(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestServe_PortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := runKith(t, t.TempDir(), append(migrated(t), "KITH_LISTEN="+l.Addr().String()), nil, "serve")
	r.wantsRefusal(t, "KITH_LISTEN", l.Addr().String(), "in use")
}

// follow begins a follow whose body is still on its way: the server has read
// the head and waits.
func follow(t *testing.T, address, token string) (conn net.Conn, finish func() *http.Response) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	body := "reblogs=false"
	fmt.Fprintf(conn, "POST /api/v1/accounts/2/follow HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", address, token, len(body))
	answers := bufio.NewReader(conn)
	// The server sends this when the handler begins to read the body.
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server answers %q, %v, want 100 Continue", line, err)
	}
	answers.ReadString('\n')
	return conn, func() *http.Response {
		io.WriteString(conn, body)
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("the request under way got no answer: %v", err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
}

// A request under way when SIGTERM comes is answered, and what it changed is
// there afterwards.
func TestServe_Graceful(t *testing.T) {
	env := migrated(t)
	p, address, token := served(t, env)
	_, finish := follow(t, address, token)
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.cmd.Process.Signal(syscall.SIGINT) // at once: some wrappers signal twice
	p.waitFor(t, "msg=stopping")
	answer := finish()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("the request under way is answered %s, want 200", answer.Status)
	}
	var relationship struct{ Following bool }
	if err := json.NewDecoder(answer.Body).Decode(&relationship); err != nil || !relationship.Following {
		t.Errorf("the answer is %+v, %v, want following", relationship, err)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if out := runKith(t, t.TempDir(), env, nil, "export").wants(t); !strings.HasPrefix(out, "1 2 ") {
		t.Errorf("afterwards the follows are %q, want 1 2", out)
	}
}

// An interaction with nobody is taken, since the request waits for nothing, but
// gets no further.
func TestServe_InteractionWithNobody(t *testing.T) {
	env := append(migrated(t), "KITH_INTERACTION_FLUSH=100ms")
	_, address, _ := served(t, env)
	token := strings.TrimSpace(runKith(t, t.TempDir(), env, nil, "token", "--account", "1", "--scope", "write:interactions").wants(t))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/api/v1/interactions", strings.NewReader(
		`{"interactions":[{"actor":"1","target":"2","kind":"message"},{"actor":"1","target":"99","kind":"message"},{"actor":"99","target":"1","kind":"message"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusAccepted {
		t.Fatalf("got %s, want 202", answer.Status)
	}
	late := time.Now().Add(patience)
	for !strings.Contains(metrics(t, address), "kith_interactions_written_total 1\n") {
		if time.Now().After(late) {
			t.Fatalf("nothing is written:\n%s", metrics(t, address))
		}
	}
	if text := metrics(t, address); !strings.Contains(text, `kith_interactions_dropped_total{reason="unknown"} 2`+"\n") {
		t.Errorf("the metrics lack the two dropped:\n%s", text)
	}
}

// The end does not wait for ever, and then says so.
func TestServe_GraceOver(t *testing.T) {
	p, address, token := served(t, append(migrated(t), "KITH_SHUTDOWN_GRACE=1s"))
	follow(t, address, token)
	if code := p.interrupt(t); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	if !strings.Contains(p.said(), "kith: requests were still under way after KITH_SHUTDOWN_GRACE (1s)") {
		t.Errorf("it says\n%s", p.said())
	}
}

// A second signal ends kith at once.
func TestServe_SecondSignal(t *testing.T) {
	p, address, token := served(t, migrated(t))
	follow(t, address, token)
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.waitFor(t, "msg=stopping")
	<-time.After(2 * echo)
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.wait(t); code != exitInterrupted || !strings.Contains(p.said(), "kith: a second signal") {
		t.Errorf("exit code %d, want 130 and the reason; it says\n%s", code, p.said())
	}
}

// Whoever holds more connections than the process may open files keeps nobody out.
func TestServe_FilesUsedUp(t *testing.T) {
	cmd := command(t, t.TempDir(), append(migrated(t), "KITH_LOG_LEVEL=info"), "serve")
	cmd.Args = append([]string{"sh", "-c", `ulimit -n 160 && exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	p := startCommand(t, cmd)
	if line := p.waitFor(t, "allows fewer connections than KITH_MAX_CONNECTIONS"); !strings.Contains(line, "files=160 wanted=10000 max=56") {
		t.Errorf("the log says %q", line)
	}
	address, _, _ := strings.Cut(p.waitFor(t, "msg=serving address="), " ")
	for range 200 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	for range 3 {
		get(t, "http://"+address+"/readyz", "", nil)
	}
	p.waitFor(t, `level=WARN msg="all connections are taken`)
	if text := metrics(t, address); !strings.Contains(text, "kith_http_connections_max 56\n") || strings.Contains(text, "kith_http_connections_reclaimed_total 0\n") {
		t.Errorf("the metrics do not say so:\n%s", text)
	}
}

func TestConnectionsFor(t *testing.T) {
	for _, c := range []struct{ wanted, files, pool, want int }{
		{10_000, 1 << 20, 40, 10_000}, {10_000, 1024, 40, 920}, {10_000, 256, 40, 152}, {10, 256, 40, 10}, {10_000, 64, 40, 1},
	} {
		if got := connectionsFor(c.wanted, c.files, c.pool); got != c.want {
			t.Errorf("%d wanted, %d files, a pool of %d: got %d, want %d", c.wanted, c.files, c.pool, got, c.want)
		}
	}
}

func TestReachable(t *testing.T) {
	for listen, want := range map[string]string{
		":8080": "127.0.0.1:8080", "0.0.0.0:1": "127.0.0.1:1", "[::]:1": "127.0.0.1:1", "10.0.0.1:2": "10.0.0.1:2", "localhost:3": "localhost:3",
	} {
		if got := reachable(listen); got != want {
			t.Errorf("%s is reached as %s, want %s", listen, got, want)
		}
	}
}
