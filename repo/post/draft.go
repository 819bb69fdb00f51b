package post

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// Kind says what a reaction is.
type Kind uint8

// The kinds, as they are stored. A reply is one here, and has a table of its own.
const (
	Favourite Kind = 1
	Repost    Kind = 2
	Reply     Kind = 3
)

// Reaction is what somebody else did about a post.
type Reaction struct {
	Kind Kind
	// Key is the account of a favourite or repost, of which there is one each, and the id
	// of a reply.
	Key uint64
}

// ErrRecall is what an edit answers when it must know of reactions that are not loaded;
// then it is run again.
var ErrRecall = errors.New("reactions must be read first")

// Draft is a post opened for edits of its reactions, which its counts follow. A draft
// belongs to one goroutine.
type Draft struct {
	Post
	known  map[Reaction]noted
	wanted []Reaction
	edits  []change
}

// noted is what stands of a reaction.
type noted struct {
	id     uint64 // 0: there is no such reaction
	narrow bool   // of a reply: it is not for anybody, and not counted
}

// change is a reaction that is to be written, or deleted where id is 0.
type change struct {
	Reaction
	noted
	author uint64
}

// open makes drafts of posts, which know what the former drafts of them know.
func open(posts iter.Seq[Post], former map[uint64]*Draft) map[uint64]*Draft {
	drafts := map[uint64]*Draft{}
	for p := range posts {
		d := &Draft{Post: p}
		if f := former[p.ID]; f != nil {
			d.known = f.known
		}
		drafts[p.ID] = d
	}
	return drafts
}

// Changed reports whether an edit changed the draft.
func (d *Draft) Changed() bool { return len(d.edits) > 0 }

// Size is about the length of the post in bytes.
func (d *Draft) Size() int { return 100 + len(d.Text) }

// Lacks reports whether reactions are wanted that are not known.
func (d *Draft) Lacks() bool { return len(d.wanted) > 0 }

// Knows reports whether the draft knows if a reaction is there; else it wants to.
func (d *Draft) Knows(r Reaction) bool {
	_, known := d.now(r)
	if !known {
		d.wanted = append(d.wanted, r)
	}
	return known
}

// Set writes a reaction: its id, 0 for none, and of a reply the author and whether it is
// narrow. A repost or favourite that is there with another id takes the new one. It answers
// ErrRecall where the draft does not know whether the reaction is there.
func (d *Draft) Set(r Reaction, id, author uint64, narrow bool) error {
	have, known := d.now(r)
	if !known {
		d.wanted = append(d.wanted, r)
		return ErrRecall
	}
	next := noted{id, narrow}
	if have == next {
		return nil
	}
	d.edits = append(d.edits, change{r, next, author})
	count := map[Kind]*uint32{Favourite: &d.Favourites, Repost: &d.Reposts, Reply: &d.Replies}[r.Kind]
	switch was, is := have.counts(), next.counts(); {
	case is && !was:
		*count++
	case was && !is && *count > 0:
		*count--
	}
	return nil
}

func (n noted) counts() bool { return n.id != 0 && !n.narrow }

// Unset deletes a reaction if it has this id.
func (d *Draft) Unset(r Reaction, id uint64) error {
	have, known := d.now(r)
	if known && have.id != id {
		return nil
	}
	return d.Set(r, 0, 0, false)
}

// now returns what stands of a reaction as edited so far.
func (d *Draft) now(r Reaction) (n noted, known bool) {
	for _, e := range slices.Backward(d.edits) {
		if e.Reaction == r {
			return e.noted, true
		}
	}
	n, known = d.known[r]
	return n, known
}

// Pack returns the post as it is to be stored.
func (s *Store) Pack(d *Draft) (Post, error) {
	p := d.Post
	if p.Ver == 0 {
		return p, fmt.Errorf("post %d: %w", p.ID, repo.ErrNotFound)
	}
	p.Meta = p.Next(uint32(s.now().Unix()))
	p.attached = d.edits
	return p, nil
}

// recall reads the reactions that drafts want, and reports whether there were any.
func recall(ctx context.Context, tx *sqlx.Tx, drafts map[uint64]*Draft) (more bool, err error) {
	var replies, others []any
	for id, d := range drafts {
		if d.known == nil {
			d.known = map[Reaction]noted{}
		}
		for _, r := range d.wanted {
			more, d.known[r] = true, noted{}
			if r.Kind == Reply {
				replies = append(replies, repo.Bucket(id), id, r.Key)
			} else {
				others = append(others, repo.Bucket(id), id, r.Kind, r.Key)
			}
		}
	}
	const perReply, perOther = 3, 4
	for part := range slices.Chunk(replies, perReply*db.MaxKeys) {
		err = errors.Join(err, found(ctx, tx, drafts, `SELECT post_id, 3 AS kind, reply_id AS reactor, reply_id AS id, narrow FROM reply FORCE INDEX (PRIMARY) WHERE (bucket, post_id, reply_id) IN (`+
			db.Repeat(`(?,?,?)`, len(part)/perReply)+`)`, part))
	}
	for part := range slices.Chunk(others, perOther*db.MaxKeys) {
		err = errors.Join(err, found(ctx, tx, drafts, `SELECT post_id, kind, account_id AS reactor, id, 0 AS narrow FROM reaction FORCE INDEX (PRIMARY) WHERE (bucket, post_id, kind, account_id) IN (`+
			db.Repeat(`(?,?,?,?)`, len(part)/perOther)+`)`, part))
	}
	return more, err
}

// found notes what a query finds. Index: PRIMARY of reply or reaction, a row each.
func found(ctx context.Context, tx *sqlx.Tx, drafts map[uint64]*Draft, query string, args []any) error {
	rows, err := tx.QueryxContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var post uint64
		var r Reaction
		var n noted
		if err := rows.Scan(&post, &r.Kind, &r.Key, &n.id, &n.narrow); err != nil {
			return err
		}
		drafts[post].known[r] = n
	}
	return rows.Err()
}

// attach stores the reactions that posts bring; the transaction holds their locks. Index:
// PRIMARY of reply or reaction, a row each.
func attach(ctx context.Context, tx *sqlx.Tx, posts []*Post) error {
	w := writes{}
	for _, p := range posts {
		last := map[Reaction]change{}
		for _, c := range p.attached {
			last[c.Reaction] = c
		}
		for r, c := range last {
			w.add(p, r, c)
		}
	}
	return w.send(ctx, tx)
}

// writes are rows to be written and deleted, their columns one after the other.
type writes struct{ replies, reactions, repliesGone, reactionsGone []any }

func (w *writes) add(p *Post, r Reaction, c change) {
	bucket := repo.Bucket(p.ID)
	switch {
	case r.Kind == Reply && c.id == 0:
		w.repliesGone = append(w.repliesGone, bucket, p.ID, r.Key)
	case r.Kind == Reply:
		w.replies = append(w.replies, bucket, p.ID, c.id, p.Author, c.author, c.narrow)
	case c.id == 0:
		w.reactionsGone = append(w.reactionsGone, bucket, p.ID, r.Kind, r.Key)
	default:
		w.reactions = append(w.reactions, bucket, p.ID, r.Kind, r.Key, c.id)
	}
}

func (w *writes) send(ctx context.Context, tx *sqlx.Tx) error {
	for _, s := range []struct {
		args          []any
		columns       int
		before, after string
	}{
		{w.replies, 6, `INSERT INTO reply (bucket, post_id, reply_id, owner_id, author_id, narrow) VALUES `, ` ON DUPLICATE KEY UPDATE author_id=VALUES(author_id), narrow=VALUES(narrow)`},
		{w.reactions, 5, `INSERT INTO reaction (bucket, post_id, kind, account_id, id) VALUES `, ` ON DUPLICATE KEY UPDATE id=VALUES(id)`},
		{w.repliesGone, 3, `DELETE FROM reply WHERE (bucket, post_id, reply_id) IN (`, `)`},
		{w.reactionsGone, 4, `DELETE FROM reaction WHERE (bucket, post_id, kind, account_id) IN (`, `)`},
	} {
		group := `(` + db.Repeat(`?`, s.columns) + `)`
		for part := range slices.Chunk(s.args, s.columns*maxInsert) {
			if _, err := tx.ExecContext(ctx, s.before+db.Repeat(group, len(part)/s.columns)+s.after, part...); err != nil {
				return err
			}
		}
	}
	return nil
}
