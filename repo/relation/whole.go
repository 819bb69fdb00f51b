package relation

import (
	"context"
	"fmt"

	"kith/repo"
	"kith/repo/list"
)

// Whole returns an account's row and the lists of its whole archive as of one
// moment, newest segment first in each section. It wraps repo.ErrConflict where
// the row is written faster than it can be read.
func (s *Store) Whole(ctx context.Context, id uint64) (Row, []list.View, error) {
	for range 20 {
		rows, err := s.Fresh(ctx, []uint64{id})
		if err != nil {
			return Row{}, nil, err
		}
		archive, err := s.archive(ctx, id)
		if err != nil {
			return Row{}, nil, err
		}
		after, err := s.Marks(ctx, []uint64{id})
		if err != nil {
			return Row{}, nil, err
		}
		if after[id].Ver == rows[id].Ver {
			return rows[id], archive, nil
		}
	}
	return Row{}, nil, fmt.Errorf("read row and archive of %d: %w", id, repo.ErrConflict)
}

func (s *Store) archive(ctx context.Context, id uint64) (views []list.View, err error) {
	err = moved(func() error {
		all, err := s.Headers(ctx, id)
		if err != nil {
			return err
		}
		views, err = segments(ctx, s.small, id, all)
		return err
	})
	return views, err
}
