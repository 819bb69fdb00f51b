package spill

import "io"

// Walk reads sorted records. It belongs to one goroutine.
type Walk struct {
	heap []head // smallest record first
	err  error
}

// head is a source and its next record.
type head struct {
	rec Record
	src source
}

// memory is a sorted slice as a source.
type memory struct{ left []Record }

func (m *memory) next() (Record, error) {
	if len(m.left) == 0 {
		return Record{}, io.EOF
	}
	r := m.left[0]
	m.left = m.left[1:]
	return r, nil
}

func newWalk(runs []*run, buf []Record) *Walk {
	w := &Walk{}
	if len(buf) > 0 {
		w.add(&memory{buf})
	}
	for _, r := range runs {
		w.add(r.reader())
	}
	for i := len(w.heap)/2 - 1; i >= 0; i-- {
		w.sink(i)
	}
	return w
}

func (w *Walk) add(src source) {
	rec, err := src.next()
	switch {
	case err == nil:
		w.heap = append(w.heap, head{rec, src})
	case err != io.EOF && w.err == nil:
		w.err = err
	}
}

// Next returns the next record, or false at the end and after an error.
func (w *Walk) Next() (Record, bool) {
	if w.err != nil || len(w.heap) == 0 {
		return Record{}, false
	}
	top := &w.heap[0]
	out := top.rec
	var err error
	top.rec, err = top.src.next()
	switch {
	case err == io.EOF:
		w.heap[0] = w.heap[len(w.heap)-1]
		w.heap = w.heap[:len(w.heap)-1]
	case err != nil:
		w.err = err
		return Record{}, false
	}
	if len(w.heap) > 1 {
		w.sink(0)
	}
	return out, true
}

// Err returns what ended the walk early, nil if nothing did.
func (w *Walk) Err() error { return w.err }

// next makes a walk a source.
func (w *Walk) next() (Record, error) {
	r, ok := w.Next()
	if !ok && w.err == nil {
		return r, io.EOF
	}
	return r, w.err
}

// sink moves the head at i down until none below it is smaller.
func (w *Walk) sink(i int) {
	h := w.heap
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if right := least + 1; right < len(h) && Compare(h[right].rec, h[least].rec) < 0 {
			least = right
		}
		if Compare(h[least].rec, h[i].rec) >= 0 {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
