package db_test

import (
	"math/rand/v2"
	"testing"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/dbtest"
)

// BenchmarkConn is what the package doc says of arguments that go within the text and
// such as go apart: the driver alone always does the one or the other. The reads come
// first: the server cleans up for a while after the writes.
func BenchmarkConn(b *testing.B) {
	id := dbtest.IDs(b, 1)[0]
	if err := insert(dbtest.DB(b), id); err != nil {
		b.Fatal(err)
	}
	list, random := make([]byte, 40<<10), rand.NewChaCha8([32]byte{})
	random.Read(list)
	read := func(pool *sqlx.DB) error {
		var ver uint64
		return pool.Get(&ver, `SELECT ver FROM relation WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
	}
	write := func(n int) func(*sqlx.DB) error {
		return func(pool *sqlx.DB) error {
			_, err := pool.Exec(`UPDATE relation SET list = ?, ver = ver + 1 WHERE bucket = ? AND account_id = ?`, list[:n], repo.Bucket(id), id)
			return err
		}
	}
	chosen, err := db.Open(b.Context(), db.Config{DSN: dbtest.DSN(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer chosen.Close()
	for _, c := range []struct {
		name string
		run  func(*sqlx.DB) error
	}{{"Read", read}, {"Write1KB", write(1 << 10)}, {"Write40KB", write(40 << 10)}} {
		b.Run(c.name+"/kith", func(b *testing.B) { again(b, chosen, c.run) })
		for _, interpolate := range []string{"false", "true"} {
			b.Run(c.name+"/interpolateParams="+interpolate, func(b *testing.B) {
				pool, err := sqlx.Open("mysql", dbtest.DSN(b)+"?interpolateParams="+interpolate)
				if err != nil {
					b.Fatal(err)
				}
				defer pool.Close()
				again(b, pool, c.run)
			})
		}
	}
}

func again(b *testing.B, pool *sqlx.DB, run func(*sqlx.DB) error) {
	for b.Loop() {
		if err := run(pool); err != nil {
			b.Fatal(err)
		}
	}
}
