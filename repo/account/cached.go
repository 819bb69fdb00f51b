package account

import (
	"encoding/binary"
	"errors"
	"strconv"

	"kith/repo/cache"
)

// The cached form of an account: created_at, locked, the length of the name,
// the name, the display name. The digit in a key is the version of the form.

func key(b []byte, id uint64) []byte { return strconv.AppendUint(append(b, "a2:"...), id, 36) }

var errCached = errors.New("bad cached account")

func pack(a Account) cache.Entry {
	if a.Ver == 0 {
		return cache.Entry{}
	}
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 10+len(a.Username)+len(a.DisplayName)), a.CreatedAt)
	locked := byte(0)
	if a.Locked {
		locked = 1
	}
	b = append(b, locked, byte(len(a.Username)))
	return cache.Entry{Ver: a.Ver, Value: append(append(b, a.Username...), a.DisplayName...)}
}

func unpack(id uint64, e cache.Entry) (Account, error) {
	if e.Ver == 0 {
		return Account{ID: id}, nil
	}
	b := e.Value
	if len(b) < 10 || len(b) < 10+int(b[9]) {
		return Account{}, errCached
	}
	names, n := string(b[10:]), int(b[9])
	return Account{ID: id, Ver: e.Ver, CreatedAt: binary.BigEndian.Uint64(b), Locked: b[8] == 1,
		Username: names[:n], DisplayName: names[n:]}, nil
}
