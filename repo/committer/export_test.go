package committer

// Waiting returns how many edits wait for a commit.
func (c *Committer[D, R]) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queue.waiting
}
