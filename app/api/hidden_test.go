package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kith/app/api/core"
	scores "kith/repo/affinity"
)

// planted is a score that occurs nowhere by accident.
const planted = 123456.789

// traces are the forms in which the planted score could show.
func traces() map[string][]byte {
	out := map[string][]byte{"digits": []byte("123456"), "rounded": []byte("123457"), "grouped": []byte("123,456"),
		"exponent": []byte("1.2345")}
	for name, order := range map[string]binary.AppendByteOrder{"big": binary.BigEndian, "little": binary.LittleEndian} {
		narrow := order.AppendUint32(nil, math.Float32bits(planted))
		for width, raw := range map[string][]byte{"32": narrow, "64": order.AppendUint64(nil, math.Float64bits(planted))} {
			out[name+width] = raw
			out[name+width+"hex"] = []byte(hex.EncodeToString(raw))
			out[name+width+"base64"] = []byte(base64.RawStdEncoding.EncodeToString(raw)[:len(raw)*4/3])
		}
		out[name+"number"] = strconv.AppendUint(nil, uint64(math.Float32bits(planted)), 10)
	}
	return out
}

// The affinity of the planted score must be found where it is kept, or the test
// that it shows nowhere proves nothing.
func TestHidden_TracesFind(t *testing.T) {
	for _, text := range []string{fmt.Sprint(planted), fmt.Sprint(float32(planted)), fmt.Sprintf("%.1f", planted), fmt.Sprintf("%e", planted),
		fmt.Sprintf("%x", math.Float32bits(planted)), fmt.Sprintf("%g", float32(planted)), string(binary.BigEndian.AppendUint32(nil, math.Float32bits(planted)))} {
		if found := tracesIn([]byte(text)); len(found) == 0 {
			t.Errorf("%q is not recognised", text)
		}
	}
}

func tracesIn(b []byte) (found []string) {
	for name, trace := range traces() {
		if bytes.Contains(b, trace) {
			found = append(found, name)
		}
	}
	return found
}

// No endpoint shows a score, to any caller, in any part of its answer, nor
// does the log, at any level, or a metric.
func TestHidden_EveryEndpoint(t *testing.T) {
	w, p := newAffinityWorld(t)
	me, friends := circle(t, w, p)
	stranger := w.add(false)
	w.as(friends[1]).post(at(stranger, "/follow")).want(http.StatusOK)
	for _, other := range []uint64{friends[1], friends[0], stranger} {
		p.score(t, other, scores.Entry{ID: me, Score: planted})
	}
	if _, err := p.suggest.Make(t.Context(), me, false); err != nil {
		t.Fatal(err)
	}
	if got := into[[]suggested](w.as(me).get("/api/v2/suggestions")); len(got) != 1 {
		t.Fatalf("got %v suggested, want the stranger", got)
	}
	clients := map[string]client{"owner": w.as(me), "friend": w.as(friends[1]), "stranger": w.as(stranger),
		"server": w.as(me, "read", "write", "follow", "profile", "write:interactions"), "anonymous": w.anonymous(), "forger": {w: w, token: "x"}}
	walked := map[string]bool{}
	for _, r := range w.server.Routes() {
		for _, query := range []string{"", "?limit=1", "?order=affinity", "?order=affinity&limit=1", "?order=recent", "?order=score", "?id[]=" + text(me),
			"?max_id=s1-0-" + text(friends[1]), "?max_id=junk", "?acct=Name" + text(me)} {
			for name, c := range clients {
				for _, id := range []uint64{me, friends[1], 999_999_999} {
					if changes(r) && (query != "" || id > friends[1]) || !strings.Contains(r.Path, ":id") && id != me {
						continue
					}
					path := strings.Replace(r.Path, ":id", text(id), 1) + query
					a := c.send(r.Method, path, "application/json", `{"interactions":[{"actor":"`+text(me)+`","target":"`+text(friends[1])+`","kind":"visit"}]}`)
					walked[r.Method+" "+r.Path] = true
					noTrace(t, name+" "+r.Method+" "+path, a)
				}
			}
		}
	}
	if len(walked) != len(w.server.Routes()) {
		t.Errorf("walked %d routes of %d", len(walked), len(w.server.Routes()))
	}
	if found := tracesIn([]byte(w.log.String())); len(found) > 0 {
		t.Errorf("the log shows the score: %v", found)
	}
}

func changes(r core.Route) bool { return r.Method != http.MethodGet }

func noTrace(t *testing.T, what string, a answer) {
	t.Helper()
	if a.header.Get("Content-Type") == "image/png" { // what is drawn is drawn
		return
	}
	var all bytes.Buffer
	for name, values := range a.header {
		if slices.Contains([]string{"Date", "X-Ratelimit-Reset"}, name) {
			continue // times, whose digits may be any
		}
		fmt.Fprintln(&all, name, values)
	}
	all.WriteString(a.body)
	if found := tracesIn(all.Bytes()); len(found) > 0 {
		t.Errorf("%s shows the score (%v): %s", what, found, all.String())
	}
}
