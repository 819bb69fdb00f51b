package relation

// Touch has the row swapped even if no edit changes it. An edit of two rows
// that changes one and rests on what it read in the other touches the other, so
// that the swap proves both.
func (d *Draft) Touch() { d.touch(true) }
