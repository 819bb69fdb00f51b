package list

import (
	"math"
	"reflect"

	"pgregory.net/rapid"
)

// op is one edit, the same for a list and its twin.
type op struct {
	kind uint8
	id   uint64
	at   uint32
}

const opKinds = 17

// Few ids and times, so that they meet often; some at the edges of what a list
// takes and two beyond.
var (
	opIDs   = []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 256, 70000, math.MaxUint32 - 1, math.MaxUint32, 1 << 32, 1<<32 + 1, MaxID - 1, MaxID, MaxID + 1}
	opTimes = []uint32{0, 1, 2, 3, 127, 128, 129, 1_700_000_000, 1_700_000_001, math.MaxUint32 - 1, math.MaxUint32}
)

func readOps(b []byte) (ops []op) {
	for ; len(b) >= 3; b = b[3:] {
		ops = append(ops, op{
			kind: b[0] % opKinds,
			id:   opIDs[int(b[1])%len(opIDs)],
			at:   opTimes[int(b[2])%len(opTimes)],
		})
	}
	return ops
}

// option makes an option out of an op, the zero one now and then.
func (o op) option() Option {
	bit := func(n int) bool { return o.at>>n&1 != 0 }
	opt := Option{HideReposts: bit(0), Notify: bit(1), HideNotifications: o.kind == 16 && bit(2)}
	if o.kind == 15 {
		opt.MuteUntil = o.at
		opt.Note = bit(3)
	}
	if o.kind == 16 {
		opt.Languages = []string{"de", "zh-Hant-TW"}[:o.at%3]
	}
	return opt
}

// apply does one edit on both and returns what they said of it.
func (o op) apply(t rapid.TB, l *List, w *twin) (got, want bool) {
	switch s := Blocking + Section(o.kind-4)/2; o.kind {
	case 0:
		return l.AddFollowing(o.id, o.at), twinPut(w.out, o.id, o.at)
	case 1:
		return l.AddFollower(o.id, o.at), twinPut(w.in, o.id, o.at)
	case 2:
		return l.DropFollowing(o.id), twinDrop(w.out, o.id)
	case 3:
		return l.DropFollower(o.id), twinDrop(w.in, o.id)
	case 4, 6, 8, 10, 12:
		return l.Put(s, o.id, o.at), twinPut(w.beside[s], o.id, o.at)
	case 5, 7, 9, 11, 13:
		return l.Drop(s, o.id), twinDrop(w.beside[s], o.id)
	}
	return o.applyOption(t, l, w)
}

func (o op) applyOption(t rapid.TB, l *List, w *twin) (got, want bool) {
	opt := o.option()
	if o.id > 0 && o.id <= MaxID {
		want = !reflect.DeepEqual(normal(w.options[o.id]), normal(opt))
		if w.options[o.id] = opt; opt.IsZero() {
			delete(w.options, o.id)
		}
	}
	got, err := l.SetOption(o.id, opt)
	if wantErr := o.id == 0 || o.id > MaxID; (err != nil) != wantErr {
		t.Fatalf("SetOption(%d, %+v): error %v, want one: %v", o.id, opt, err, wantErr)
	}
	return got, want
}

// normal makes an option comparable: no languages are nil.
func normal(o Option) Option {
	if len(o.Languages) == 0 {
		o.Languages = nil
	}
	return o
}
