package main

import "time"

// progress says what is measured now. How long the rest takes depends on what
// is still to be loaded and checked, so it only says how long it has been.
func (r *runner) progress(work, name, peer string, round int) {
	say("%5s  %-14s %-26s %-14s round %d of %d", time.Since(r.started).Round(time.Second), work, name, peer, round+1, r.cmd.Rounds)
}
