package relation

import (
	"context"
	"fmt"

	"kith/repo/list"
)

// Whole returns an account's row and the lists of its whole archive as of one
// moment. It wraps repo.ErrConflict where the archive changes faster than it can be
// read.
func (s *Store) Whole(ctx context.Context, id uint64) (row Row, archive []list.View, err error) {
	err = s.Examine(ctx, id, false, func(r Stored) error {
		row, archive = r, nil
		return nil
	}, func(g Segment) error {
		v, err := g.view(id)
		archive = append(archive, v)
		return err
	})
	if err != nil {
		return Row{}, nil, fmt.Errorf("read row and archive of %d: %w", id, err)
	}
	return row, archive, nil
}
