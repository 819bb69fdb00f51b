package committer

import "slices"

// patience is how often an edit may be passed over before its rows are kept
// free for it.
const patience = 3

// edit is one Do on its way.
type edit[D any] struct {
	ids   []uint64
	apply func(rows map[uint64]D) error
	then  func()        // called once apply's work is committed
	done  chan struct{} // closed when err is final
	err   error
	gone  bool // its caller left; guarded by the committer's mutex
	taken bool // in a commit; guarded by the committer's mutex
	parks int
}

// queue holds the edits that wait. Its rows are those of the accounts that
// edits name. It is not safe for concurrent use: the committer's mutex guards it.
type queue[D any] struct {
	ready    []*edit[D]            // may be taken, first come first
	parked   map[uint64][]*edit[D] // wait for a row that is in a commit, or reserved
	busy     map[uint64]bool       // rows in a commit under way
	reserved *edit[D]              // the one edit that others may not overtake
	waiting  int
}

func newQueue[D any]() *queue[D] {
	return &queue[D]{parked: map[uint64][]*edit[D]{}, busy: map[uint64]bool{}}
}

// take removes up to max edits whose rows are free and marks their rows busy.
// Edits of one batch may share rows. What it cannot take it parks.
func (q *queue[D]) take(max int) (batch []*edit[D], rows []uint64) {
	mine := map[uint64]bool{}
	for len(q.ready) > 0 && len(batch) < max {
		e := q.ready[0]
		q.ready[0] = nil
		q.ready = q.ready[1:]
		if e.gone {
			q.forget(e)
			continue
		}
		if at, blocked := q.blocker(e, mine); blocked {
			q.park(e, at)
			continue
		}
		for _, id := range e.ids {
			mine[id] = true
		}
		e.taken = true
		q.waiting--
		if q.reserved == e {
			q.reserved = nil // its rows are busy now; release brings back who waits for them
		}
		batch = append(batch, e)
	}
	for id := range mine {
		q.busy[id] = true
		rows = append(rows, id)
	}
	return batch, rows
}

// blocker names a row for which e has to wait.
func (q *queue[D]) blocker(e *edit[D], mine map[uint64]bool) (uint64, bool) {
	for _, id := range e.ids {
		if q.busy[id] && !mine[id] {
			return id, true
		}
		if q.reserved != nil && q.reserved != e && slices.Contains(q.reserved.ids, id) {
			return id, true
		}
	}
	return 0, false
}

func (q *queue[D]) park(e *edit[D], id uint64) {
	q.parked[id] = append(q.parked[id], e)
	if e.parks++; e.parks > patience && q.reserved == nil {
		q.reserved = e
	}
}

// release frees the rows of a finished commit; who waited for them is next.
func (q *queue[D]) release(rows []uint64) {
	for _, id := range rows {
		delete(q.busy, id)
	}
	for _, id := range rows {
		q.unpark(id)
	}
}

func (q *queue[D]) unpark(id uint64) {
	if back := q.parked[id]; len(back) > 0 {
		delete(q.parked, id)
		q.ready = append(back, q.ready...)
	}
}

// forget drops an edit whose caller left and lets those go on that waited
// behind its reservation.
func (q *queue[D]) forget(e *edit[D]) {
	q.waiting--
	if q.reserved != e {
		return
	}
	q.reserved = nil
	for _, id := range e.ids {
		if !q.busy[id] {
			q.unpark(id)
		}
	}
}
