package feed

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"kith/repo"
	"kith/repo/event"
	"kith/repo/post"
	"kith/repo/task"
)

// ErrRecall is what an edit answers when it needs what only a locked row has; then it is run
// again.
var ErrRecall = errors.New("the author's posts must be read first")

// Key is the hash of an Idempotency-Key.
type Key [16]byte

// Draft is a feed opened for edits. A draft belongs to one goroutine.
type Draft struct {
	row    Row
	last   uint64        // LastID of the row as it was read
	events []event.Event // newest first
	dirty  bool
	work   work
	facts  *facts
	wants  wants
}

// work is what a draft brings, to be stored in the transaction that swaps its row.
type work struct {
	posts   []*post.Post // new
	states  []*post.Post // Deleted or Hidden or Live again
	keys    map[Key]uint64
	reposts map[uint64]uint64 // marks: the repost of each post, 0: deleted
	tasks   []task.Task
}

// wants are what edits want to know, facts what was read of it.
type wants struct {
	keys    []Key
	reposts []uint64
	posts   []uint64
	newest  []uint64
}

type facts struct {
	keys    map[Key]uint64
	reposts map[uint64]uint64
	posts   map[uint64]post.Post
	newest  map[uint64]uint64 // the newest counted post below each of wants.newest
}

func openRow(r Row, f *facts) (*Draft, error) {
	events, _, err := r.Events(make([]event.Event, 0, MaxEvents+1))
	if f == nil {
		f = &facts{keys: map[Key]uint64{}, reposts: map[uint64]uint64{}, posts: map[uint64]post.Post{}, newest: map[uint64]uint64{}}
	}
	return &Draft{row: r, last: r.LastID, events: events, facts: f, work: work{keys: map[Key]uint64{}, reposts: map[uint64]uint64{}}}, err
}

// Changed reports whether an edit changed the draft.
func (d *Draft) Changed() bool { return d.dirty }

// Size is the length in bytes of the list as it was read.
func (d *Draft) Size() int { return len(d.row.packed) }

// Lacks reports whether edits want what was not read.
func (d *Draft) Lacks() bool {
	w := &d.wants
	return len(w.keys) > 0 || len(w.reposts) > 0 || len(w.posts) > 0 || len(w.newest) > 0
}

// PulledSince is since when the author is not pushed, 0 where it is.
func (d *Draft) PulledSince() uint32 { return d.row.PulledSince }

// SetPulledSince notes since when the author is not pushed, 0 where it is again.
func (d *Draft) SetPulledSince(at uint32) {
	if d.row.PulledSince != at {
		d.row.PulledSince, d.dirty = at, true
	}
}

// NextID returns an id for a new post of the author, above that of a post that it reposts or
// answers, if it does; again says that one which it returned was taken.
func (d *Draft) NextID(now time.Time, random, of uint64, again bool) uint64 {
	above := max(d.row.LastID, of)
	if again {
		return event.Anew(d.row.ID, above, now, random)
	}
	return event.Next(d.row.ID, above, now, random)
}

// Reached reports whether the author had an id as high when the feed was read. Else no try
// has stored a post with it.
func (d *Draft) Reached(id uint64) bool { return id <= d.last }

// ByKey returns which post was made with a key, 0 for none.
func (d *Draft) ByKey(k Key) (uint64, error) {
	if id, ok := d.work.keys[k]; ok {
		return id, nil
	}
	id, ok := d.facts.keys[k]
	if !ok {
		d.wants.keys = append(d.wants.keys, k)
		return 0, ErrRecall
	}
	return id, nil
}

// RepostOf returns the author's repost of a post, 0 for none.
func (d *Draft) RepostOf(origin uint64) (uint64, error) {
	if id, ok := d.work.reposts[origin]; ok {
		return id, nil
	}
	id, ok := d.facts.reposts[origin]
	if !ok {
		d.wants.reposts = append(d.wants.reposts, origin)
		return 0, ErrRecall
	}
	return id, nil
}

// Post returns a post of the author as it is now; with Ver 0 where the author has no such
// post.
func (d *Draft) Post(id uint64) (post.Post, error) {
	for _, p := range slices.Concat(d.work.states, d.work.posts) {
		if p.ID == id {
			return *p, nil
		}
	}
	p, ok := d.facts.posts[id]
	if !ok {
		d.wants.posts = append(d.wants.posts, id)
		return p, ErrRecall
	}
	if p.Author != d.row.ID {
		p = post.Post{}
		p.ID = id
	}
	return p, nil
}

// Add adds a post, whose id is from NextID, with what is to be done afterwards. A key, if it
// is not nil, is remembered for it.
func (d *Draft) Add(p *post.Post, k *Key, tasks ...task.Task) {
	d.dirty = true
	d.row.LastID = p.ID
	if counted(p) {
		d.row.Newest = p.ID
		d.row.Statuses++
	}
	d.events = slices.Insert(d.events, 0, p.Event())
	d.bring(p)
	d.work.tasks = append(d.work.tasks, tasks...)
	if k != nil {
		d.work.keys[*k] = p.ID
	}
}

// AddPast adds a post that was made some time ago, whose id no post has, at its place. The
// list has it if it reaches back to it.
func (d *Draft) AddPast(p *post.Post) {
	d.dirty = true
	d.row.LastID = max(d.row.LastID, p.ID)
	if counted(p) {
		d.row.Statuses++
	}
	if p.ID >= d.row.Floor {
		if counted(p) {
			d.row.Newest = max(d.row.Newest, p.ID)
		}
		at, _ := slices.BinarySearchFunc(d.events, p.ID, func(e event.Event, id uint64) int { return cmp.Compare(id, e.ID) })
		d.events = slices.Insert(d.events, at, p.Event())
	}
	d.bring(p)
}

// bring has a new post stored. From here on it has a ver, so that later edits can change it.
func (d *Draft) bring(p *post.Post) {
	p.Ver = repo.Step()
	d.work.posts = append(d.work.posts, p)
	if p.Origin != 0 {
		d.work.reposts[p.Origin] = p.ID
	}
}

// SetState gives a post that Post returned another state. Its event stays in the feed, since
// homes count it (app/home).
func (d *Draft) SetState(p post.Post, to post.State, tasks ...task.Task) error {
	if to == post.Deleted && p.State != post.Deleted {
		if p.ID == d.row.Newest {
			next, err := d.newestBelow(p.ID)
			if err != nil {
				return err
			}
			d.row.Newest = next
		}
		if counted(&p) {
			d.row.Statuses -= min(d.row.Statuses, 1)
		}
		if p.Origin != 0 {
			d.work.reposts[p.Origin] = 0
		}
	}
	d.dirty = true
	next := p
	next.State = to
	if to == post.Deleted {
		next.Content = post.Content{}
	}
	d.work.states = append(slices.DeleteFunc(d.work.states, func(s *post.Post) bool { return s.ID == p.ID }), &next)
	d.work.tasks = append(d.work.tasks, tasks...)
	return nil
}

// counted reports whether a post that is not deleted is counted: those for the mentioned are
// not, the number would tell of them.
func counted(p *post.Post) bool { return p.Visibility != post.Direct }

// newestBelow returns the newest counted post below an id that is not deleted, as edited so
// far; 0 where the row has none.
func (d *Draft) newestBelow(id uint64) (newest uint64, err error) {
	for _, p := range d.work.posts {
		if p.ID < id && counted(p) && !d.deletes(p.ID) {
			newest = max(newest, p.ID)
		}
	}
	for {
		next, ok := d.facts.newest[id]
		if !ok {
			d.wants.newest = append(d.wants.newest, id)
			return 0, ErrRecall
		}
		if id = next; !d.deletes(id) {
			return max(newest, id), nil
		}
	}
}

// deletes reports whether edits deleted a post.
func (d *Draft) deletes(id uint64) bool {
	return slices.ContainsFunc(d.work.states, func(p *post.Post) bool { return p.ID == id && p.State == post.Deleted })
}

// pack returns the row as it is to be stored.
func (d *Draft) pack(now uint32) (r Row, err error) {
	r = d.row
	r.Meta = d.row.Next(now)
	if len(d.events) > MaxEvents {
		d.events = d.events[:MaxEvents]
		r.Floor = d.events[MaxEvents-1].ID
	}
	r.head = nil
	r.packed, err = event.AppendFeed([]byte{}, r.ID, d.events)
	if len(d.work.posts) > 0 || len(d.work.states) > 0 {
		r.attached = &d.work
	}
	return r, err
}
