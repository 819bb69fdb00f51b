package relation_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
	"kith/repo/relation"
	"kith/repo/row"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func open(t *testing.T, c cache.Cache) *relation.Store {
	t.Helper()
	return relation.New(pool(t, dbtest.DSN(t)), c, 0, time.Now)
}

func pool(t *testing.T, dsn string) *sqlx.DB {
	t.Helper()
	return dbtest.Open(t, db.Config{DSN: dsn})
}

// follower returns the row of id as it is to follow r, with follower added.
func follower(t *testing.T, r relation.Row, follower uint64) relation.Row {
	t.Helper()
	d, err := relation.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	d.AddFollower(follower, 100)
	next, err := d.Pack(1000, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func fresh(t *testing.T, s *relation.Store, id uint64) relation.Row {
	t.Helper()
	rows, err := s.Fresh(t.Context(), []uint64{id})
	if err != nil {
		t.Fatal(err)
	}
	return rows[id]
}

// stored compares what the database holds of a row.
var stored = cmpopts.IgnoreUnexported(relation.Row{}, row.Meta{})

func TestStore_Fresh_Absent(t *testing.T) {
	r := fresh(t, open(t, cache.NewNone()), dbtest.IDs(t, 1)[0])
	v, err := r.View()
	if err != nil || r.Ver != 0 || v.Len(list.Followers) != 0 {
		t.Errorf("row of nobody: ver %d, %d followers, %v; want 0, 0, nil", r.Ver, v.Len(list.Followers), err)
	}
}

func TestStore_Swap(t *testing.T) {
	s := open(t, cache.NewNone())
	ids := dbtest.IDs(t, 8)
	won := func(rows ...relation.Row) bool {
		t.Helper()
		won, err := s.Swap(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		return won
	}
	t.Run("Won", func(t *testing.T) {
		rows := []relation.Row{follower(t, fresh(t, s, ids[0]), 7), follower(t, fresh(t, s, ids[1]), 7)}
		if !won(rows...) {
			t.Fatal("new rows: lost")
		}
		one := rows[0]
		if diff := cmp.Diff(one, fresh(t, s, ids[0]), stored); diff != "" {
			t.Errorf("what was read is not what was swapped (-want +got):\n%s", diff)
		}
		if !won(follower(t, one, 8), follower(t, fresh(t, s, ids[2]), 7)) {
			t.Fatal("one old row and one new: lost")
		}
		if r := fresh(t, s, ids[0]); r.Ver <= one.Ver || r.Followers != 2 {
			t.Errorf("got ver %d, %d followers; want more than %d, 2", r.Ver, r.Followers, one.Ver)
		}
	})
	t.Run("Lost", func(t *testing.T) {
		before := fresh(t, s, ids[3])
		if !won(follower(t, before, 7)) {
			t.Fatal("first: lost")
		}
		other := fresh(t, s, ids[4])
		if won(follower(t, other, 7), follower(t, before, 8)) {
			t.Fatal("a swap on an old ver won")
		}
		if r := fresh(t, s, ids[4]); r.Ver != 0 {
			t.Errorf("a lost swap left ver %d of another row, want 0: all or none", r.Ver)
		}
		if r := fresh(t, s, ids[3]); r.Followers != 1 {
			t.Errorf("a lost swap changed its row: %d followers", r.Followers)
		}
	})
	t.Run("Large", func(t *testing.T) {
		d, err := relation.Open(fresh(t, s, ids[5]))
		if err != nil {
			t.Fatal(err)
		}
		for id := range uint64(20000) {
			d.AddFollower(1<<40+id, uint32(id))
		}
		row, err := d.Pack(1, 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		rows := []relation.Row{row}
		if !won(rows...) {
			t.Fatal("lost")
		}
		if diff := cmp.Diff(rows[0], fresh(t, s, ids[5]), stored); diff != "" {
			t.Error("a list of 20,000 does not come back as it went")
		}
	})
}

func TestStore_Swap_UnknownOutcome(t *testing.T) {
	lossy := dbtest.NewLossy(t, dbtest.DSN(t))
	pool := pool(t, lossy.DSN)
	pool.SetMaxOpenConns(1)
	s := relation.New(pool, cache.NewNone(), 0, time.Now)
	ids := dbtest.IDs(t, 2)
	// crowd is a row that is long enough to be sent through a kept statement.
	crowd := func(t *testing.T, id uint64) relation.Row {
		t.Helper()
		d, err := relation.Open(fresh(t, s, id))
		if err != nil {
			t.Fatal(err)
		}
		for n := range uint64(1000) {
			d.AddFollower(7+n, 100)
		}
		row, err := d.Pack(1000, 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	text := func(t *testing.T, id uint64) relation.Row { return follower(t, fresh(t, s, id), 7) }
	for name, row := range map[string]func(*testing.T, uint64) relation.Row{"text": text, "kept": crowd} {
		t.Run(name, func(t *testing.T) {
			ids := dbtest.IDs(t, 5)
			prepare := func() { // so that what is cut is the execution
				t.Helper()
				if won, err := s.Swap(t.Context(), []relation.Row{row(t, dbtest.IDs(t, 1)[0])}); err != nil || !won {
					t.Fatalf("got %v, %v; want won", won, err)
				}
			}
			t.Run("the answer is lost", func(t *testing.T) {
				prepare()
				row := row(t, ids[0])
				lossy.Lose("")
				won, err := s.Swap(t.Context(), []relation.Row{row})
				if err != nil || !won {
					t.Fatalf("got %v, %v; want won: the database has the row", won, err)
				}
				if r := fresh(t, s, ids[0]); r.Followers != row.Followers {
					t.Errorf("%d followers, want %d", r.Followers, row.Followers)
				}
			})
			t.Run("the statement is lost", func(t *testing.T) {
				prepare()
				row := row(t, ids[1])
				lossy.LoseRequest("")
				won, err := s.Swap(t.Context(), []relation.Row{row})
				if err != nil || won {
					t.Fatalf("got %v, %v; want lost: nothing was stored", won, err)
				}
				if r := fresh(t, s, ids[1]); r.Ver != 0 {
					t.Errorf("ver %d, want 0", r.Ver)
				}
			})
		})
	}
	t.Run("it is not even prepared", func(t *testing.T) {
		two := []relation.Row{crowd(t, ids[0]), crowd(t, ids[1])}
		lossy.Lose("")
		if won, err := s.Swap(t.Context(), two); err != nil || won {
			t.Fatalf("got %v, %v; want lost: nothing was stored", won, err)
		}
	})
}

// Where others changed rows of a swap whose answer was lost, the other rows tell. If
// there is none, it is not done again.
func TestStore_Swap_UnknownOutcome_MovedOn(t *testing.T) {
	lossy := dbtest.NewLossy(t, dbtest.DSN(t))
	pool := pool(t, lossy.DSN)
	pool.SetMaxOpenConns(1)
	s, others := relation.New(pool, cachetest.Local(t), 0, time.Now), open(t, cache.NewNone())
	ids := dbtest.IDs(t, 2)
	for moved, want := range map[int]bool{1: true, 2: false} {
		if _, err := s.Rows(t.Context(), ids[:2]); err != nil { // into the cache
			t.Fatal(err)
		}
		rows := followed(t, s, ids[:2], uint64(10+moved))
		lossy.Meantime = func() { swapped(t, others, followed(t, others, ids[:moved], uint64(20+moved))) }
		lossy.Lose("")
		won, err := s.Swap(t.Context(), rows)
		if won != want || errors.Is(err, repo.ErrUnavailable) == want {
			t.Errorf("%d of 2 rows moved on: got %v, %v; want won %v, or that nobody knows", moved, won, err, want)
		}
		if now, err := s.Row(t.Context(), ids[0]); !want && (err != nil || now.Ver != fresh(t, s, ids[0]).Ver) {
			t.Errorf("the cache holds ver %d, %v; want what the database has", now.Ver, err)
		}
	}
}

// A statement may still run when its connection is gone. The swap is not lost then.
func TestStore_Swap_UnknownOutcome_StillRuns(t *testing.T) {
	lossy := dbtest.NewLossy(t, dbtest.DSN(t))
	pool := pool(t, lossy.DSN)
	pool.SetMaxOpenConns(1)
	s, others := relation.New(pool, cache.NewNone(), 0, time.Now), dbtest.DB(t)
	id := dbtest.IDs(t, 1)[0]
	rows := swapped(t, s, followed(t, s, []uint64{id}, 7))
	before := rows[0]
	rows = followed(t, s, []uint64{id}, 8)
	write := func(x sqlx.Execer, r relation.Row) {
		sqlx.MustExec(x, `UPDATE relation SET ver = ?, list = ?, followers = ?, kept_followers = ? WHERE bucket = ? AND account_id = ?`,
			r.Ver, r.List, r.Followers, r.KeptFollowers, repo.Bucket(id), id)
	}
	var ended sync.WaitGroup
	lossy.Meantime = func() { // as if the statement were not done yet
		write(others, before)
		tx := others.MustBegin()
		write(tx, rows[0])
		ended.Go(func() { // once the read waits for it
			defer tx.Commit()
			waits := 0
			for begin := time.Now(); waits == 0 && time.Since(begin) < 3*time.Second; {
				if err := others.Get(&waits, `SELECT COUNT(*) FROM information_schema.innodb_lock_waits`); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	lossy.Lose("")
	won, err := s.Swap(t.Context(), rows)
	ended.Wait()
	if err != nil || !won {
		t.Errorf("got %v, %v; want won: the statement took effect", won, err)
	}
}

// After any error the cache forgets the rows: an engine that shards may have stored
// some of them.
func TestStore_Swap_OtherError(t *testing.T) {
	s := open(t, cachetest.Local(t))
	ids := dbtest.IDs(t, 2)
	rows := swapped(t, s, followed(t, s, ids, 7))
	s.Put(t.Context(), rows)
	next := followed(t, s, ids, 8)
	dbtest.DB(t).MustExec(fmt.Sprintf(`CREATE TRIGGER broken BEFORE UPDATE ON relation FOR EACH ROW BEGIN
		IF NEW.account_id = %d AND NEW.followers > 1 THEN SIGNAL SQLSTATE '45000'; END IF; END`, ids[1]))
	t.Cleanup(func() { dbtest.DB(t).MustExec(`DROP TRIGGER broken`) })
	dbtest.DB(t).MustExec(`UPDATE relation SET followers = 5 WHERE bucket = ? AND account_id = ?`, repo.Bucket(ids[0]), ids[0])
	if won, err := s.Swap(t.Context(), next); err == nil || won {
		t.Fatalf("got %v, %v; want an error", won, err)
	}
	if r, err := s.Row(t.Context(), ids[0]); err != nil || r.Followers != 5 {
		t.Errorf("%d followers, %v; want the 5 that the database has", r.Followers, err)
	}
}

// Two stores that swap the same rows at once never lose an update.
func TestStore_Swap_Race(t *testing.T) {
	a, b := open(t, cache.NewNone()), open(t, cache.NewNone())
	ids := dbtest.IDs(t, 3)
	var wg sync.WaitGroup
	for i, s := range []*relation.Store{a, b, a, b} {
		wg.Go(func() {
			for k := range 25 {
				for {
					rows, err := s.Fresh(context.Background(), ids)
					if err != nil {
						t.Error(err)
						return
					}
					var next []relation.Row
					for _, id := range ids {
						next = append(next, follower(t, rows[id], uint64(1000*i+k+1)))
					}
					won, err := s.Swap(context.Background(), next)
					if err != nil {
						t.Error(err)
						return
					}
					if won {
						break
					}
				}
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if r := fresh(t, a, id); r.Followers != 100 {
			t.Errorf("row %d: %d followers, want 100", id, r.Followers)
		}
	}
}

func TestStore_Locked(t *testing.T) {
	s := open(t, cache.NewNone())
	ids := dbtest.IDs(t, 2)
	if won, err := s.Swap(t.Context(), []relation.Row{follower(t, fresh(t, s, ids[0]), 7)}); !won || err != nil {
		t.Fatal(won, err)
	}
	inside, done := make(chan struct{}), make(chan bool)
	go func() {
		<-inside
		won, err := s.Locked(context.Background(), ids, nil, func(rows map[uint64]*relation.Draft) ([]relation.Row, error) {
			rows[ids[0]].AddFollower(9, 5)
			r, err := s.Pack(rows[ids[0]])
			return []relation.Row{r}, err
		})
		done <- won && err == nil
	}()
	won, err := s.Locked(t.Context(), ids, nil, func(rows map[uint64]*relation.Draft) ([]relation.Row, error) {
		close(inside) // the other now asks for the same locks and waits for ours
		rows[ids[0]].AddFollower(8, 5)
		r, err := s.Pack(rows[ids[0]])
		return []relation.Row{r}, err
	})
	if !won || err != nil || !<-done {
		t.Fatalf("won %v, %v; both must win, one after the other", won, err)
	}
	if r := fresh(t, s, ids[0]); r.Followers != 3 {
		t.Errorf("%d followers, want 3", r.Followers)
	}
}

func TestStore_Locked_Refused(t *testing.T) {
	s := open(t, cache.NewNone())
	_, err := s.Locked(t.Context(), dbtest.IDs(t, 1), nil, func(map[uint64]*relation.Draft) ([]relation.Row, error) {
		return nil, repo.ErrTooLarge
	})
	if !errors.Is(err, repo.ErrTooLarge) {
		t.Errorf("got %v, want what the edit answered", err)
	}
}

func TestStore_Cached(t *testing.T) {
	for name, c := range map[string]cache.Cache{"local": cachetest.Local(t), "memcached": memcached(t)} {
		t.Run(name, func(t *testing.T) {
			s := open(t, c)
			id := dbtest.IDs(t, 1)[0]
			empty, err := s.Row(t.Context(), id)
			if err != nil || empty.Ver != 0 {
				t.Fatal(empty, err)
			}
			rows := []relation.Row{follower(t, empty, 7)}
			if won, err := s.Swap(t.Context(), rows); !won || err != nil {
				t.Fatal(won, err)
			}
			s.Put(t.Context(), rows)
			row := rows[0]
			// changed behind the cache's back, to see who answers
			dbtest.DB(t).MustExec(`UPDATE relation SET ver = ver + 50, followers = 99 WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
			got, err := s.Row(t.Context(), id)
			row.UpdatedAt, row.Columns = 0, relation.Columns{} // nobody asks the cache for them
			if diff := cmp.Diff(row, got, stored); diff != "" || err != nil {
				t.Errorf("row from the cache (-want +got):\n%s%v", diff, err)
			}
			counts, err := s.Counts(t.Context(), []uint64{id, id + 1<<30})
			if err != nil || counts[0].Followers != 1 || counts[1] != (relation.Counts{}) {
				t.Errorf("counts %+v, %v; want 1 follower, and none for nobody", counts, err)
			}
		})
	}
}

func memcached(t *testing.T) cache.Cache {
	servers, err := memcache.New(memcache.Config{Servers: []string{memcachetest.Addr(t)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { servers.Close() })
	c, err := cache.NewMemcached(cache.Config{Client: servers, Identity: cache.Identity{ID: rand.Uint64()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestStore_BadBytes(t *testing.T) {
	s := open(t, cache.NewNone())
	id := dbtest.IDs(t, 1)[0]
	row := follower(t, fresh(t, s, id), 7)
	if won, err := s.Swap(t.Context(), []relation.Row{row}); !won || err != nil {
		t.Fatal(won, err)
	}
	dbtest.DB(t).MustExec(`UPDATE relation SET list = LEFT(list, 7) WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
	r := fresh(t, s, id)
	if _, err := r.View(); !errors.Is(err, list.ErrFormat) {
		t.Errorf("view of a cut list: %v, want bad list bytes", err)
	}
	if _, err := relation.Open(r); !errors.Is(err, list.ErrFormat) {
		t.Errorf("open of a cut list: %v, want bad list bytes", err)
	}
	if _, err := s.Swap(t.Context(), []relation.Row{{Meta: r.Meta, List: r.List}}); err == nil {
		t.Error("bad bytes were swapped in")
	}
}

func TestStore_Index(t *testing.T) {
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id, ver, list FROM relation WHERE (bucket, account_id) IN ((?,?),(?,?)) ORDER BY bucket, account_id`, 1, 1, 2, 2)
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id, ver FROM relation WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?`, 1, 1, 9000, 10)
}

// A commit in which one edit needs the archive runs all its edits again: none may
// count twice.
func TestStore_Locked_Recall(t *testing.T) {
	s := open(t, cache.NewNone())
	ids := dbtest.IDs(t, 3)
	star, old, other := ids[0], ids[1], ids[2]
	_, err := s.MergeLocked(t.Context(), star, []list.Edge{{ID: old, Time: 1}, {ID: 1, Time: 2}}, func(d *relation.Draft, left []list.Edge) { d.Merge(left) })
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.MergeLocked(t.Context(), old, []list.Edge{{ID: star, Time: 1, Out: true}}, func(d *relation.Draft, left []list.Edge) { d.Merge(left) })
	if err != nil {
		t.Fatal(err)
	}
	if done, err := s.Trim(t.Context(), star, 1); err != nil || done != 1 {
		t.Fatal(done, err)
	}
	won, err := s.Locked(t.Context(), ids, nil, func(rows map[uint64]*relation.Draft) ([]relation.Row, error) {
		rows[other].AddFollowing(star, 5)
		rows[star].AddFollower(other, 5)
		if relation.Settle(rows[old], rows[star]) {
			rows[old].DropFollowing(star)
			rows[star].DropFollower(old)
		}
		var out []relation.Row
		for _, d := range rows {
			r, err := s.Pack(d)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
		return out, nil
	})
	if !won || err != nil {
		t.Fatal(won, err)
	}
	for id, want := range map[uint64]relation.Counts{star: {Followers: 2}, old: {}, other: {Following: 1}} {
		if got := fresh(t, s, id).Counts; got != want {
			t.Errorf("counts of %d: %+v, want %+v", id, got, want)
		}
	}
	if h, err := s.Headers(t.Context(), star); err != nil || len(h) != 0 {
		t.Errorf("%d segments, %v; want that the emptied one is gone", len(h), err)
	}
}

func TestStore_Index_Archive(t *testing.T) {
	pool := dbtest.DB(t)
	for query, args := range map[string][]any{
		`SELECT account_id, other_id, section, mine, theirs, choice FROM relation_own FORCE INDEX (PRIMARY) WHERE (bucket, account_id, other_id) IN ((?,?,?),(?,?,?))`:                                {1, 1, 1, 2, 2, 2},
		`SELECT other_id, latest FROM relation_own WHERE bucket = ? AND account_id = ? AND section = ? AND (latest < ? OR (latest = ? AND other_id < ?)) ORDER BY latest DESC, other_id DESC LIMIT ?`: {1, 1, 2, 5, 5, 5, 40},
		`SELECT other_id, mine FROM relation_own WHERE bucket = ? AND account_id = ? AND section = ? ORDER BY mine, other_id LIMIT ?`:                                                                 {1, 1, 0, 40},
		`SELECT other_id, theirs FROM relation_own WHERE bucket = ? AND account_id = ? AND section = ? ORDER BY theirs DESC, other_id DESC LIMIT ?`:                                                   {1, 1, 0, 40},
		`SELECT section, COUNT(*) AS n, MAX(latest) AS latest FROM relation_own WHERE bucket = ? AND account_id = ? GROUP BY section`:                                                                 {1, 1},
		`SELECT seq, list FROM relation_archive WHERE bucket = ? AND account_id = ? AND section = ? AND (newest_at > ? OR (newest_at = ? AND newest_id >= ?)) ORDER BY newest_at, newest_id LIMIT 1`:  {1, 1, 1, 5, 5, 5},
		`SELECT other_id, body FROM note WHERE bucket = ? AND account_id = ? AND other_id IN (?,?)`:                                                                                                   {1, 1, 2, 3},
		`SELECT account_id, archived FROM relation WHERE (bucket, account_id) IN ((?,?),(?,?))`:                                                                                                       {1, 1, 2, 2},
	} {
		dbtest.CheckIndex(t, pool, query, args...)
	}
}

// A long list that a draft has at the same ver is not read again under the lock; one
// of another ver is.
func TestStore_Locked_Loaded(t *testing.T) {
	s := open(t, cache.NewNone())
	ids := dbtest.IDs(t, 3)
	for _, id := range ids {
		d, err := relation.Open(fresh(t, s, id))
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(5000) {
			d.AddFollower(1+i, uint32(i))
		}
		r, err := d.Pack(1, 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		swapped(t, s, []relation.Row{r})
	}
	loaded := map[uint64]*relation.Draft{}
	for _, id := range ids {
		d, err := relation.Open(fresh(t, s, id))
		if err != nil {
			t.Fatal(err)
		}
		loaded[id] = d
	}
	swapped(t, s, []relation.Row{follower(t, fresh(t, s, ids[1]), 9000)})
	for round := range 2 {
		won, err := s.Locked(t.Context(), ids, loaded, func(rows map[uint64]*relation.Draft) ([]relation.Row, error) {
			var out []relation.Row
			for i, id := range ids {
				want := 5000 + round
				if i == 1 {
					want++
				}
				if n := rows[id].Len(list.Followers); n != want {
					t.Errorf("round %d: row %d has %d followers, want %d", round, i, n, want)
				}
				rows[id].AddFollower(uint64(10_000+round), 1)
				r, err := s.Pack(rows[id])
				if err != nil {
					return nil, err
				}
				out = append(out, r)
			}
			return out, nil
		})
		if !won || err != nil {
			t.Fatal(won, err)
		}
	}
}
