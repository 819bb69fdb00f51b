package cache

// MaxBytes is the longest entry that is held.
const MaxBytes = maxBytes

// ForgetLocal empties what this process keeps.
func (m *Memcached) ForgetLocal() { m.local.InvalidateAll() }
