package db_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/dbtest"
)

// counted counts the statements that are sent.
type counted struct {
	*sqlx.DB
	n int
}

func (c *counted) QueryxContext(ctx context.Context, query string, args ...any) (*sqlx.Rows, error) {
	c.n++
	return c.DB.QueryxContext(ctx, query, args...)
}

func (c *counted) QueryRowxContext(ctx context.Context, query string, args ...any) *sqlx.Row {
	c.n++
	return c.DB.QueryRowxContext(ctx, query, args...)
}

const seenRows = `SELECT account_id FROM seen WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?`

// walker is a table of its own with some rows.
func walker(t *testing.T, ids ...uint64) *counted {
	t.Helper()
	pool := dbtest.Fresh(t)
	dbtest.Migrate(t, pool)
	for _, id := range ids {
		pool.MustExec(`INSERT INTO seen (bucket, account_id, at) VALUES (?, ?, 0)`, repo.Bucket(id), id)
	}
	return &counted{DB: pool}
}

func TestWalk(t *testing.T) {
	at := func(bucket, n uint64) uint64 { return n<<repo.BucketBits | bucket }
	ids := []uint64{at(0, 1), at(0, 2), at(1, 1), at(7, 3), at(7, 4), at(7, 5), at(500, 9), at(1023, 1), db.LastKey - 1024, db.LastKey}
	c := walker(t, ids...)
	for name, tt := range map[string]struct {
		after, last uint64
		limit       int
		want        []uint64
	}{
		"All":          {0, db.LastKey, 100, ids},
		"Limit":        {0, db.LastKey, 4, ids[:4]},
		"LimitOfPart":  {0, db.LastKey, 3, ids[:3]},
		"After":        {ids[3], db.LastKey, 3, ids[4:7]},
		"AfterNoRow":   {at(7, 4) + 1, db.LastKey, 2, ids[6:8]},
		"AfterPart":    {ids[5], db.LastKey, 1, ids[6:7]},
		"Last":         {0, ids[4], 100, ids[:5]},
		"LastNoRow":    {ids[1], at(400, 1), 100, ids[2:6]},
		"OneBucket":    {ids[3], ids[4], 100, ids[4:5]},
		"Nothing":      {ids[4], ids[4], 100, nil},
		"Backwards":    {ids[6], ids[4], 100, nil},
		"AfterTheLast": {db.LastKey, db.LastKey, 100, nil},
		"NoLimit":      {0, db.LastKey, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := db.WalkRows[uint64](t.Context(), c, `seen`, tt.after, tt.last, tt.limit, seenRows)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
	if bucket, err := db.NextBucket(t.Context(), c, `seen`, 8); err != nil || bucket != 500 {
		t.Errorf("got bucket %d, %v, want 500", bucket, err)
	}
	stop := errors.New("stop")
	if err := db.Walk(t.Context(), c, `seen`, 0, db.LastKey, 9, func(db.Part) (int, error) { return 0, stop }); err != stop {
		t.Errorf("got %v, want the error of the page", err)
	}
	if _, err := db.WalkRows[uint64](t.Context(), c, `seen`, 0, db.LastKey, 9, `SELECT nothing`); err == nil || errors.Is(err, sql.ErrNoRows) {
		t.Errorf("got %v, want the error of the server", err)
	}
}

// A walk of few rows takes few statements, however many buckets are empty.
func TestWalk_Cost(t *testing.T) {
	var dense, wide []uint64
	for i := range uint64(50) {
		dense, wide = append(dense, i+1), append(wide, 20*i+1)
	}
	for name, tt := range map[string]struct {
		ids  []uint64
		most int
	}{
		"Empty": {nil, 2}, "Dense": {dense, 50 + 4}, "Wide": {wide, 3*50 + 2}, "OneBucket": {[]uint64{5, 5 + 1024, 5 + 2048}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			c := walker(t, tt.ids...)
			got, err := db.WalkRows[uint64](t.Context(), c, `seen`, 0, db.LastKey, 1000, seenRows)
			if err != nil || len(got) != len(tt.ids) || c.n > tt.most {
				t.Errorf("got %d rows, %v, in %d statements, want %d in %d", len(got), err, c.n, len(tt.ids), tt.most)
			}
		})
	}
	for _, table := range []string{"account", "relation", "relation_archive", "seen", "interaction"} {
		dbtest.CheckIndex(t, dbtest.DB(t), `SELECT bucket FROM `+table+` WHERE bucket >= ? ORDER BY bucket LIMIT 1`, 5)
	}
}

// No statement walks over buckets: an engine that shards by bucket would ask every
// shard for every page.
func TestWalk_Everywhere(t *testing.T) {
	walk := regexp.MustCompile(`(?i)OR\s+\(?(\w+\.)?bucket\s*[<>]`)
	if !walk.MatchString(`WHERE (bucket = ? AND account_id > ?) OR bucket > ?`) {
		t.Fatal("the pattern misses what it is for")
	}
	files := 0
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		for _, found := range walk.FindAllString(string(text), -1) {
			t.Errorf("%s has %q: use Walk", path, found)
		}
		return err
	})
	if err != nil || files < 100 {
		t.Errorf("got %d files, %v", files, err)
	}
}
