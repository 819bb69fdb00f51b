package graph

import (
	"kith/repo"
	"kith/repo/list"
	"kith/repo/spill"
)

// ownerKey orders accounts as primary keys do: by bucket, then id.
func ownerKey(id uint64) uint64 { return uint64(repo.Bucket(id))<<53 | id>>10 }

func accountOf(key uint64) uint64 { return key&(1<<53-1)<<10 | key>>53 }

// sides returns the two records of an edge: the follower's, then the followee's.
// Of equal ones the first to come has the time that counts: the smallest, and
// unknown (0) as the largest of all.
func (e edge) sides() (out, in spill.Record) {
	at := e.time - 1
	out = spill.Record{Hi: ownerKey(e.follower), Lo: e.followee << 1, Val: at}
	in = spill.Record{Hi: ownerKey(e.followee), Lo: e.follower<<1 | 1, Val: at}
	return out, in
}

// edgeOf turns a record back into what its owner's row gets.
func edgeOf(r spill.Record) list.Edge {
	return list.Edge{ID: r.Lo >> 1, Time: r.Val + 1, Out: r.Lo&1 == 0}
}

// pair is two accounts of which the first may follow the second.
type pair struct{ follower, followee uint64 }

// pairOf returns who follows whom in an edge of owner.
func pairOf(owner uint64, e list.Edge) pair {
	if e.Out {
		return pair{owner, e.ID}
	}
	return pair{e.ID, owner}
}
