package relation

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

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

// Columns are what a row says about the length of its list: how many followers and
// following it holds, friends among them, and how many blocks its longest section has, by
// which the trim job finds long rows.
type Columns struct {
	KeptFollowers uint32 `db:"kept_followers"`
	KeptFollowing uint32 `db:"kept_following"`
	Blocks        uint32 `db:"blocks"`
}

// BlockEntries is how many entries make a block, the unit of the column blocks.
const BlockEntries = 64

// ColumnsOf returns the columns that must go with a list whose sections are of these
// lengths.
func ColumnsOf(n func(list.Section) int) Columns {
	friends, followers, following := n(list.Friends), n(list.Followers), n(list.Following)
	return Columns{uint32(friends + followers), uint32(friends + following), uint32(max(friends, followers, following) / BlockEntries)}
}

// Kept returns the counts of an account of which this list is all there is.
func Kept(v list.View) Counts {
	c := ColumnsOf(v.Len)
	return Counts{uint32(v.Len(list.Friends)), c.KeptFollowers, c.KeptFollowing}
}

// emptyList is the list of an account that has no row.
var emptyList = func() []byte {
	b, err := list.New().Encode(nil)
	if err != nil {
		panic(err)
	}
	return b
}()

// Absent returns the row of an account that has none: an empty list, Ver 0.
func Absent(accountID uint64) Row { return empty(row.Meta{ID: accountID}) }

func empty(m row.Meta) Row { return Row{Meta: m, List: emptyList} }

// View returns the row's list for reading.
func (r Row) View() (list.View, error) {
	v, err := list.Parse(r.List)
	if err != nil {
		err = fmt.Errorf("list of account %d, ver %d: %w", r.ID, r.Ver, err)
	}
	return v, err
}

// Archive returns how much of the account lies in the archive.
func (r *Row) Archive() (Archive, error) {
	a, err := readArchive(r.Archived)
	if err != nil {
		err = fmt.Errorf("account %d, ver %d: %w", r.ID, r.Ver, err)
	}
	return a, err
}

// Totals returns how many entries some sections have together, archived ones included,
// and how many of them are archived.
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
			c := ColumnsOf(v.Len)
			return append(args, r.List, r.Friends, r.Followers, r.Following, r.Archived, c.KeptFollowers, c.KeptFollowing, c.Blocks), err
		},
		Key: "r4",
		Pack: func(r *Row) (value, body []byte) {
			value = make([]byte, 0, 3*binary.MaxVarintLen32+len(r.Archived))
			for _, n := range [...]uint32{r.Friends, r.Followers, r.Following} {
				value = binary.AppendUvarint(value, uint64(n))
			}
			return append(value, r.Archived...), r.List
		},
		Unpack:   unpack,
		Attached: func(r *Row) bool { return r.attached != nil },
		Attach:   attach,
	}
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

// Archive says what of an account lies in its archive: of each section how many entries,
// and a position that none of them is newer than. It stands in the row, so that most
// questions do not read the archive. The zero Archive is empty.
type Archive struct {
	// stamp is random and changes with the archive, as by a trim or a recall. It tells
	// whoever reads the archive after the row whether the two go together.
	stamp uint32
	past  [list.Options + 1]past
}

// past is one section's part of an archive.
type past struct {
	n      uint32
	newest list.Cursor
}

// Len returns how many entries of a section lie in the archive.
func (a *Archive) Len(s list.Section) int { return int(a.past[s].n) }

// newest returns a position that no archived entry of a section is newer than.
func (a *Archive) newest(s list.Section) list.Cursor { return a.past[s].newest }

// any reports whether one of the sections has entries in the archive.
func (a *Archive) any(sections ...list.Section) bool {
	for _, s := range sections {
		if a.past[s].n > 0 {
			return true
		}
	}
	return false
}

// all returns how many entries lie in the archive.
func (a *Archive) all() (n int) {
	for s := range a.past {
		n += int(a.past[s].n)
	}
	return n
}

// add notes n more entries, the newest of which stands at a position.
func (a *Archive) add(s list.Section, n int, newest list.Cursor) {
	p := &a.past[s]
	p.n += uint32(n)
	if newest.Compare(p.newest) > 0 {
		p.newest = newest
	}
}

// Add counts what an archived list has in a section.
func (a *Archive) Add(s list.Section, v list.View) {
	newest := list.Cursor{}
	_ = v.Each(s, func(id uint64, mine, theirs uint32) bool {
		newest = list.Cursor{Time: max(mine, theirs), ID: id}
		return false
	})
	a.add(s, v.Len(s), newest)
}

// Covers reports whether what a row says of its archive is true of one that holds
// what held counts.
func (a *Archive) Covers(held *Archive) bool {
	for s := range a.past {
		if a.past[s].n != held.past[s].n || s != int(list.Options) && a.past[s].newest.Compare(held.past[s].newest) < 0 {
			return false
		}
	}
	return true
}

// drop notes that n entries are gone.
func (a *Archive) drop(s list.Section, n int) {
	p := &a.past[s]
	if p.n -= min(p.n, uint32(n)); p.n == 0 {
		p.newest = list.Cursor{}
	}
}

// bytes packs an archive for the column archived: nothing where nothing is
// archived, else
//
//	uvarint   the stamp
//	then of each section that has entries, in order:
//	byte      the section
//	uvarint   entries
//	uvarint   time of the newest position
//	uvarint   id of it
func (a *Archive) bytes() []byte {
	b := []byte{} // the column is never NULL
	for s, p := range a.past {
		if p.n == 0 {
			continue
		}
		if len(b) == 0 {
			b = binary.AppendUvarint(b, uint64(a.stamp))
		}
		b = append(b, byte(s))
		b = binary.AppendUvarint(b, uint64(p.n))
		b = binary.AppendUvarint(b, uint64(p.newest.Time))
		b = binary.AppendUvarint(b, p.newest.ID)
	}
	return b
}

// readArchive is the inverse of bytes. Errors wrap list.ErrFormat.
func readArchive(b []byte) (a Archive, err error) {
	if len(b) == 0 {
		return a, nil
	}
	bad := fmt.Errorf("%w: what is archived: %d bytes, %.20x", list.ErrFormat, len(b), b)
	number := func(most uint64) (x uint64) {
		x, n := binary.Uvarint(b)
		if n <= 0 || x > most {
			err = bad
			return 0
		}
		b = b[n:]
		return x
	}
	a.stamp = uint32(number(math.MaxUint32))
	for last := -1; err == nil && len(b) > 0; {
		s := int(b[0])
		if s <= last || s > int(list.Options) {
			return Archive{}, bad
		}
		b, last = b[1:], s
		p := &a.past[s]
		p.n, p.newest.Time, p.newest.ID = uint32(number(math.MaxUint32)), uint32(number(math.MaxUint32)), number(list.MaxID)
		if p.n == 0 {
			err = bad
		}
	}
	if err != nil || a == (Archive{stamp: a.stamp}) {
		return Archive{}, bad
	}
	return a, nil
}
