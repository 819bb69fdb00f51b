package audit_test

import (
	"fmt"
	"slices"
	"strings"

	"kith/repo"
	"kith/repo/list"
	"kith/repo/relation"
)

// vanish takes an account away, which nothing in kith does.
func (w *world) vanish(id uint64) {
	w.Helper()
	w.exec(`DELETE FROM account WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
}

func (w *world) dropRow(id uint64) {
	w.Helper()
	w.exec(`DELETE FROM relation WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
}

// lone counts what stands in rows and archives of accounts that do not exist.
func (w *world) lone() (n int) {
	w.Helper()
	err := w.pool.GetContext(w.Context(), &n, `SELECT (SELECT COALESCE(SUM(LENGTH(r.list) > 4 OR r.followers + r.following > 0), 0) FROM relation r LEFT JOIN account a ON a.bucket = r.bucket AND a.account_id = r.account_id WHERE a.account_id IS NULL)
		+ (SELECT COUNT(*) FROM relation_archive r LEFT JOIN account a ON a.bucket = r.bucket AND a.account_id = r.account_id WHERE a.account_id IS NULL)`)
	if err != nil {
		w.Fatal(err)
	}
	return n
}

// graph is what all accounts are to each other and since when, wherever it
// stands; without mutes and options, which nobody else knows.
func (w *world) graph() string {
	w.Helper()
	var ids []uint64
	if err := w.pool.SelectContext(w.Context(), &ids, `SELECT account_id FROM relation ORDER BY bucket, account_id`); err != nil {
		w.Fatal(err)
	}
	var lines []string
	for _, id := range ids {
		add := func(b []byte) {
			v, err := list.Parse(b)
			if err != nil {
				w.Fatal(err)
			}
			for s := list.Friends; s <= list.Requested; s++ {
				_ = v.Each(s, func(other uint64, mine, theirs uint32) bool {
					if s > list.Following {
						mine = 0 // two rows may differ
					}
					if s != list.Muting {
						lines = append(lines, fmt.Sprint(id, " ", s, " ", other, " ", mine, " ", theirs))
					}
					return true
				})
			}
		}
		err := w.rows.Examine(w.Context(), id, true, func(r relation.Row) error { add(r.List); return nil }, func(g relation.Segment) error { add(g.List); return nil })
		if err != nil {
			w.Fatal(err)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// without returns the lines of one text that the other has not.
func without(a, b string) string {
	not := strings.Split(b, "\n")
	return strings.Join(slices.DeleteFunc(strings.Split(a, "\n"), func(line string) bool { return slices.Contains(not, line) }), "\n")
}

// dump is everything that stands in the tables.
func (w *world) dump() string {
	w.Helper()
	var out []string
	for _, query := range []string{
		`SELECT account_id FROM account ORDER BY bucket, account_id`,
		`SELECT CONCAT_WS(' ', account_id, ver, HEX(list), friends, followers, following, kept_followers, kept_following, blocks, HEX(archived)) FROM relation ORDER BY bucket, account_id`,
		`SELECT CONCAT_WS(' ', account_id, section, seq, newest_at, newest_id, oldest_at, oldest_id, n, ver, HEX(list)) FROM relation_archive ORDER BY bucket, account_id, section, seq`,
		`SELECT CONCAT_WS(' ', account_id, other_id, section, mine, theirs, latest, HEX(choice)) FROM relation_own ORDER BY bucket, account_id, other_id, section`,
	} {
		var lines []string
		if err := w.pool.SelectContext(w.Context(), &lines, query); err != nil {
			w.Fatal(err)
		}
		out = append(out, lines...)
	}
	return strings.Join(out, "\n")
}
