package db_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
	"kith/repo/dbtest"
)

// BenchmarkInterpolate is what the package doc says about two pools. The reads
// come first: the server cleans up for a while after the writes.
func BenchmarkInterpolate(b *testing.B) {
	id := dbtest.IDs(b, 1)[0]
	if err := insert(dbtest.DB(b), id); err != nil {
		b.Fatal(err)
	}
	list, random := make([]byte, 40<<10), rand.NewChaCha8([32]byte{})
	random.Read(list)
	read := func(pool *sqlx.DB) error {
		var ver uint64
		return pool.Get(&ver, `SELECT ver FROM relation WHERE bucket = ? AND account_id = ?`, id&1023, id)
	}
	write := func(pool *sqlx.DB) error {
		_, err := pool.Exec(`UPDATE relation SET list = ?, ver = ver + 1 WHERE bucket = ? AND account_id = ?`, list, id&1023, id)
		return err
	}
	for _, c := range []struct {
		name string
		run  func(*sqlx.DB) error
	}{{"Read", read}, {"Write40KB", write}} {
		for _, interpolate := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/interpolate=%v", c.name, interpolate), func(b *testing.B) {
				pool, err := db.Open(b.Context(), db.Config{DSN: dbtest.DSN(b), Interpolate: interpolate})
				if err != nil {
					b.Fatal(err)
				}
				defer pool.Close()
				for b.Loop() {
					if err := c.run(pool); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
