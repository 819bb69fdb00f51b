package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"kith/repo"
	"kith/repo/postcheck"
)

// errMost ends the audit of an account that has more rows about posts than are read.
var errMost = errors.New("audit all accounts: without --account there is no such bound")

// ofOne audits the rows about posts of one account, as an audit of all does: its feed, its
// posts and what stands at them, what it received, its marks, keys, tasks and home. What
// should stand at its posts and does not, only an audit of all finds.
func (p *postAudit) ofOne(ctx context.Context, id uint64) error {
	p.remarked, p.most = map[[2]uint64]bool{}, cmp.Or(p.MaxOfOne, 1_000_000)
	for _, work := range []func(context.Context, uint64) error{p.examineFeed, p.postsOfOne, p.received, p.marksOfOne, p.examineHead, p.keysOfOne, p.timelineOfOne} {
		switch err := work(ctx, id); {
		case errors.Is(err, errMost):
			f := fault(Post, id, "there are more than %d rows about its posts, of which the others were not looked at", p.most)
			f.Err = errMost
			p.report(f)
			p.most = 0
			return p.tasks(ctx)
		case err != nil:
			return err
		}
	}
	p.most = 0
	return p.tasks(ctx)
}

// postsOfOne checks the posts of an account, and what stands at them.
func (p *postAudit) postsOfOne(ctx context.Context, id uint64) error {
	bucket, sums := repo.Bucket(id), map[uint64]*feedSum{}
	for after := uint64(0); ; {
		page, err := p.Rows.Of(ctx, id, after, postsAtOnce)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		before := after
		after = page[len(page)-1].ID
		if page, err = p.page(ctx, bucket, page, sums); err != nil {
			return err
		}
		var ids []uint64
		for _, r := range page {
			ids = append(ids, r.ID)
		}
		if len(ids) == 0 {
			continue
		}
		err = p.counts(ctx, bucket, ids, page, before, after)
		if err == nil {
			err = p.ownLinks(ctx, page)
		}
		if err == nil {
			err = p.links(ctx, bucket, ids)
		}
		if err != nil {
			return err
		}
	}
	if f := sums[id]; f != nil && f.topLive != 0 {
		p.unknown[id] = f.here
	}
	return p.forgetAuthors(ctx)
}

// received checks the list of what an account received. What stands at its own posts was
// looked at with these.
func (p *postAudit) received(ctx context.Context, id uint64) error {
	for after := uint64(0); ; {
		page, err := p.Rows.Received(ctx, id, after, postsAtOnce)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].ID
		var ids []uint64
		for _, l := range page {
			ids = append(ids, l.Post)
		}
		posts, err := p.Rows.Rows(ctx, ids)
		if err != nil {
			return err
		}
		var others []postcheck.At
		for _, l := range page {
			if posts[l.Post].Author != id {
				others = append(others, l)
			}
		}
		if err := p.wereDone(ctx, others); err != nil {
			return err
		}
		if err := p.looked(ctx, len(page)); err != nil {
			return err
		}
	}
}

// marksOfOne checks the favourites and reposts of an account.
func (p *postAudit) marksOfOne(ctx context.Context, id uint64) error {
	for after := (postcheck.Mark{Account: id}); ; {
		page, err := p.Rows.Marks(ctx, repo.Bucket(id), after, postsAtOnce)
		if err != nil {
			return err
		}
		full := len(page) == postsAtOnce
		for i, m := range page {
			if m.Account != id {
				page, full = page[:i], false
				break
			}
		}
		if err := p.markPage(ctx, page, map[uint64]*headSum{}); err != nil {
			return err
		}
		if err := p.looked(ctx, len(page)); err != nil || !full {
			return err
		}
		after = page[len(page)-1]
	}
}

func (p *postAudit) keysOfOne(ctx context.Context, id uint64) error {
	return p.keys(ctx, repo.Bucket(id), id)
}

func (p *postAudit) timelineOfOne(ctx context.Context, id uint64) error {
	page, err := p.Timelines.CheckOne(ctx, id)
	if err != nil {
		return err
	}
	return p.timelinePage(ctx, page)
}

// keys checks that the Idempotency-Keys of a bucket, or of one account, name posts of their
// accounts. A key and its post are one transaction, and posts stay.
func (p *postAudit) keys(ctx context.Context, bucket uint16, only uint64) error {
	for after := (postcheck.Key{Account: only, Hash: []byte{}}); ; {
		page, err := p.Rows.Keys(ctx, bucket, after, postsAtOnce)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1]
		var ids []uint64
		for _, k := range page {
			ids = append(ids, k.Post)
		}
		posts, err := p.Rows.Rows(ctx, ids)
		if err != nil {
			return err
		}
		for _, k := range page {
			if only != 0 && k.Account != only {
				return nil
			}
			if posts[k.Post].Author == k.Account {
				continue
			}
			f := fault(Key, k.Account, "an Idempotency-Key names %d, which is no post of it", k.Post)
			if err := p.mend(ctx, []Fault{f}, func() error { return p.Rows.DropKey(ctx, k) }); err != nil {
				return err
			}
		}
		if err := p.looked(ctx, len(page)); err != nil {
			return err
		}
	}
}

// strays reports rows in wrong buckets, where nothing finds them.
func (p *postAudit) strays(ctx context.Context) error {
	for _, t := range postcheck.Tables {
		for at := (postcheck.Place{}); ; {
			found, looked, next, err := p.Rows.Strays(ctx, t, at, postsAtOnce)
			end := errors.Is(err, repo.ErrNotFound)
			if err != nil && !end {
				return err
			}
			for _, s := range found {
				f := Fault{Kind: Bucket, Text: fmt.Sprintf("the rows of %s %d in table %s lie in bucket %d: it should be %d", t.Column, s.ID, t.Name, s.Bucket, s.Right), Err: errMove}
				if t.Column == "account_id" {
					f.Account = s.ID
				}
				p.report(f)
			}
			if err := p.looked(ctx, looked); err != nil {
				return err
			}
			if end {
				break
			}
			at = next
		}
	}
	return nil
}
