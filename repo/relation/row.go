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
	UpdatedAt uint32 `db:"updated_at"` // 0 in a row that comes from the cache
	Archived  []byte `db:"archived"`   // how much of it lies in the archive, see Archive

	// What a packed row brings for the archive and for notes, stored with it.
	moves    []move // segments that were changed
	cuts     []sectionCut
	ownGone  []ownRow
	ownAdded []ownRow
	notes    []Note
	noteless bool // all notes of the account are to go

	step  uint64      // what a packed row raised Ver by, 0 until it is swapped
	past  uint64      // a ver that the next one must be higher than
	token cache.Token // of the cache entry that this row, or the one before it, was read from
}

// sectionCut is what was cut from a section that others make entries in.
type sectionCut struct {
	section list.Section
	list    *list.List
}

// alone reports whether the row is all that there is to store.
func (r *Row) alone() bool {
	return len(r.moves)+len(r.cuts)+len(r.ownGone)+len(r.ownAdded)+len(r.notes) == 0 && !r.noteless
}

// Archive returns how much of the account lies in the archive.
func (r *Row) Archive() (Archive, error) {
	a, err := readArchive(r.Archived)
	if err != nil {
		err = fmt.Errorf("account %d, ver %d: %w", r.AccountID, r.Ver, err)
	}
	return a, err
}

// Totals returns how many entries some sections have together, those in the archive
// included, and how many these are.
func (r *Row) Totals(sections ...list.Section) (all, archived int, err error) {
	v, err := r.View()
	if err != nil {
		return 0, 0, err
	}
	a, err := r.Archive()
	for _, s := range sections {
		all += v.Len(s)
		archived += a.Len(s)
	}
	return all + archived, archived, err
}

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
