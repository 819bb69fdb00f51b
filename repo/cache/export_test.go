package cache

// MaxBytes is the longest entry that is held.
const MaxBytes = maxBytes

// Renewed is the line that the log gets when a cache has taken over a new identity.
const Renewed = renewed

// ForgetLocal empties what this process keeps.
func (m *Memcached) ForgetLocal() { m.local.InvalidateAll() }
