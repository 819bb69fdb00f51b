// Package lease lets one process at a time lead a piece of work.
//
// A lease is a row with a holder and a ver. It is taken, renewed and given back
// by a swap on ver, which every database that kith runs on can do; GET_LOCK
// would need a connection of its own behind every pool, and TiDB and Vitess
// have it only in part.
//
//	take      holder = me, ver+1      where the row is free, or its ver stood still for a term
//	renew     ver+1                   every third of a term
//	release   holder = '', ver+1
//
// # Whose clock
//
// No clocks are compared. Those of processes differ, and so do those of
// the servers behind TiDB or Vitess. Instead each process measures durations on its
// own monotonic clock:
//
//	holder  ──send────swap done──────────────────┤ trusts until send + 9/10 of a term
//	other             └─ sees ver ─────────────────────┤ may take: seen + a term
//
// The holder counts from before the renewal was sent, the other from after it
// saw the ver that the renewal wrote. The first moment comes before the second,
// so the holder has stepped down before the other can take over, as long as
// both clocks run at about the same rate: the tenth of a term between them is
// what they may differ. until_ms in the row, by the database's clock, is for
// people, and for the choice whether waiting is worth while.
//
// # On doubt step down
//
// A holder trusts its lease only while both its monotonic clock and its wall
// clock say that less than the trusted time has passed: where the monotonic
// clock stands still while a machine sleeps, the wall clock tells. A renewal
// that finds another holder ends the trust at once; one with an unknown
// outcome is followed by a read, and counts for nothing until a later one is
// known to have gone well.
//
// A lease bounds waste, not harm: between the last check and a write lies
// time, in which a process can be stopped and woken up, and a database that
// fails over to a replica may forget the last swaps. What is written under
// a lease must be guarded by itself, as relation rows are by their ver. Ver of
// the lease grows with every holder and serves as the fence where nothing else
// does.
package lease
