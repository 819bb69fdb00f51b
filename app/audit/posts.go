package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apppost "kith/app/post"
	"kith/repo"
	"kith/repo/event"
	"kith/repo/feed"
	"kith/repo/mark"
	"kith/repo/post"
	"kith/repo/postcheck"
	"kith/repo/task"
	"kith/repo/timeline"
)

// The kinds of faults of posts, see the package doc.
const (
	Feed     Kind = "feed"
	Post     Kind = "post"
	Reaction Kind = "reaction"
	Mark     Kind = "mark"
	Task     Kind = "task"
	Timeline Kind = "timeline"
	Key      Kind = "key"
	Bucket   Kind = "bucket"
)

// Posts is what an audit of posts works with.
type Posts struct {
	Rows      *postcheck.Store
	Posts     *post.Store
	Feeds     *feed.Store
	Marks     *mark.Store
	Tasks     *task.Store
	Timelines *timeline.Store
	Service   *apppost.Service // repairs what lies in two buckets
	// MaxOfOne bounds the rows about posts that an audit of one account reads, 0 is
	// 1,000,000.
	MaxOfOne int64
}

// postsAtOnce is how many rows about posts one statement reads.
const postsAtOnce = 400

// posts audits the rows about posts, bucket by bucket.
func (a *auditor) posts(ctx context.Context) error {
	if a.cfg.Posts == nil {
		return nil
	}
	p := &postAudit{auditor: a, Posts: *a.cfg.Posts, unknown: map[uint64]int64{}}
	if a.cfg.Account != 0 {
		return p.ofOne(ctx, a.cfg.Account)
	}
	for bucket := uint16(0); bucket < repo.Buckets; bucket++ {
		next, err := p.Rows.Next(ctx, bucket)
		if errors.Is(err, repo.ErrNotFound) {
			break
		}
		if err == nil {
			err = p.bucket(ctx, next)
		}
		if err != nil {
			return err
		}
		bucket = next
	}
	for _, work := range []func(context.Context) error{p.forgetAuthors, p.tasks, p.timelines, p.strays} {
		if err := work(ctx); err != nil {
			return err
		}
	}
	return nil
}

// postAudit is the part of an audit that is about posts.
type postAudit struct {
	*auditor
	Posts
	authors int64            // that have posts
	unknown map[uint64]int64 // authors that do not exist, and how many posts they have
	rows    int64
	most    int64 // rows that may be looked at, 0: all
	// remarked are accounts of this bucket and posts about whose mark there was a fault.
	remarked map[[2]uint64]bool
}

// looked counts rows and may pause.
func (p *postAudit) looked(ctx context.Context, rows int) error {
	if p.rows += int64(rows); p.most > 0 && p.rows > p.most {
		return errMost
	}
	return p.step(ctx, "post rows", p.rows, 0)
}

// bucket audits one bucket: the feeds against the posts, then each post, link and mark by
// itself.
func (p *postAudit) bucket(ctx context.Context, bucket uint16) error {
	p.remarked = map[[2]uint64]bool{}
	sums := map[uint64]*feedSum{}
	if err := p.feeds(ctx, bucket, sums); err != nil {
		return err
	}
	for after := uint64(0); after < lastKey; {
		page, err := p.Rows.Posts(ctx, bucket, after, postsAtOnce)
		if err != nil {
			return err
		}
		last := uint64(lastKey)
		if len(page) == postsAtOnce {
			last = page[len(page)-1].ID
		}
		page, err = p.page(ctx, bucket, page, sums)
		if err == nil {
			err = p.counts(ctx, bucket, nil, page, after, last)
		}
		if err == nil {
			err = p.ownLinks(ctx, page)
		}
		if err != nil {
			return err
		}
		after = last
	}
	if err := p.compareFeeds(ctx, sums); err != nil {
		return err
	}
	if err := p.links(ctx, bucket, nil); err != nil {
		return err
	}
	if err := p.marks(ctx, bucket); err != nil {
		return err
	}
	return p.keys(ctx, bucket, 0)
}

// page counts posts of a bucket, and returns those that lie in the right one.
func (p *postAudit) page(ctx context.Context, bucket uint16, page []postcheck.Post, sums map[uint64]*feedSum) ([]postcheck.Post, error) {
	p.sum.Posts += int64(len(page))
	if err := p.looked(ctx, len(page)); err != nil {
		return nil, err
	}
	page = p.inPlace(bucket, page)
	for i := range page {
		sumOf(sums, page[i].Author).add(&page[i])
	}
	return page, nil
}

// feedSum is what a feed says of the posts of its author, less what there is.
type feedSum struct {
	bad          bool
	live, posts  int64 // said, less those there are
	hash         uint64
	floor        uint64
	last, newest uint64 // said
	top, topLive uint64 // the highest post there is, and the highest that is not deleted
	here         int64  // posts there are
}

func sumOf(sums map[uint64]*feedSum, author uint64) *feedSum {
	if sums[author] == nil {
		sums[author] = &feedSum{}
	}
	return sums[author]
}

// hashOf is a hash of an event; sums of hashes do not depend on order.
func hashOf(id, origin uint64) uint64 { return mix(id) ^ 3*mix(origin) }

// add counts a post there is.
func (f *feedSum) add(r *postcheck.Post) {
	f.here++
	f.top = max(f.top, r.ID)
	if r.State != post.Deleted && r.Visibility != post.Direct {
		f.live--
		f.topLive = max(f.topLive, r.ID)
	}
	if r.ID >= f.floor {
		f.posts--
		f.hash -= hashOf(r.ID, r.Origin)
	}
}

// wrong reports whether the feed and the posts may not agree.
func (f *feedSum) wrong() bool {
	newest := f.topLive
	if newest < f.floor {
		newest = 0
	}
	return f.bad || f.live != 0 || f.posts != 0 || f.hash != 0 || f.last < f.top || f.newest != newest
}

// feeds reads the feeds of a bucket.
func (p *postAudit) feeds(ctx context.Context, bucket uint16, sums map[uint64]*feedSum) error {
	for after := uint64(0); ; {
		page, err := p.Rows.Feeds(ctx, bucket, after, postsAtOnce)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, r := range page {
			f := sumOf(sums, r.Account)
			f.live, f.last, f.newest, f.floor = int64(r.Statuses), r.LastID, r.Newest, r.Floor
			if len(r.List) == 0 {
				continue
			}
			events, err := event.ReadFeed(nil, r.List, r.Account)
			f.bad = err != nil || f.floor != 0 && (len(events) == 0 || events[len(events)-1].ID != f.floor)
			for _, e := range events {
				f.posts++
				f.hash += hashOf(e.ID, e.Origin)
			}
		}
		after = page[len(page)-1].Account
		if err := p.looked(ctx, len(page)); err != nil {
			return err
		}
	}
}

// compareFeeds looks closely at the feeds that may not agree with the posts, and notes authors
// that do not exist.
func (p *postAudit) compareFeeds(ctx context.Context, sums map[uint64]*feedSum) error {
	authors := slices.Sorted(maps.Keys(sums))
	p.authors += int64(len(authors))
	for part := range slices.Chunk(authors, postsAtOnce) {
		missing, err := p.cfg.Rows.Missing(ctx, part)
		if err != nil {
			return err
		}
		for id := range missing {
			switch {
			case sums[id].topLive == 0:
			case len(p.unknown) < maxNoted:
				p.unknown[id] = sums[id].here
			default:
				p.sum.Unlooked++
			}
		}
	}
	for _, id := range authors {
		if !sums[id].wrong() {
			continue
		}
		if err := p.examineFeed(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// examineFeed compares a feed with its author's posts under its lock.
func (p *postAudit) examineFeed(ctx context.Context, author uint64) error {
	wrong, err := p.Feeds.Examine(ctx, author, false)
	if err != nil || len(wrong) == 0 {
		return err
	}
	var faults []Fault
	for _, text := range wrong {
		faults = append(faults, fault(Feed, author, "the feed does not agree with its posts: %s", text))
	}
	return p.mend(ctx, faults, func() error {
		_, err := p.Feeds.Examine(ctx, author, true)
		return err
	})
}

// mend repairs faults together, if the audit repairs, and reports them.
func (p *postAudit) mend(ctx context.Context, faults []Fault, repair func() error) error {
	var why error
	if p.cfg.Repair {
		if err := p.pause(ctx); err != nil {
			return err
		}
		why = repair()
	}
	if ctx.Err() == nil {
		p.reportAll(faults, why)
	}
	return ctx.Err()
}

// errMove is why a row in a wrong bucket stays: nothing finds it, so nothing changes it.
var errMove = errors.New("set its bucket with SQL, or delete it")

// inPlace reports posts that lie in a wrong bucket, where nothing finds them, and returns
// the others.
func (p *postAudit) inPlace(bucket uint16, page []postcheck.Post) []postcheck.Post {
	good := page[:0]
	for _, r := range page {
		if repo.Bucket(r.ID) == bucket && repo.Bucket(r.Author) == bucket {
			good = append(good, r)
			continue
		}
		f := fault(Post, r.Author, "post %d lies in bucket %d: that of the post is %d, that of the author %d", r.ID, bucket, repo.Bucket(r.ID), repo.Bucket(r.Author))
		f.Err = errMove
		p.report(f)
	}
	return good
}

// counts compares the counts of posts with the links that they have: of all posts of a bucket
// after one and up to another, or of those that are named.
func (p *postAudit) counts(ctx context.Context, bucket uint16, named []uint64, page []postcheck.Post, after, last uint64) error {
	if len(page) == 0 {
		return nil
	}
	counts, err := p.Rows.Counts(ctx, bucket, named, after, last)
	if err != nil {
		return err
	}
	links := 0
	for _, c := range counts {
		links += int(c.Replies + c.Reposts + c.Favourites)
	}
	if err := p.looked(ctx, links); err != nil {
		return err
	}
	for _, r := range page {
		if counts[r.ID] == (post.Counts{Replies: r.Replies, Reposts: r.Reposts, Favourites: r.Favourites}) {
			continue
		}
		said, is, err := p.Posts.Posts.Recount(ctx, r.ID, false)
		if err != nil {
			return err
		}
		if said == is {
			continue
		}
		f := fault(Post, r.Author, "post %d counts %d replies, %d reposts, %d favourites; there are %d, %d, %d", r.ID,
			said.Replies, said.Reposts, said.Favourites, is.Replies, is.Reposts, is.Favourites)
		err = p.mend(ctx, []Fault{f}, func() error {
			_, _, err := p.Posts.Posts.Recount(ctx, r.ID, true)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetAuthors deletes the posts of authors that do not exist.
func (p *postAudit) forgetAuthors(ctx context.Context) error {
	doubt := plausible(int64(len(p.unknown)), p.authors)
	for _, id := range slices.Sorted(maps.Keys(p.unknown)) {
		missing, err := p.cfg.Rows.Missing(ctx, []uint64{id})
		if err != nil {
			return err
		}
		if !missing[id] {
			continue
		}
		f := fault(Unknown, id, "there are %d posts by it, but no such account", p.unknown[id])
		err = p.mend(ctx, []Fault{f}, func() error {
			if doubt != nil {
				return doubt
			}
			return p.deletePosts(ctx, id)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *postAudit) deletePosts(ctx context.Context, author uint64) error {
	for after := uint64(0); ; {
		page, err := p.Rows.Live(ctx, author, after, postsAtOnce)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, r := range page {
			if err := p.Service.SetState(ctx, author, r.ID, post.Deleted); err != nil {
				return fmt.Errorf("delete post %d: %w", r.ID, err)
			}
			after = r.ID
		}
		if err := p.looked(ctx, len(page)); err != nil {
			return err
		}
	}
}

// errKind is why a task stays that only another version of the program knows.
var errKind = errors.New("this version does not know what it asks for: the job expire drops it after 30 days")

// tasks reports tasks that nobody takes, or that fail. A repair carries them out; a push so old
// is for lines that were made anew since.
func (p *postAudit) tasks(ctx context.Context) error {
	found, err := p.Tasks.Forgotten(ctx, p.cfg.Account, maxNoted)
	if err != nil {
		return err
	}
	if len(found) == maxNoted {
		p.sum.Unlooked++
	}
	for _, t := range found {
		f := fault(Task, t.Account, "its task %d, kind %d, about post %d, is not done: nobody takes it, or it fails", t.ID, t.Kind, t.Post)
		err := p.mend(ctx, []Fault{f}, func() (err error) {
			switch t.Kind {
			case task.Settle:
				err = p.Service.SettlePost(ctx, t)
			case task.Favourite:
				err = p.Service.SettleFavourite(ctx, t)
			case task.Push:
			default:
				err = errKind
			}
			if err != nil {
				return err
			}
			return p.Tasks.Done(ctx, []task.Task{t})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// timelines reports warm timelines whose bytes cannot be read. A repair deletes them.
func (p *postAudit) timelines(ctx context.Context) error {
	for after := uint64(0); ; {
		page, err := p.Timelines.Check(ctx, after, postsAtOnce)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := p.timelinePage(ctx, page); err != nil {
			return err
		}
		after = page[len(page)-1].AccountID
	}
}

func (p *postAudit) timelinePage(ctx context.Context, page []timeline.Checked) error {
	for _, r := range page {
		if r.Err == nil {
			continue
		}
		f := fault(Timeline, r.AccountID, "its warm home timeline cannot be read: %v", r.Err)
		if err := p.mend(ctx, []Fault{f}, func() error { return p.Timelines.Drop(ctx, r.AccountID) }); err != nil {
			return err
		}
	}
	return p.looked(ctx, len(page))
}

// repostMark is the mark that says which post of an account reposts another.
func repostMark(l postcheck.Link) postcheck.Mark {
	return postcheck.Mark{Account: l.Account, Kind: mark.Repost, Post: l.Post, ID: l.ID}
}
