package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"

	"kith/app/api/core"
	"kith/repo/list"
)

// always is the same request in each run.
func always(q request) func(int) request { return func(int) request { return q } }

func getting(as uint64, path string) request {
	return request{as: as, method: http.MethodGet, path: path}
}

func posting(as, id uint64, deed string) request {
	q := request{as: as, method: http.MethodPost, path: at(id, "/"+deed)}
	if deed == "authorize" || deed == "reject" {
		q.path = fmt.Sprintf("/api/v1/follow_requests/%d/%s", id, deed)
	}
	return q
}

// cases are the requests that are measured, by route.
func (w *costWorld) cases() map[string][]compared {
	const base, one = "GET /api/v1/accounts", "GET /api/v1/accounts/:id"
	all := map[string][]compared{
		base + "/verify_credentials": each(own, func(me, _, _ uint64) string { return "/api/v1/accounts/verify_credentials" }),
		base + "/relationships": append(each(lists, func(_, of, _ uint64) string { return "/api/v1/accounts/relationships?" + idsOf(of, 100) }),
			each(about[1:], func(_, id, _ uint64) string { return fmt.Sprintf("/api/v1/accounts/relationships?id[]=%d", id) })...),
		base + "/familiar_followers": append(each(lists, func(_, of, _ uint64) string { return "/api/v1/accounts/familiar_followers?" + idsOf(of, 40) }),
			each(about[1:], func(_, id, _ uint64) string { return fmt.Sprintf("/api/v1/accounts/familiar_followers?id[]=%d", id) })...),
		base + "/lookup":     each(about, func(_, id, _ uint64) string { return "/api/v1/accounts/lookup?acct=" + w.name(id) }),
		base:                 each(lists, func(_, of, _ uint64) string { return "/api/v1/accounts?" + idsOf(of, 40) }),
		one:                  each(about, func(_, id, _ uint64) string { return at(id, "") }),
		one + "/followers":   pages("/followers", list.Followers, star, tied, hoarder, viewer),
		one + "/following":   pages("/following", list.Following, hoarder, viewer),
		one + "/friends":     append(pages("/friends", list.Friends, hoarder, viewer), byAffinity()...),
		"GET /api/v1/blocks": owned("/api/v1/blocks", list.Blocking, hoarder), "GET /api/v1/mutes": owned("/api/v1/mutes", list.Muting, hoarder),
		"GET /api/v1/follow_requests":    owned("/api/v1/follow_requests", list.Requests, hoarder),
		"GET /api/v2/suggestions":        each(own, func(_, _, limit uint64) string { return fmt.Sprintf("/api/v2/suggestions?limit=%d", limit) }),
		"DELETE /api/v1/suggestions/:id": w.dismissals(), "POST /api/v1/interactions": w.interactions(),
	}
	for _, path := range []string{
		"/api/v1/instance", "/api/v2/instance", "/api/v1/custom_emojis", "/api/v1/announcements", "/api/v1/lists", "/api/v1/filters", "/api/v2/filters",
		"/api/v1/followed_tags", "/api/v1/push/subscription", "/api/v1/preferences", "/.well-known/nodeinfo", "/nodeinfo/2.0", "/health", core.AvatarPath, core.HeaderPath,
		"/livez", "/readyz", "/metrics",
	} {
		all["GET "+path] = []compared{{name: "by hoarder", large: always(getting(hoarder, path)), small: always(getting(small, path))}}
	}
	maps.Copy(all, w.postCases())
	for name, more := range w.changes() {
		all[name] = append(all[name], more...)
	}
	return all
}

// asked is who asks, about whom, and a limit; and the same for small accounts.
type asked struct {
	name                     string
	as, of, smallAs, smallOf uint64
	limit                    uint64
}

var (
	own = []asked{{"star", star, star, small, small, 80}, {"tied", tied, tied, small, small, 40}, {"hoarder", hoarder, hoarder, small, small, 80},
		{"viewer", viewer, viewer, small, small, 80}, {"viewer, 1", viewer, viewer, small, small, 1}}
	// The first of about has no token.
	about = []asked{{"star by anonymous", 0, star, 0, small, 0}, {"star by viewer", viewer, star, other, small, 0}, {"star by hoarder", hoarder, star, other, small, 0},
		{"tied by viewer", viewer, tied, other, small, 0}, {"hoarder by viewer", viewer, hoarder, other, small, 0}, {"viewer by star", star, viewer, other, small, 0},
		{"hoarder by tied", tied, hoarder, other, small, 0}, {"star by small", small, star, small, other, 0}, {"small by star", star, small, small, other, 0}}
	lists = []asked{{"bigs by viewer", viewer, big0, small, little0, 0}, {"bigs by hoarder", hoarder, big0, small, little0, 0}, {"bigs by star", star, big0, other, little0, 0},
		{"bigs by small", other, big0, other, little0, 0}, {"littles by star", star, little0, other, little0, 0}, {"littles by hoarder", hoarder, little0, other, little0, 0},
		{"old followers by star", star, crowd0, other, little0, 0}, {"old followers by tied", tied, crowd0, other, little0, 0},
		{"newest followers by viewer", viewer, crowd0 + crowdSize - 100, other, little0, 0},
		{"unknown accounts by hoarder", hoarder, 1 << 40, other, 1 << 40, 0}, {"unknown accounts by star", star, 1 << 40, other, 1 << 40, 0}}
)

// each makes a case of each asked.
func each(all []asked, path func(as, of, limit uint64) string) (cases []compared) {
	for _, a := range all {
		cases = append(cases, compared{name: a.name, large: always(getting(a.as, path(a.as, a.of, a.limit))), small: always(getting(a.smallAs, path(a.smallAs, a.smallOf, a.limit)))})
	}
	return cases
}

// idsOf are n ids in a query, with the largest accounts before the bigs.
func idsOf(from uint64, n int) string {
	var b strings.Builder
	for i := range n {
		id := from + uint64(i)
		if from == big0 && i < 3 {
			id = [3]uint64{star, tied, hoarder}[i]
		}
		fmt.Fprintf(&b, "id[]=%d&", id)
	}
	return b.String()
}

func (w *costWorld) name(id uint64) string {
	a, err := w.people.Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return a.Username
}

// cursorAt is the cursor of somebody in a section, from the oldest on.
func cursorAt(owner uint64, s list.Section, i int) string {
	switch owner {
	case star:
		return list.Cursor{Time: unknown(i), ID: crowd(i)}.String()
	case tied:
		return list.Cursor{Time: inTies(i), ID: crowd(i)}.String()
	}
	return list.Cursor{Time: inOrder(i), ID: crowd(first(owner, s) + i)}.String()
}

// cursor is a position to begin a page at.
type cursor struct{ name, query string }

// cursors are positions in a section of so many, and positions that hold no entry.
func cursors(owner uint64, s list.Section, size int) []cursor {
	middle, end := cursorAt(owner, s, size/2), cursorAt(owner, s, 90)
	return []cursor{{"", ""}, {", max_id in the middle", "&max_id=" + middle}, {", max_id at the end", "&max_id=" + end},
		{", min_id in the middle", "&min_id=" + middle}, {", min_id at the end", "&min_id=" + end}, {", since_id in the middle", "&since_id=" + middle},
		{", since_id at the end", "&since_id=" + end}, {", between two", "&since_id=" + end + "&max_id=" + middle},
		{", max_id before all", "&max_id=0-1"}, {", since_id before all", "&since_id=0-1"}, {", min_id before all", "&min_id=0-1"},
		{", max_id after all", "&max_id=4294967295-9223372036854775807"}, {", min_id after all", "&min_id=4294967295-9223372036854775807"}}
}

// pages are pages of the lists of owners, shown to everybody.
func pages(path string, s list.Section, owners ...uint64) (cases []compared) {
	for _, owner := range owners {
		size := sizeOf(owner)
		if owner == star || owner == tied {
			size = crowdSize
		}
		for _, as := range []uint64{0, viewer, hoarder, owner} {
			smallAs := map[uint64]uint64{0: 0, owner: small}[as]
			if as != 0 && as != owner {
				smallAs = other
			}
			cases = append(cases, listed(fmt.Sprintf("%s by %s", nameOf(owner), nameOf(as)), as, smallAs, at(owner, path), at(small, path), owner, s, size)...)
		}
	}
	return cases
}

// owned are pages of one's own lists.
func owned(path string, s list.Section, owners ...uint64) (cases []compared) {
	for _, owner := range owners {
		cases = append(cases, listed(nameOf(owner), owner, small, path, path, owner, s, sizeOf(owner))...)
	}
	return cases
}

func listed(name string, as, smallAs uint64, path, smallPath string, owner uint64, s list.Section, size int) (cases []compared) {
	short := cursors(small, s, short)
	for i, c := range cursors(owner, s, size) {
		for _, limit := range []int{1, 40, 80} {
			cases = append(cases, compared{name: fmt.Sprintf("%s, %d%s", name, limit, c.name),
				large: always(getting(as, fmt.Sprintf("%s?order=recent&limit=%d%s", path, limit, c.query))),
				small: always(getting(smallAs, fmt.Sprintf("%s?order=recent&limit=%d%s", smallPath, limit, short[i].query)))})
		}
	}
	return cases
}

func nameOf(id uint64) string {
	return map[uint64]string{0: "anonymous", star: "star", tied: "tied", hoarder: "hoarder", viewer: "viewer", small: "small", other: "other"}[id]
}

// byAffinity are friends in the order of affinity.
func byAffinity() (cases []compared) {
	for _, owner := range []uint64{hoarder, viewer} {
		for _, limit := range []int{1, 40, 80} {
			for _, after := range []string{"", "&max_id=s1-100-" + text(crowd(first(owner, list.Friends)+100)),
				fmt.Sprintf("&max_id=r1-%d-%d", inOrder(150), crowd(first(owner, list.Friends)+150))} {
				cases = append(cases, compared{name: fmt.Sprintf("%s, %d%s", nameOf(owner), limit, after),
					large: always(getting(owner, fmt.Sprintf("%s?order=affinity&limit=%d%s", at(owner, "/friends"), limit, after))),
					small: always(getting(small, fmt.Sprintf("%s?order=affinity&limit=%d%s", at(small, "/friends"), limit,
						strings.ReplaceAll(after, "-"+text(crowd(first(owner, list.Friends))), "-"+text(crowd(first(small, list.Friends)))))))})
			}
		}
	}
	return cases
}

func (w *costWorld) dismissals() []compared {
	dismiss := func(as, from uint64) func(int) request {
		return func(n int) request {
			return request{as: as, method: http.MethodDelete, path: fmt.Sprintf("/api/v1/suggestions/%d", from+uint64(n))}
		}
	}
	return []compared{{name: "a big by hoarder", large: dismiss(hoarder, big0), small: dismiss(small, little0)},
		{name: "a big by viewer", large: dismiss(viewer, big0+50), small: dismiss(other, little0+50)}}
}

func (w *costWorld) interactions() []compared {
	body := func(from uint64) string {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, `,{"actor":"%d","target":"%d","kind":"message"}`, from+uint64(i%many), from+uint64((i+1)%many))
		}
		return `{"interactions":[` + b.String()[1:] + `]}`
	}
	sent := func(as, from uint64) func(int) request {
		return always(request{as: as, method: http.MethodPost, path: "/api/v1/interactions", body: body(from)})
	}
	return []compared{{name: "1000 of bigs", status: http.StatusAccepted, large: sent(hoarder, big0), small: sent(small, little0)}}
}
