package account

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
)

// ErrTaken says that another account has a name or an id.
var ErrTaken = errors.New("taken")

// MaxRows is how many rows one statement reads or writes at most.
const MaxRows = db.MaxKeys

// Account is one account row.
type Account struct {
	ID          uint64 `db:"account_id"`
	Ver         uint64 `db:"ver"`
	Username    string `db:"username"`
	DisplayName string `db:"display_name"`
	Locked      bool   `db:"locked"`
	CreatedAt   uint64 `db:"created_at"` // unix milliseconds

	NoPromotions bool `db:"no_promotions"` // its home shows none
}

// Store reads and writes accounts. It is safe for concurrent use.
type Store struct {
	db   *sqlx.DB
	rows cache.Reader[Account]
}

// New makes a store.
func New(database *sqlx.DB, c cache.Cache) *Store {
	s := &Store{db: database}
	s.rows = cache.Reader[Account]{Cache: c, Key: key, Unpack: unpack, Pack: pack, Load: s.load}
	return s
}

// Load returns the accounts of ids that exist, through the cache.
func (s *Store) Load(ctx context.Context, ids []uint64) (map[uint64]Account, error) {
	rows, err := s.rows.Read(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[uint64]Account, len(rows))
	for _, a := range rows {
		if a.Ver > 0 {
			out[a.ID] = a
		}
	}
	return out, nil
}

// Show returns the account of each id, in their order, for pages: a change by another
// process may show a second later. Ver is 0 where there is no account.
func (s *Store) Show(ctx context.Context, ids []uint64) ([]Account, error) {
	return s.rows.Heads(ctx, ids)
}

// Get returns one account or repo.ErrNotFound.
func (s *Store) Get(ctx context.Context, id uint64) (Account, error) {
	rows, err := s.Load(ctx, []uint64{id})
	if err != nil {
		return Account{}, err
	}
	a, ok := rows[id]
	if !ok {
		return Account{}, fmt.Errorf("account %d: %w", id, repo.ErrNotFound)
	}
	return a, nil
}

// load reads accounts past the cache. Index: PRIMARY (bucket, account_id), one range an id.
func (s *Store) load(ctx context.Context, ids []uint64) (map[uint64]Account, error) {
	out := make(map[uint64]Account, len(ids))
	for part := range slices.Chunk(ids, MaxRows) {
		for _, id := range part {
			out[id] = Account{ID: id}
		}
		in, args := db.Keys(part)
		var rows []Account
		err := s.db.SelectContext(ctx, &rows, `SELECT account_id, ver, username, display_name, locked, no_promotions, created_at FROM account WHERE (bucket, account_id) IN (`+in+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("load %d accounts: %w", len(part), db.Wrap(err))
		}
		for _, a := range rows {
			out[a.ID] = a
		}
	}
	return out, nil
}

// ByName returns the account with the name, in any case, or repo.ErrNotFound. Index:
// PRIMARY (bucket, name).
func (s *Store) ByName(ctx context.Context, name string) (Account, error) {
	name = strings.ToLower(name)
	var id uint64
	err := s.db.GetContext(ctx, &id, `SELECT account_id FROM username WHERE bucket = ? AND name = ?`, repo.NameBucket(name), name)
	if err != nil {
		return Account{}, fmt.Errorf("look up name %q: %w", name, db.Wrap(err))
	}
	return s.Get(ctx, id)
}

// Create claims a's name and writes its row. With ID 0 it makes an id. It returns ErrTaken
// where another account has the name or the given id, ErrErased where the account of the
// id was erased. It may be tried again: an equal account with the given id is returned.
func (s *Store) Create(ctx context.Context, a Account) (Account, error) {
	made := a.ID == 0
	for range 100 {
		if made {
			id, err := s.nextID(ctx)
			if err != nil {
				return a, err
			}
			a.ID = id
		}
		a.Ver = repo.Step()
		there, err := s.createSurely(ctx, a, !made)
		if made && (errors.Is(err, errIDTaken) || errors.Is(err, ErrErased)) {
			continue // the product used this id: take the next
		}
		if err != nil {
			return a, err
		}
		if !made {
			if err := s.pass(ctx, a.ID); err != nil {
				return a, err
			}
		}
		s.rows.Put(ctx, []uint64{a.ID}, []Account{there})
		return there, nil
	}
	return a, fmt.Errorf("make an id: 100 in a row are taken: %w", repo.ErrConflict)
}

var (
	errIDTaken   = fmt.Errorf("id is %w", ErrTaken)
	errNameTaken = fmt.Errorf("name is %w", ErrTaken)
)

// How often a creation with an unknown outcome is tried, and by how much the pause between
// two tries grows: some 5 seconds in all.
const (
	unclearTries = 10
	unclearPause = 100 * time.Millisecond
)

// createSurely writes name and row and, where the outcome is unknown, tries again: then
// both exist already, or are made now. With again, as after a first try, an equal row is
// returned.
func (s *Store) createSurely(ctx context.Context, a Account, again bool) (there Account, err error) {
	unclear := false
	for try := 1; ; try++ {
		err := retry(ctx, s.db, func(tx *sqlx.Tx) (err error) {
			if err := claimName(ctx, tx, a); err != nil {
				return err
			}
			if there, err = insertOne(ctx, tx, a, again); err != nil {
				return err
			}
			return alive(ctx, tx, []uint64{a.ID})
		})
		if err != nil && !errors.Is(err, ErrTaken) {
			err = fmt.Errorf("create account %d: %w", a.ID, db.Wrap(err))
		}
		unclear = unclear || db.OutcomeUnknown(err)
		if !unclear || !errors.Is(err, repo.ErrUnavailable) || try == unclearTries {
			return there, err
		}
		again = true
		select {
		case <-ctx.Done():
			return a, err
		case <-time.After(time.Duration(try) * unclearPause):
		}
	}
}

// claimName claims a's name. That a's own id has it already is good: a sharding engine may
// have written the name alone. Index: PRIMARY (bucket, name).
func claimName(ctx context.Context, tx *sqlx.Tx, a Account) error {
	name := strings.ToLower(a.Username)
	_, err := tx.ExecContext(ctx, `INSERT INTO username (bucket, name, account_id) VALUES (?, ?, ?)`, repo.NameBucket(name), name, a.ID)
	if db.Classify(err) != db.Duplicate {
		return err
	}
	var owner uint64
	err = tx.GetContext(ctx, &owner, `SELECT account_id FROM username WHERE bucket = ? AND name = ?`, repo.NameBucket(name), name)
	if err == nil && owner != a.ID {
		err = errNameTaken
	}
	return err
}

// insertOne inserts a's row, or, with again, returns an equal one that is there. Index:
// PRIMARY (bucket, account_id).
func insertOne(ctx context.Context, tx *sqlx.Tx, a Account, again bool) (there Account, err error) {
	_, err = tx.ExecContext(ctx, `INSERT INTO account (bucket, account_id, ver, username, display_name, locked, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		repo.Bucket(a.ID), a.ID, a.Ver, a.Username, a.DisplayName, a.Locked, a.CreatedAt)
	if db.Classify(err) != db.Duplicate {
		return a, err
	}
	err = tx.GetContext(ctx, &there, `SELECT account_id, ver, username, display_name, locked, no_promotions, created_at FROM account WHERE bucket = ? AND account_id = ?`,
		repo.Bucket(a.ID), a.ID)
	same := there.Username == a.Username && there.DisplayName == a.DisplayName && there.Locked == a.Locked
	if err == nil && !(again && same) {
		err = errIDTaken
	}
	return there, err
}

// nextID takes one id from the sequence. Index: PRIMARY (bucket, name).
func (s *Store) nextID(ctx context.Context) (uint64, error) {
	var id uint64
	err := db.WithTx(ctx, s.db, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO sequence (bucket, name, next_id) VALUES (0, 'account', 2) ON DUPLICATE KEY UPDATE next_id = next_id + 1`)
		if err != nil {
			return err
		}
		return tx.GetContext(ctx, &id, `SELECT next_id - 1 FROM sequence WHERE bucket = 0 AND name = 'account'`)
	})
	if err != nil {
		return 0, fmt.Errorf("take an account id: %w", db.Wrap(err))
	}
	return id, nil
}

// maxMade is above the ids of the sequence, which take 4 bytes in lists.
const maxMade = 1<<32 - 1

// pass moves the sequence past an id of the product, if that fits in 32 bits.
func (s *Store) pass(ctx context.Context, id uint64) error {
	if id >= maxMade {
		return nil
	}
	_, err := s.db.ExecContext(ctx, `INSERT INTO sequence (bucket, name, next_id) VALUES (0, 'account', ?) ON DUPLICATE KEY UPDATE next_id = GREATEST(next_id, VALUES(next_id))`, id+1)
	if err != nil {
		return fmt.Errorf("move account ids past %d: %w", id, db.Wrap(err))
	}
	return nil
}

// SetLocked decides whether followers must ask first.
func (s *Store) SetLocked(ctx context.Context, id uint64, locked bool) (Account, error) {
	return s.set(ctx, id, func(a *Account) { a.Locked = locked })
}

// SetNoPromotions decides whether the account's home shows promotions.
func (s *Store) SetNoPromotions(ctx context.Context, id uint64, none bool) (Account, error) {
	return s.set(ctx, id, func(a *Account) { a.NoPromotions = none })
}

// set changes what an account chose. Index: PRIMARY (bucket, account_id).
func (s *Store) set(ctx context.Context, id uint64, change func(*Account)) (Account, error) {
	for range 20 {
		rows, err := s.load(ctx, []uint64{id})
		if err != nil {
			return Account{}, err
		}
		a := rows[id]
		if a.Ver == 0 {
			return a, fmt.Errorf("account %d: %w", id, repo.ErrNotFound)
		}
		step := repo.Step()
		change(&a)
		res, err := s.db.ExecContext(ctx, `UPDATE account SET locked = ?, no_promotions = ?, ver = ver + ? WHERE bucket = ? AND account_id = ? AND ver = ?`,
			a.Locked, a.NoPromotions, step, repo.Bucket(id), id, a.Ver)
		if err != nil {
			return a, fmt.Errorf("change account %d: %w", id, db.Wrap(err))
		}
		if n, err := res.RowsAffected(); err != nil {
			return a, err
		} else if n == 1 {
			a.Ver += step
			s.rows.Put(ctx, []uint64{id}, []Account{a})
			return a, nil
		}
	}
	return Account{}, fmt.Errorf("account %d: %w", id, repo.ErrConflict)
}

// Walk returns up to limit accounts after the given one in key order; 0: from the first.
// Index: PRIMARY (bucket, account_id), a range in each bucket.
func (s *Store) Walk(ctx context.Context, after uint64, limit int) ([]Account, error) {
	out, err := db.WalkRows[Account](ctx, s.db, `account`, after, db.LastKey, limit,
		`SELECT account_id, ver, username, display_name, locked, no_promotions, created_at FROM account WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?`)
	if err != nil {
		return nil, fmt.Errorf("walk accounts after %d: %w", after, err)
	}
	return out, nil
}

// Missing returns those of ids that are unknown accounts, past the cache.
func (s *Store) Missing(ctx context.Context, ids []uint64) (map[uint64]bool, error) {
	return Missing(ctx, s.db, ids)
}

// Missing returns those of ids that are unknown accounts to q, which may be a transaction.
// Index: PRIMARY (bucket, account_id), one range an id.
func Missing(ctx context.Context, q sqlx.QueryerContext, ids []uint64) (map[uint64]bool, error) {
	out := make(map[uint64]bool)
	for part := range slices.Chunk(ids, MaxRows) {
		for _, id := range part {
			out[id] = true
		}
		in, args := db.Keys(part)
		var have []uint64
		err := sqlx.SelectContext(ctx, q, &have, `SELECT account_id FROM account WHERE (bucket, account_id) IN (`+in+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("check that %d accounts exist: %w", len(part), db.Wrap(err))
		}
		for _, id := range have {
			delete(out, id)
		}
	}
	return out, nil
}

// The cached form of an account: created_at, what it chose, a bit each, the length of the
// name, the name, the display name. The digit in the key is the version of the form.

func key(b []byte, id uint64) []byte { return strconv.AppendUint(append(b, "a3:"...), id, 36) }

const (
	isLocked     = 1 << 0
	noPromotions = 1 << 1
)

var errCached = errors.New("bad cached account")

func pack(a Account) cache.Entry {
	if a.Ver == 0 {
		return cache.Entry{}
	}
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 10+len(a.Username)+len(a.DisplayName)), a.CreatedAt)
	chosen := byte(0)
	if a.Locked {
		chosen |= isLocked
	}
	if a.NoPromotions {
		chosen |= noPromotions
	}
	b = append(b, chosen, byte(len(a.Username)))
	return cache.Entry{Ver: a.Ver, Value: append(append(b, a.Username...), a.DisplayName...)}
}

func unpack(id uint64, e cache.Entry) (Account, error) {
	if e.Ver == 0 {
		return Account{ID: id}, nil
	}
	b := e.Value
	if len(b) < 10 || len(b) < 10+int(b[9]) {
		return Account{}, errCached
	}
	names, n := string(b[10:]), int(b[9])
	return Account{ID: id, Ver: e.Ver, CreatedAt: binary.BigEndian.Uint64(b), Locked: b[8]&isLocked != 0, NoPromotions: b[8]&noPromotions != 0,
		Username: names[:n], DisplayName: names[n:]}, nil
}
