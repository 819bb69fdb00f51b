package graph_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/app/graph"
	"kith/app/intake"
	apprelation "kith/app/relation"
	"kith/repo/accepttest"
	"kith/repo/account"
	"kith/repo/cache/cachetest"
	"kith/repo/committer"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

const (
	largeStar, largeFollowers = 1, 2_500_000
	smallStar, smallFollowers = 2, 1_000
	firstFollower             = 1_000
	largeCap                  = 10_000
	timedRuns                 = 21
)

// An account with 2,500,000 followers next to one with 1,000: what they take,
// and what a follow, an unfollow of somebody archived, 100 states, the first and
// the last pages take.
func TestAccept_Large(t *testing.T) {
	accepttest.Long(t)
	pool := open(t, dbtest.Durable(t), "kith")
	dbtest.Migrate(t, pool)
	c := cachetest.Local(t)
	rows, accounts := relation.New(pool, c, largeCap, time.Now), account.New(pool, c)
	com := committer.New(rows, committer.Config{})
	defer com.Close(context.Background())
	s := apprelation.New(apprelation.Config{Rows: rows, Committer: com, Accounts: accounts, Now: time.Now})
	sum, err := graph.Import(t.Context(), graph.ImportConfig{
		Config: intake.Config{Reader: followers(t)}, Accounts: accounts, Rows: rows, Relations: s, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("made in %v: %d edges, %d accounts", sum.Duration.Round(time.Second), sum.EdgesNew, sum.AccountsMade)
	sizes(t, pool)
	for star := range uint64(3) {
		var ids []uint64
		for n := range timedRuns {
			ids = append(ids, newcomer(star, n))
		}
		if _, err := accounts.Ensure(t.Context(), ids, 1); err != nil {
			t.Fatal(err)
		}
	}
	l := &largeTimes{t: t, s: s}
	for _, work := range []struct {
		name string
		run  func(star uint64, followers, n int)
	}{
		{"follow", l.follow}, {"unfollow of the oldest followers", l.unfollow}, {"100 states of old followers", l.states},
		{"first page of 40", l.first}, {"last page of 40", l.last},
	} {
		a, b := l.median(work.run, smallStar, smallFollowers), l.median(work.run, largeStar, largeFollowers)
		t.Logf("%-34s 1,000 followers %8v   2,500,000 followers %8v   ratio %.1f", work.name, a, b, float64(b)/float64(a))
	}
	counts, err := rows.Counts(t.Context(), []uint64{largeStar})
	if want := uint32(largeFollowers); err != nil || counts[0].Followers != want {
		t.Errorf("%d followers, %v; want %d: as many followed as left", counts[0].Followers, err, want)
	}
}

// followers writes the file: follower n follows at second n.
func followers(t *testing.T) io.Reader {
	r, w := io.Pipe()
	t.Cleanup(func() { r.Close() })
	go func() {
		b := bufio.NewWriter(w)
		for i := range largeFollowers {
			fmt.Fprintf(b, "%d %d %d\n", firstFollower+i, largeStar, 1_000_000_000+i)
			if i < smallFollowers {
				fmt.Fprintf(b, "%d %d %d\n", firstFollower+i, smallStar, 1_000_000_000+i)
			}
		}
		w.CloseWithError(b.Flush())
	}()
	return r
}

func sizes(t *testing.T, pool *sqlx.DB) {
	t.Helper()
	var got struct{ Row, Segments, Bytes int64 }
	err := pool.Get(&got, `SELECT (SELECT LENGTH(list) FROM relation WHERE bucket = ? AND account_id = ?) AS `+"`row`"+`, COUNT(*) AS segments, SUM(LENGTH(list)) AS bytes FROM relation_archive WHERE bucket = ? AND account_id = ?`,
		largeStar, largeStar, largeStar, largeStar)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("row of %d bytes, %d segments of %d bytes together, %.2f a follower", got.Row, got.Segments, got.Bytes, float64(got.Bytes+got.Row)/largeFollowers)
	if got.Row > 200_000 {
		t.Errorf("the row has %d bytes", got.Row)
	}
}

type largeTimes struct {
	t *testing.T
	s *apprelation.Service
}

func (l *largeTimes) median(run func(star uint64, followers, n int), star uint64, followers int) time.Duration {
	times := make([]time.Duration, timedRuns)
	for n := range times {
		begin := time.Now()
		run(star, followers, n)
		times[n] = time.Since(begin)
	}
	slices.Sort(times)
	return times[timedRuns/2].Round(time.Microsecond)
}

func (l *largeTimes) follow(star uint64, _, n int) {
	r, err := l.s.Follow(l.t.Context(), newcomer(star, n), star, apprelation.FollowOptions{})
	if err != nil || !r.Following {
		l.t.Fatalf("follow of %d: %+v, %v", star, r, err)
	}
}

// newcomer is somebody who has an account and follows no one yet.
func newcomer(star uint64, n int) uint64 { return 10_000_000 + star*1000 + uint64(n) }

func (l *largeTimes) unfollow(star uint64, _, n int) {
	r, err := l.s.Unfollow(l.t.Context(), uint64(firstFollower+7*n), star)
	if err != nil || r.Following {
		l.t.Fatalf("unfollow of %d: %+v, %v", star, r, err)
	}
}

func (l *largeTimes) states(star uint64, _, n int) {
	ids := make([]uint64, 100)
	for i := range ids {
		ids[i] = uint64(firstFollower + 300 + 5*i + n)
	}
	rels, err := l.s.Relationships(l.t.Context(), star, ids)
	if err != nil || len(rels) != 100 {
		l.t.Fatalf("%d states, %v", len(rels), err)
	}
	for _, r := range rels {
		if !r.FollowedBy || r.Following {
			l.t.Errorf("%d to %d: %+v", r.ID, star, r)
		}
	}
}

func (l *largeTimes) first(star uint64, _, _ int) {
	l.page(star, apprelation.Range{Limit: 40}, newcomer(star, timedRuns-1))
}

// last asks for the 60,000th page of the large one, the 20th of the small.
func (l *largeTimes) last(star uint64, followers, _ int) {
	i := 200
	if followers == largeFollowers {
		i = followers - 60_000*40 + 40
	}
	id := uint64(firstFollower + i)
	l.page(star, apprelation.Range{Limit: 40, Before: list.Cursor{Time: uint32(1_000_000_000 + i), ID: id}}, id-1)
}

func (l *largeTimes) page(star uint64, r apprelation.Range, newest uint64) {
	p, err := l.s.Followers(l.t.Context(), 0, star, r)
	if err != nil || len(p.People) != 40 || p.People[0].ID != newest {
		l.t.Fatalf("page of %d: %d people, the first %+v, %v; want 40, the first %d", star, len(p.People), p.People[:min(1, len(p.People))], err, newest)
	}
}
