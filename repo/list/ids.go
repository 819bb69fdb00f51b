package list

// AppendIDs appends the ids of a section but options to dst, oldest first.
func (l *List) AppendIDs(dst []uint64, s Section) []uint64 {
	if s >= Options {
		return dst
	}
	for i := range l.runs[s].entries {
		dst = append(dst, l.runs[s].entries[i].id)
	}
	return dst
}
