package relation

import (
	"fmt"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/list"
)

// Counts are the true numbers of an account; followers and following include
// friends.
type Counts struct {
	Friends   uint32 `db:"friends"`
	Followers uint32 `db:"followers"`
	Following uint32 `db:"following"`
}

// Row is one relation row as it is stored. Ver 0 means that there is no row
// yet; List is then the empty list.
type Row struct {
	AccountID uint64 `db:"account_id"`
	Ver       uint64 `db:"ver"`
	List      []byte `db:"list"`
	Counts
	UpdatedAt  uint32 `db:"updated_at"`  // 0 in a row that comes from the cache
	ArchivedAt uint32 `db:"archived_at"` // no entry in the archive is newer

	step  uint64      // what a packed row raised Ver by, 0 until it is swapped
	past  uint64      // a ver that the next one must be higher than
	moves []move      // segments to be stored together with a packed row
	token cache.Token // of the cache entry that this row, or the one before it, was read from
}

// ArchivedFollowers tells how many followers stand in the archive and not in
// the list, whose view is v.
func (r Row) ArchivedFollowers(v list.View) int { return int(r.Followers) - keptFollowers(v) }

// ArchivedFollowing tells how many of those the account follows stand in the
// archive and not in the list.
func (r Row) ArchivedFollowing(v list.View) int { return int(r.Following) - keptFollowing(v) }

// Bucket returns the route of an account, the first key column of its rows.
func Bucket(accountID uint64) uint16 { return repo.Bucket(accountID) }

// View returns the row's list for reading.
func (r Row) View() (list.View, error) {
	v, err := list.Parse(r.List)
	if err != nil {
		return v, fmt.Errorf("list of account %d, ver %d: %w", r.AccountID, r.Ver, err)
	}
	return v, nil
}

// emptyList is the list of an account that has no row.
var emptyList = mustEncode(list.New())

func mustEncode(l *list.List) []byte {
	b, err := l.Encode(nil)
	if err != nil {
		panic(err)
	}
	return b
}

func absent(accountID uint64) Row {
	return Row{AccountID: accountID, List: emptyList}
}
