package list

// Range says which entries of an order are wanted.
type Range struct {
	Before Cursor // only entries older than it; not set: from the newest
	After  Cursor // only entries newer than it; not set: to the oldest
	Limit  int    // at most so many
	Oldest bool   // of the entries in between, the oldest and not the newest
}

// holds tells whether a place lies in the range, whatever its limit.
func (r *Range) holds(c Cursor) bool {
	return (r.Before.ID == 0 || r.Before.newer(c)) && (r.After.ID == 0 || c.newer(r.After))
}

// tooOld tells whether the entry lies at or past the old end of the range. As
// in tooNew the id, which costs another load, counts only within one second.
func (w *walker) tooOld(r *Range) bool {
	c := &r.After
	return c.ID != 0 && (w.key < c.Time || w.key == c.Time && w.id() <= c.ID)
}

// tooNew tells whether the entry lies at or before the new end of the range.
func (w *walker) tooNew(r *Range) bool {
	c := &r.Before
	return c.ID != 0 && (w.key > c.Time || w.key == c.Time && w.id() >= c.ID)
}

// entry returns the entry stepped onto, with the time that sorts it.
func (w *walker) entry() Entry { return Entry{ID: w.id(), Time: w.key} }
