package api_test

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

	"kith/app/api/socket"
)

// listening serves a world as kith serve does and returns where.
func listening(t *testing.T, w *world, most int, log *slog.Logger) (*socket.Listener, string) {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := socket.New(raw, most, log)
	srv := socket.Server(w.server, l)
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
		name, text, want string
	}{
		{"no request", "junk\r\n\r\n", "400 invalid_request"},
		{"no host", "GET / HTTP/1.1\r\n\r\n", "400 invalid_request"},
		{"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400 invalid_request"},
		{"bad host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "400 invalid_request"},
		{"bad header", "GET / HTTP/1.1\r\n" + host + "a b: c\r\n\r\n", "400 invalid_request"},
		{"bad escape", "GET /%zz HTTP/1.1\r\n" + host + "\r\n", "400 invalid_request"},
		{"bad length", "POST / HTTP/1.1\r\n" + host + "Content-Length: x\r\n\r\n", "400 invalid_request"},
		{"expectation", "POST / HTTP/1.1\r\n" + host + "Expect: miracles\r\nContent-Length: 0\r\n\r\n", "417 expectation_failed"},
		{"expectation, 1.0", "POST / HTTP/1.0\r\nExpect: miracles\r\n\r\n", "417 expectation_failed"},
		{"headers", "GET / HTTP/1.1\r\n" + host + "A: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", "431 headers_too_large"},
		{"transfer encoding", "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", "501 unknown_transfer_encoding"},
		{"version 3", "GET / HTTP/3.0\r\n" + host + "\r\n", "505 unknown_http_version"},
		{"version 2, prior knowledge", "PRI * HTTP/2.0\r\n\r\n", "404 unknown_endpoint"},
		{"options of all", "OPTIONS * HTTP/1.1\r\n" + host + "\r\n", "404 unknown_endpoint"},
		{"connect", "CONNECT a:80 HTTP/1.1\r\n" + host + "\r\n", "404 unknown_endpoint"},
		{"unknown", "GET /nothing HTTP/1.1\r\n" + host + "\r\n", "404 unknown_endpoint"},
		{"unknown, 1.0", "GET /nothing HTTP/1.0\r\n\r\n", "404 unknown_endpoint"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := said(t, address, c.text)
			if len(all) != 1 {
				t.Fatalf("got %d answers, want 1: %v", len(all), all)
			}
			var e struct{ Error, Code string }
			got := all[0]
			if err := json.Unmarshal([]byte(got.body), &e); err != nil || fmt.Sprint(got.status, " ", e.Code) != c.want || e.Error == "" {
				t.Errorf("got %d %s, %v; want %s", got.status, got.body, err, c.want)
			}
			if kind := got.header.Get("Content-Type"); kind != "application/json; charset=utf-8" || got.header.Get("X-Content-Type-Options") != "nosniff" {
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
