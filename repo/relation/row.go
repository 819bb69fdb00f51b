package relation

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"kith/repo"
	"kith/repo/list"
	"kith/repo/row"
)

// Row is one relation row as it is stored. Ver 0 means that there is no row
// yet; List is then the empty list.
type Row struct {
	row.Meta
	List []byte
	Counts
	Archived []byte // how much of it lies in the archive, see Archive
	Columns         // zero in a row that comes from the cache

	attached *attachment // what a packed row brings, to be stored with it
}

// Counts are the true numbers of an account; followers and following include
// friends.
type Counts struct{ Friends, Followers, Following uint32 }

// Add counts n more entries of a section.
func (c *Counts) Add(s list.Section, n int) {
	switch s {
	case list.Friends:
		c.Friends += uint32(n)
		c.Followers += uint32(n)
		c.Following += uint32(n)
	case list.Followers:
		c.Followers += uint32(n)
	case list.Following:
		c.Following += uint32(n)
	}
}

// Columns are what a row says about the length of its list: what it
// holds of followers and following, friends among them, and how many blocks its longest
// section has. By blocks the trim job finds long rows.
type Columns struct{ KeptFollowers, KeptFollowing, Blocks uint32 }

// BlockEntries is how many entries make a block, the unit of the column blocks.
const BlockEntries = 64

// ColumnsOf returns the columns that must go with a list.
func ColumnsOf(v list.View) Columns { return columnsOf(v.Len) }

func columnsOf(n func(list.Section) int) Columns {
	friends, followers, following := n(list.Friends), n(list.Followers), n(list.Following)
	return Columns{uint32(friends + followers), uint32(friends + following), uint32(max(friends, followers, following) / BlockEntries)}
}

// Kept returns the counts of an account of which this list is all there is.
func Kept(v list.View) Counts {
	c := ColumnsOf(v)
	return Counts{uint32(v.Len(list.Friends)), c.KeptFollowers, c.KeptFollowing}
}

// Bucket returns the route of an account, the first key column of its rows.
func Bucket(accountID uint64) uint16 { return repo.Bucket(accountID) }

// emptyList is the list of an account that has no row.
var emptyList = mustEncode(list.New())

func mustEncode(l *list.List) []byte {
	b, err := l.Encode(nil)
	if err != nil {
		panic(err)
	}
	return b
}

// Absent returns the row of an account that has none: an empty list, Ver 0.
func Absent(accountID uint64) Row { return empty(row.Meta{AccountID: accountID}) }

func empty(m row.Meta) Row { return Row{Meta: m, List: emptyList} }

// View returns the row's list for reading.
func (r Row) View() (list.View, error) {
	v, err := list.Parse(r.List)
	if err != nil {
		err = fmt.Errorf("list of account %d, ver %d: %w", r.AccountID, r.Ver, err)
	}
	return v, err
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

// kind is how relation rows are stored and cached. In the cache the value is the counts
// as uvarints and then what is archived, the body the list, so that a page of forty
// people does not fetch forty lists.
func kind() row.Kind[Row] {
	return row.Kind[Row]{
		Table:   `relation`,
		Columns: []string{`list`, `friends`, `followers`, `following`, `archived`, `kept_followers`, `kept_following`, `blocks`},
		Meta:    func(r *Row) *row.Meta { return &r.Meta },
		Empty:   empty,
		Scan: func(r *Row, scan func(...any) error) error {
			return scan(&r.List, &r.Friends, &r.Followers, &r.Following, &r.Archived, &r.KeptFollowers, &r.KeptFollowing, &r.Blocks)
		},
		Values: func(args []any, r *Row) ([]any, error) {
			v, err := r.View() // nothing goes in that cannot be read
			c := ColumnsOf(v)
			return append(args, r.List, r.Friends, r.Followers, r.Following, r.Archived, c.KeptFollowers, c.KeptFollowing, c.Blocks), err
		},
		Key:      "r4",
		Pack:     func(r *Row) (value, body []byte) { return r.head(), r.List },
		Unpack:   unpack,
		Attached: func(r *Row) bool { return r.attached != nil },
		Attach:   attach,
	}
}

// head is a row without its list, as the cache has it.
func (r *Row) head() []byte {
	b := make([]byte, 0, 3*binary.MaxVarintLen32+len(r.Archived))
	for _, n := range [...]uint32{r.Friends, r.Followers, r.Following} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return append(b, r.Archived...)
}

var errCached = errors.New("bad cached relation")

func unpack(m row.Meta, value, body []byte, partial bool) (Row, error) {
	r := Row{Meta: m, List: body}
	for _, to := range [...]*uint32{&r.Friends, &r.Followers, &r.Following} {
		v, n := binary.Uvarint(value)
		if n <= 0 || v > math.MaxUint32 {
			return Row{}, errCached
		}
		*to = uint32(v)
		value = value[n:]
	}
	r.Archived = value[:len(value):len(value)]
	if partial {
		return r, nil
	}
	_, err := r.Archive()
	if err == nil {
		_, err = r.View()
	}
	return r, err
}
