package list

// Check returns an error where the option goes past the limits; SetOption would
// refuse it too.
func (o Option) Check() error { return o.check() }
