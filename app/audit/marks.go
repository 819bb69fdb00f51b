package audit

import (
	"context"
	"maps"
	"slices"

	"kith/repo/mark"
	"kith/repo/post"
	"kith/repo/postcheck"
)

// headSum is what the head of an account says of its marks, less those there are.
type headSum struct {
	bad   bool
	floor uint64
	hash  uint64
}

func hashOfMark(m mark.Mark) uint64 { return mix(m.ID) ^ 3*mix(m.Post) ^ 5*mix(uint64(m.Kind)) }

// heads reads the heads of the marks of a bucket.
func (p *postAudit) heads(ctx context.Context, bucket uint16) (map[uint64]*headSum, error) {
	sums := map[uint64]*headSum{}
	for after := uint64(0); ; {
		page, err := p.Rows.Heads(ctx, bucket, after, postsAtOnce)
		if err != nil || len(page) == 0 {
			return sums, err
		}
		for _, r := range page {
			h := &headSum{floor: r.Floor}
			marks, err := mark.Unpack(r.List)
			h.bad = err != nil
			for _, m := range marks {
				if m.ID > r.Floor {
					h.hash += hashOfMark(m)
				}
			}
			sums[r.Account] = h
		}
		after = page[len(page)-1].Account
		if err := p.looked(ctx, len(page)); err != nil {
			return nil, err
		}
	}
}

// marks checks that favourites stand at their posts, that marks name reposts, and that heads
// have the newest of the others.
func (p *postAudit) marks(ctx context.Context, bucket uint16) error {
	sums, err := p.heads(ctx, bucket)
	if err != nil {
		return err
	}
	for after := (postcheck.Mark{}); ; {
		page, err := p.Rows.Marks(ctx, bucket, after, postsAtOnce)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return p.compareHeads(ctx, sums)
		}
		after = page[len(page)-1]
		if err := p.looked(ctx, len(page)); err != nil {
			return err
		}
		if err := p.markPage(ctx, page, sums); err != nil {
			return err
		}
	}
}

func (p *postAudit) markPage(ctx context.Context, page []postcheck.Mark, sums map[uint64]*headSum) error {
	var links []postcheck.Link
	var reposts []uint64
	for _, m := range page {
		if m.Kind == mark.Repost {
			reposts = append(reposts, m.ID)
			continue
		}
		h := sums[m.Account]
		if h == nil {
			h = &headSum{}
			sums[m.Account] = h
		}
		if m.ID > h.floor {
			h.hash -= hashOfMark(mark.Mark{ID: m.ID, Kind: m.Kind, Post: m.Post})
		}
		if m.Kind == mark.Favourite {
			links = append(links, postcheck.Link{Post: m.Post, Kind: post.Favourite, Account: m.Account, ID: m.ID})
		}
	}
	if err := p.areLinked(ctx, links); err != nil {
		return err
	}
	posts, err := p.Rows.Rows(ctx, reposts)
	if err != nil {
		return err
	}
	for _, m := range page {
		own := posts[m.ID]
		if m.Kind != mark.Repost || own.State != post.Deleted && own.Author == m.Account && own.Origin == m.Post {
			continue
		}
		if err := p.remark(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// compareHeads looks closely at the heads that may not agree with the marks.
func (p *postAudit) compareHeads(ctx context.Context, sums map[uint64]*headSum) error {
	for _, id := range slices.Sorted(maps.Keys(sums)) {
		if h := sums[id]; !h.bad && h.hash == 0 {
			continue
		}
		if err := p.examineHead(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// examineHead compares the head of an account with its marks under its lock.
func (p *postAudit) examineHead(ctx context.Context, id uint64) error {
	wrong, err := p.Marks.Examine(ctx, id, false)
	if err != nil || wrong == "" {
		return err
	}
	return p.mend(ctx, []Fault{fault(Mark, id, "%s", wrong)}, func() error {
		_, err := p.Marks.Examine(ctx, id, true)
		return err
	})
}
