package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
)

// listening serves a world as kith serve does and returns where.
func listening(t *testing.T, w *world, most int, log *slog.Logger) (*Listener, string) {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := NewListener(raw, most, log)
	srv := NewHTTPServer(w.server, l)
	srv.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	t.Cleanup(func() {
		srv.Close()
		<-ended
	})
	return l, raw.Addr().String()
}

// said sends text on a connection of its own and returns all answers until the
// server closes it, which last must make it do.
func said(t *testing.T, address, text string) []answer {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	var all []answer
	for r := bufio.NewReader(conn); ; {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			if err != io.EOF && err != io.ErrUnexpectedEOF {
				t.Fatalf("after %d answers: %v", len(all), err)
			}
			return all
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, answer{t, fmt.Sprintf("%.30q", text), resp.StatusCode, resp.Header, string(body)})
	}
}

// Whatever comes over the wire, an error is JSON with a code.
func TestPlain_Errors(t *testing.T) {
	w := newWorld(t)
	_, address := listening(t, w, 100, slog.New(slog.DiscardHandler))
	const host = "Host: kith.test\r\nConnection: close\r\n"
	for _, c := range []struct {
		name, text string
		want       code
	}{
		{"no request", "junk\r\n\r\n", codeInvalid},
		{"no host", "GET / HTTP/1.1\r\n\r\n", codeInvalid},
		{"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", codeInvalid},
		{"bad host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", codeInvalid},
		{"bad header", "GET / HTTP/1.1\r\n" + host + "a b: c\r\n\r\n", codeInvalid},
		{"bad escape", "GET /%zz HTTP/1.1\r\n" + host + "\r\n", codeInvalid},
		{"bad length", "POST / HTTP/1.1\r\n" + host + "Content-Length: x\r\n\r\n", codeInvalid},
		{"expectation", "POST / HTTP/1.1\r\n" + host + "Expect: miracles\r\nContent-Length: 0\r\n\r\n", codeExpectation},
		{"expectation, 1.0", "POST / HTTP/1.0\r\nExpect: miracles\r\n\r\n", codeExpectation},
		{"headers", "GET / HTTP/1.1\r\n" + host + "A: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", codeHeaders},
		{"transfer encoding", "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", codeTransfer},
		{"version 3", "GET / HTTP/3.0\r\n" + host + "\r\n", codeVersion},
		{"version 2, prior knowledge", "PRI * HTTP/2.0\r\n\r\n", codeEndpoint},
		{"options of all", "OPTIONS * HTTP/1.1\r\n" + host + "\r\n", codeEndpoint},
		{"connect", "CONNECT a:80 HTTP/1.1\r\n" + host + "\r\n", codeEndpoint},
		{"unknown", "GET /nothing HTTP/1.1\r\n" + host + "\r\n", codeEndpoint},
		{"unknown, 1.0", "GET /nothing HTTP/1.0\r\n\r\n", codeEndpoint},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := said(t, address, c.text)
			if len(all) != 1 {
				t.Fatalf("got %d answers, want 1: %v", len(all), all)
			}
			var e struct{ Error, Code string }
			got, want := all[0], meanings[c.want]
			if err := json.Unmarshal([]byte(got.body), &e); err != nil || got.status != want.status || e.Code != want.text || e.Error == "" {
				t.Errorf("got %d %s, %v; want %d with code %s", got.status, got.body, err, want.status, want.text)
			}
			if kind := got.header.Get("Content-Type"); kind != jsonType[0] || got.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("got headers %v", got.header)
			}
		})
	}
}

// Requests in one go are answered in order, and a bad one among them after the
// good ones before it.
func TestPlain_Pipelined(t *testing.T) {
	w := newWorld(t)
	me, you := w.add(false), w.add(false)
	_, address := listening(t, w, 100, slog.New(slog.DiscardHandler))
	look := func(id uint64) string {
		return fmt.Sprintf("GET %s HTTP/1.1\r\nHost: kith.test\r\n\r\n", at(id, ""))
	}
	const comment = `{"comment":"é"}`
	note := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: kith.test\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		at(you, "/note"), w.as(me).token, len(comment), comment)
	all := said(t, address, look(me)+note+look(you)+look(9)+"junk\r\n\r\n"+look(me))
	var got []int
	for _, a := range all {
		got = append(got, a.status)
	}
	if want := "[200 200 200 404 400]"; fmt.Sprint(got) != want {
		t.Fatalf("got %v, want %s: %v", got, want, all)
	}
	if into[who](all[0]).ID != text(me) || into[rel](all[1]).Note != "é" || into[who](all[2]).ID != text(you) {
		t.Errorf("got %v", all)
	}
	all[4].refused(http.StatusBadRequest, "not valid HTTP")
	old := said(t, address, fmt.Sprintf("GET %s HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET %s HTTP/1.0\r\n\r\n", at(me, ""), at(you, "")))
	if len(old) != 2 || into[who](old[1]).ID != text(you) {
		t.Errorf("HTTP/1.0: got %v, want two answers", old)
	}
}

// What a handler sends is never taken for what net/http says.
func TestPlain_OthersAreLeftAlone(t *testing.T) {
	for _, text := range []string{
		"", "HTTP/1.1 4", "HTTP/1.1 400 Bad Request\r\nCache-Control: x\r\n\r\n", "HTTP/1.1 200 OK" + plainHead + "fine",
		"HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\n\r\n", "HTTP/1.1 4x0 y" + plainHead, `{"error":"HTTP/1.1 400 Bad Request"}`,
		"HTTP/1.1 400 Bad Request", "HTTP/1.1 404 Not Found" + plainHead + "404 page not found",
	} {
		if got := jsonOf([]byte(text)); got != nil {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
