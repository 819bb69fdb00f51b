package report

import (
	"math"
	"time"
)

// made is one case of a made run: kith's figure, and how many times better kith
// is than each peer.
type made struct {
	work, kase, unit string
	kith             float64
	better           map[string]float64
}

var madePeers = []string{Kith, "kith-alone", "twotable", "redis", "redis-synced", "naive", "echo-fixed"}

var madeCases = []made{
	{"hot", "64 clients", "follows/s", 21000, map[string]float64{"kith-alone": 1.02, "twotable": 38, "redis": 0.31, "redis-synced": 1.7, "naive": 210}},
	{"hot", "256 clients", "follows/s", 42000, map[string]float64{"kith-alone": 0.997, "twotable": 112, "redis": 0.55, "redis-synced": 2.9, "naive": 800}},
	{"hot", "2 processes", "follows/s", 19500, map[string]float64{"kith-alone": 9.4, "twotable": 41}},
	{"hot", "4 processes", "follows/s", 18800, map[string]float64{"kith-alone": 31, "twotable": 44}},
	{"spread", "64 clients", "follows/s", 5200, map[string]float64{"twotable": 1.31, "redis": 0.2, "redis-synced": 0.6, "naive": 1.1}},
	{"spread", "256 clients", "follows/s", 6900, map[string]float64{"twotable": 1.62, "redis": 0.24, "redis-synced": 0.74, "naive": 1.2}},
	{"follow", "1 client", "follows/s", 410, map[string]float64{"twotable": 0.83, "redis": 0.04, "redis-synced": 0.92, "naive": 1.004}},
	{"states", "200 ids", "ms", 0.21, map[string]float64{"twotable": 4.1, "redis": 1.9, "redis-synced": 1.9}},
	{"states", "2000 ids", "ms", 0.42, map[string]float64{"twotable": 19, "redis": 7.7, "redis-synced": 7.8}},
	{"states", "20000 ids", "ms", 2.3, map[string]float64{"twotable": 46, "redis": 15, "redis-synced": 15}},
	{"page", "first", "pages/s", 31000, map[string]float64{"twotable": 3.3, "redis": 0.9, "redis-synced": 0.9}},
	{"page", "deep", "pages/s", 14000, map[string]float64{"twotable": 1.6, "redis": 0.71, "redis-synced": 0.7}},
	{"page", "deep by offset", "pages/s", 14000, map[string]float64{"twotable": 330}},
	{"mixed", "linkbench", "calls/s", 12400, map[string]float64{"twotable": 2.2, "redis": 0.45, "redis-synced": 1.0}},
	{"mixed", "tao", "calls/s", 51200, map[string]float64{"twotable": 5.1, "redis": 1.3, "redis-synced": 1.4}},
	{"space", "disk", "bytes", 91_234_567, map[string]float64{"twotable": 8.2, "redis": 2.4, "redis-synced": 5.2}},
	{"space", "memory", "bytes", 301_234_567, map[string]float64{"twotable": 1.8, "redis": 6.4, "redis-synced": 6.5}},
	{"http", "relationships", "requests/s", 17400, map[string]float64{"echo-fixed": 0.88}},
	{"http", "followers", "requests/s", 15200, map[string]float64{"echo-fixed": 0.79}},
}

func (m made) line(peer string) (Line, bool) {
	ratio, ok := m.better[peer]
	if peer == Kith {
		ratio, ok = 1, true
	}
	l := Line{Work: m.work, Case: m.kase, Unit: m.unit, Better: Higher, Peer: peer}
	if m.unit == "bytes" || m.unit == "ms" {
		l.Better = Lower
		l.Values = []float64{m.kith * ratio * 0.97, m.kith * ratio, m.kith * ratio * 1.05}
		return l, ok
	}
	rate := m.kith / ratio
	for _, wobble := range []float64{0.95, 1, 1.04} {
		l.Rounds = append(l.Rounds, Round{
			Ops: int64(rate * wobble * 10), Seconds: 10,
			P50: math.Round(40e6 / rate), P99: math.Round(180e6 / rate),
		})
	}
	return l, ok
}

// madeRun is a run of about the size of a real one.
func madeRun() Run {
	r := Run{
		Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Took: 42 * time.Minute, Commit: "237a222", Dirty: true,
		Machine:  Machine{"A CPU of 3 GHz", 2, 8 << 30, "6.1.0", "debian 12", "ext4"},
		Versions: map[string]string{"redis": "7.0.15", "mariadb": "10.11.6"},
		Graph:    "pokec, 30,622,564 follows", Rounds: 3, Args: []string{"-rounds", "3"},
	}
	for _, m := range madeCases {
		for _, peer := range madePeers {
			if l, ok := m.line(peer); ok {
				r.Lines = append(r.Lines, l)
			}
		}
	}
	r.Compare([]Target{
		{Work: "hot", Case: "256 clients", Against: "twotable", AtLeast: 10, Text: "a hot account takes follows 10 × as fast as two tables"},
		{Work: "page", Case: "first", Against: "redis", AtLeast: 1, Text: "a first page is no slower than Redis's"},
		{Work: "hot", Case: "4 processes", AgainstCase: "2 processes", AtLeast: 0.9, Text: "four processes keep the speed of two"},
		{Work: "http", Case: "x", Against: "redis", AtLeast: 2, Text: "something that was not measured"},
		{Work: "gone", Case: "x", Against: "redis", AtLeast: 2, Text: "something that was not run"},
	})
	r.Lines[4].Rounds[1].Failed = 1234
	return r
}
