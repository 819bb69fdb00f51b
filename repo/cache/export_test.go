package cache

// LimitUntold makes every node remember at most limit keys.
func (m *Memcached) LimitUntold(limit int) {
	for _, n := range m.nodes {
		n.mu.Lock()
		n.limit = limit
		n.mu.Unlock()
	}
}

// ToDropAgain returns how many keys wait to be deleted a second time.
func (m *Memcached) ToDropAgain() (sum int) {
	for _, n := range m.nodes {
		n.mu.Lock()
		sum += len(n.again)
		n.mu.Unlock()
	}
	return sum
}

// MaxBytes is the longest entry that is held.
const MaxBytes = maxBytes

// ForgetNear empties what this process keeps of long bodies.
func (m *Memcached) ForgetNear() {
	m.near.forget()
	m.nearHeads.forget()
}
