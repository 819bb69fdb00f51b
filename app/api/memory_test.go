package api_test

import (
	"context"
	"strings"
	"sync"

	"kith/repo"
	accounts "kith/repo/account"
	"kith/repo/list"
	rows "kith/repo/relation"
)

// memory is a store without a database.
type memory struct {
	mu       sync.Mutex
	rows     map[uint64]rows.Row
	accounts map[uint64]accounts.Account
	fail     error           // what every read of a row answers
	hang     bool            // rows are read when their context ends
	panics   bool            // rows are not read but panic
	gone     map[uint64]bool // accounts that exist and are not found
	notes    map[[2]uint64]string
}

func newMemory() *memory {
	return &memory{rows: map[uint64]rows.Row{}, accounts: map[uint64]accounts.Account{}, gone: map[uint64]bool{}, notes: map[[2]uint64]string{}}
}

func (m *memory) set(change func(m *memory)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

func (m *memory) Row(ctx context.Context, id uint64) (rows.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.panics {
		panic("secret of the store")
	}
	if m.hang {
		<-ctx.Done()
		return rows.Row{}, ctx.Err()
	}
	return m.row(id), m.fail
}

func (m *memory) row(id uint64) rows.Row {
	if r, ok := m.rows[id]; ok {
		return r
	}
	return rows.Absent(id)
}

func (m *memory) Rows(ctx context.Context, ids []uint64) ([]rows.Row, error) {
	out := make([]rows.Row, len(ids))
	for i, id := range ids {
		r, err := m.Row(ctx, id)
		if err != nil {
			return nil, err
		}
		out[i] = r
	}
	return out, nil
}

func (m *memory) Rels(_ context.Context, row rows.Row, ids []uint64, _ list.Rel) ([]list.Rel, rows.Options, error) {
	return rows.RelsOf(row, ids)
}

func (m *memory) Page(_ context.Context, row rows.Row, o list.Order, r list.Range) ([]list.Entry, error) {
	v, err := row.View()
	if err != nil {
		return nil, err
	}
	page, _, err := v.Page(o, r, nil)
	return page, err
}

func (m *memory) Notes(_ context.Context, id uint64, others []uint64) (map[uint64]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[uint64]string{}
	for _, o := range others {
		out[o] = m.notes[[2]uint64{id, o}]
	}
	return out, nil
}

func (m *memory) Counts(_ context.Context, ids []uint64) ([]rows.Counts, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]rows.Counts, len(ids))
	for i, id := range ids {
		out[i] = m.rows[id].Counts
	}
	return out, nil
}

func (m *memory) DoThen(ctx context.Context, ids []uint64, apply func(map[uint64]*rows.Draft) error, then func()) error {
	if err := m.do(ids, apply); err != nil {
		return err
	}
	then()
	return nil
}

func (m *memory) do(ids []uint64, apply func(map[uint64]*rows.Draft) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	drafts := map[uint64]*rows.Draft{}
	for _, id := range ids {
		d, err := rows.Open(m.row(id))
		if err != nil {
			return err
		}
		drafts[id] = d
	}
	if err := apply(drafts); err != nil {
		return err
	}
	for id, d := range drafts {
		for _, n := range d.Noted() {
			m.notes[[2]uint64{id, n.OtherID}] = n.Body
		}
		r, err := d.Pack(0, 0, 2)
		if err != nil {
			return err
		}
		m.rows[id] = r
	}
	return nil
}

func (m *memory) Load(_ context.Context, ids []uint64) (map[uint64]accounts.Account, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[uint64]accounts.Account{}
	for _, id := range ids {
		if a, ok := m.accounts[id]; ok && !m.gone[id] {
			out[id] = a
		}
	}
	return out, nil
}

func (m *memory) ByName(_ context.Context, name string) (accounts.Account, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.accounts {
		if strings.EqualFold(a.Username, name) {
			return a, nil
		}
	}
	return accounts.Account{}, repo.ErrNotFound
}

func (m *memory) Create(_ context.Context, a accounts.Account) (accounts.Account, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a.Ver = 1
	m.accounts[a.ID] = a
	return a, nil
}

func (m *memory) SetLocked(_ context.Context, id uint64, locked bool) (accounts.Account, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.accounts[id]
	a.Locked = locked
	m.accounts[id] = a
	return a, nil
}

func (m *memory) SetNoPromotions(_ context.Context, id uint64, none bool) (accounts.Account, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.accounts[id]
	a.NoPromotions = none
	m.accounts[id] = a
	return a, nil
}

func (m *memory) Walk(context.Context, uint64, int) ([]accounts.Account, error) { return nil, nil }

func (m *memory) Show(ctx context.Context, ids []uint64) ([]accounts.Account, error) {
	have, err := m.Load(ctx, ids)
	out := make([]accounts.Account, len(ids))
	for i, id := range ids {
		out[i] = have[id]
	}
	return out, err
}
