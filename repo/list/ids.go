package list

// AppendIDs appends the ids of a section but options to dst, oldest first.
func (l *List) AppendIDs(dst []uint64, s Section) []uint64 {
	if s >= Options {
		return dst
	}
	for _, e := range l.runs[s].all() {
		dst = append(dst, e.id)
	}
	return dst
}
